/// What hosts, breakers and budgets have to say about a call.
extension CallJob {
    /// Asks the breaker, where there is one; false when it refused, which is then the call's end.
    func passesBreaker(_ token: UInt64) -> Bool {
        guard let breakers = engine.breakers, let request = state.withLock({ $0.call?.request }) else { return true }
        // Copies ask for themselves.
        let willHedge = state.withLock { state in
            guard !state.isCopy, state.original?.sink == nil, let hedging = state.options.hedging ?? settings.hedging
            else { return false }
            return hedging.permits(request, state.options.idempotency ?? .byMethod)
        }
        if willHedge { return true }
        do throws(BatonError) {
            let ticket = try breakers.admit(request, at: scheduler.now)
            let isCurrent = state.withLock { state in
                guard state.token == token else { return false }
                state.breaker = ticket
                return true
            }
            if !isCurrent { _ = breakers.record(.cancelled, ticket, at: scheduler.now, random: 0) }
            return isCurrent
        } catch {
            refuse(error.with(phase: .queue), token)
            return false
        }
    }

    /// What a request of the call's origin is subject to; looked up once for an origin.
    func hostPolicies(_ state: inout State, _ origin: HTTPOrigin) -> HostPolicies {
        if let policies = state.policies { return policies }
        let policies = engine.policies(for: origin)
        state.policies = policies
        return policies
    }

    /// Who wants to know how an exchange ends.
    struct Watch {
        var breaker: Breakers.Ticket?
        var policies: HostPolicies?
        var departed: Instant?
    }

    /// Tells breaker and host how an exchange ended.
    func exchangeEnded(_ watch: Watch, _ result: Result<HTTPResponse, BatonError>) {
        if let ticket = watch.breaker, let breakers = engine.breakers {
            let phase = breakers.record(
                breakers.configuration.outcome(of: result), ticket, at: scheduler.now, random: scheduler.random())
            if let phase {
                run.events?.append(.breakerChanged(key: ticket.key, phase: phase, at: scheduler.now))
            }
        }
        if let policies = watch.policies, watch.departed != nil || ServerPacing.concerns(result.response) {
            policies.arrive(result, began: watch.departed, run)
        }
    }

    // MARK: Another attempt

    /// The attempt is over: the call is too, unless the policy wants another one.
    func conclude(_ result: Result<HTTPResponse, BatonError>, _ token: UInt64) {
        guard case .failure(let error) = result else { return succeed(result, token) }
        decide(error, .notAsked, token)
    }

    private func succeed(_ result: Result<HTTPResponse, BatonError>, _ token: UInt64) {
        let ending: Ending? = state.withLock { state in
            guard state.phase != .idle, state.token == token else { return nil }
            // Calls that succeed at once keep no record; their one attempt says nothing that the report does not.
            if !state.records.isEmpty, state.layers != .exchange {
                state.records.append(record(state, result, wait: nil, ""))
            }
            return end(&state)
        }
        if let ending { tell(ending, result) }
    }

    private func decide(_ error: BatonError, _ answer: RetryFacts.Answer, _ token: UInt64) {
        let known: (State, RetryPolicy)? = state.withLock { state in
            guard state.layers != .exchange, state.token == token, !state.isCancelled, state.original != nil else {
                return nil
            }
            return (state, state.options.retry ?? settings.retry)
        }
        guard let (old, policy) = known, let original = old.original else { return finish(.failure(error), token) }
        if let sink = original.sink, !sink.mayRetry { return finish(.failure(error), token) }
        let now = scheduler.now
        var facts = RetryFacts(
            error: error, attempt: old.attempt, request: original.request,
            idempotency: old.options.idempotency ?? .byMethod, now: now, started: old.began ?? now,
            deadline: old.scope?.deadline, date: scheduler.date, random: scheduler.random,
            withdraw: { old.policies?.withdraw(at: now) ?? true })
        facts.answer = answer
        let verdict = policy.decide(facts)
        switch verdict {
        case .ask(let ask): askLater(ask, error, token)
        case .retry(let wait):
            note(error, wait, verdict.description, token)
            backOff(for: wait, because: error, token)
        case .stop(let stop):
            note(error, nil, verdict.description, token)
            finish(.failure(explained(error, stop, facts)), token)
        }
    }

    private func explained(_ error: BatonError, _ stop: RetryStop, _ facts: RetryFacts) -> BatonError {
        if case .deadline = stop {
            return BatonError(
                .deadlineExceeded, "\(stop.description); the last failure was: \(error.message)", underlying: error,
                response: error.response)
        }
        guard let note = stop.note else { return error }
        return error.with(retryAfter: error.retryAfter(at: facts.date), retryNote: note)
    }

    private func askLater(_ ask: @escaping @Sendable () async -> RetryDecision?, _ error: BatonError, _ token: UInt64) {
        let task = scheduler.startTask("a retry policy's closure") { [self] in
            let answer = await ask()
            UserCode.end { decide(error, .given(answer), token) }
        }
        let isStale = state.withLock { state in
            guard state.token == token, state.phase == .preparing else { return true }
            state.task = task
            return false
        }
        if isStale { task.cancel() }
    }

    // MARK: The record

    private func note(_ error: BatonError, _ wait: Duration?, _ decision: String, _ token: UInt64) {
        state.withLock { state in
            guard state.token == token else { return }
            state.records.append(record(state, .failure(error), wait: wait, decision))
        }
    }

    private func record(
        _ state: State, _ result: Result<HTTPResponse, BatonError>, wait: Duration?, _ decision: String
    ) -> AttemptRecord {
        let now = scheduler.now
        let began = state.began ?? now
        let attemptBegan = state.attemptBegan ?? began
        // A redirect may have been waiting still.
        let queued = state.queued.map { (state.slotWait ?? .zero) + $0.duration(to: now) } ?? state.slotWait
        return AttemptRecord(
            number: state.attempt, started: began.duration(to: attemptBegan), duration: attemptBegan.duration(to: now),
            queued: queued, status: result.response?.status, code: result.error?.code, wait: wait, decision: decision,
            metrics: result.metrics)
    }
}
