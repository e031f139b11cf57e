internal import Foundation

extension RetryPolicy {
    /// Decides about one failure. It looks at nothing but the facts, and calls `withdraw` only when everything else
    /// speaks for another attempt.
    ///
    /// What no closure can set aside comes first: a cancel, the number of attempts, whether the request may and can be
    /// sent twice. Then the closures are asked, and where they leave it open, the default rule.
    package func decide(_ facts: RetryFacts) -> RetryVerdict {
        if let reason = forbids(facts) { return .stop(reason) }
        let hint = facts.error.retryAfter(at: facts.date)
        var decision: RetryDecision?
        if retryable != nil || retryableAsync != nil {
            let context = RetryDecisionContext(
                error: facts.error, attempt: facts.attempt, request: facts.request,
                elapsed: facts.started.duration(to: facts.now), retryAfter: hint,
                isRetryableByDefault: isRetryable(facts))
            switch (facts.answer, retryableAsync) {
            case (.given(let answer), _): decision = answer
            case (.notAsked, let ask):
                decision = retryable?(context)
                if decision == nil, let ask { return .ask { await ask(context) } }
            }
        }
        switch decision {
        case .stop: return .stop(.refused)
        case .retry(let wait): return weigh(wait.map { max($0, .zero) }, hint, facts)
        case nil: return isRetryable(facts) ? weigh(nil, hint, facts) : .stop(.notRetryable)
        }
    }

    private func forbids(_ facts: RetryFacts) -> RetryStop? {
        if facts.error.isCancelled { return .cancelled }
        if facts.attempt >= attempts { return .attemptsUsedUp }
        if methods == .idempotent, !facts.idempotency.covers(facts.request) { return .notIdempotent }
        return facts.request.body.isReplayable ? nil : .notReplayable
    }

    /// The failure is worth another attempt; whether its wait is acceptable.
    private func weigh(_ chosen: Duration?, _ hint: Duration?, _ facts: RetryFacts) -> RetryVerdict {
        var wait = chosen ?? backoff.wait(after: facts.attempt, random: facts.random())
        if let hint, hint > wait {
            if hint > longestRetryAfter { return .stop(.retryAfterTooLong(hint)) }
            wait = hint
        }
        let next = facts.now.advanced(by: wait)
        if let deadline = facts.deadline, next >= deadline { return .stop(.deadline(wait: wait)) }
        if let maxElapsed, next > facts.started.advanced(by: maxElapsed) { return .stop(.elapsed(wait: wait)) }
        return facts.withdraw() ? .retry(after: wait) : .stop(.budgetUsedUp)
    }

    private func isRetryable(_ facts: RetryFacts) -> Bool {
        if isRetryable(facts.error) { return true }
        // The first request with this key is still being worked on.
        return facts.error.code == .unacceptableStatus && facts.error.response?.status == 409
            && facts.idempotency.hasKey(facts.request)
    }
}
