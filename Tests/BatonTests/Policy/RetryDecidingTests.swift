import Baton
import Foundation
import Testing

@Suite("Retry policy")
struct RetryDecidingTests {
    private static let date = Date(timeIntervalSince1970: 784_111_777)  // Sun, 06 Nov 1994 08:49:37 GMT

    /// A policy whose waits are exactly one second.
    private static func steady(_ change: (inout RetryPolicy) -> Void = { _ in }) -> RetryPolicy {
        var policy = RetryPolicy(backoff: .constant(.seconds(1)))
        change(&policy)
        return policy
    }

    /// A failure at second 10 of a call that began at second 0.
    private static func facts(
        _ error: BatonError = BatonError(.connectionLost), attempt: Int = 1, request: HTTPRequest = makeRequest(),
        idempotency: Idempotency = .byMethod, deadline: Instant? = nil, withdraw: @escaping () -> Bool = { true }
    ) -> RetryFacts {
        RetryFacts(
            error: error, attempt: attempt, request: request, idempotency: idempotency, now: at(10), started: at(0),
            deadline: deadline, date: date, random: { 0 }, withdraw: withdraw)
    }

    // MARK: What is retried

    @Test(
        "Failures of the network are sent again",
        arguments: [BatonError.Code.timedOut, .connectionLost, .cannotConnect, .cannotFindHost])
    func transient(code: BatonError.Code) {
        #expect(Self.steady().decide(Self.facts(BatonError(code))) == .retry(after: .seconds(1)))
    }

    @Test(
        "Only what another attempt may help is sent again",
        arguments: [
            (408, true), (429, true), (500, true), (502, true), (503, true), (504, true), (400, false), (401, false),
            (404, false), (409, false), (501, false), (505, false), (304, false),
        ])
    func statuses(status: Int, isRetried: Bool) {
        let verdict = Self.steady().decide(Self.facts(refusal(status: status)))
        #expect(verdict == (isRetried ? .retry(after: .seconds(1)) : .stop(.notRetryable)))
    }

    @Test(
        "What is wrong with the request stays wrong",
        arguments: [BatonError.Code.decodingFailed, .invalidRequest, .secureConnectionFailed, .responseTooLarge])
    func permanent(code: BatonError.Code) {
        #expect(Self.steady().decide(Self.facts(BatonError(code))) == .stop(.notRetryable))
    }

    @Test("The first attempt counts, and nothing follows the last one", arguments: 1...5)
    func attempts(limit: Int) {
        let policy = Self.steady { $0.attempts = limit }
        for attempt in 1...6 {
            let verdict = policy.decide(Self.facts(attempt: attempt))
            #expect(verdict == (attempt < limit ? .retry(after: .seconds(1)) : .stop(.attemptsUsedUp)))
        }
    }

    @Test("A cancelled request is never sent again, and no closure is asked")
    func cancelled() {
        let policy = Self.steady { $0.retryable = { _ in .retry() } }
        #expect(policy.decide(Self.facts(BatonError(.cancelled))) == .stop(.cancelled))
    }

    @Test("What is not idempotent is sent once, unless it is marked, carries a key, or the policy takes all methods")
    func idempotency() {
        let post = makeRequest(.post, body: .text("a"))
        let retry = RetryVerdict.retry(after: .seconds(1))
        #expect(Self.steady().decide(Self.facts(request: post)) == .stop(.notIdempotent))
        #expect(
            Self.steady { $0.retryable = { _ in .retry() } }.decide(Self.facts(request: post)) == .stop(.notIdempotent))
        #expect(Self.steady().decide(Self.facts(request: post, idempotency: .marked)) == retry)
        #expect(Self.steady().decide(Self.facts(request: post, idempotency: .keyed())) == retry)
        #expect(Self.steady { $0.methods = .all }.decide(Self.facts(request: post)) == retry)
        let keyed = makeRequest(.post, fields: ["Idempotency-Key": "7"])
        #expect(Self.steady().decide(Self.facts(request: keyed)) == retry)
    }

    @Test("With a key, 409 is tried again and 422 is final")
    func keyConflict() {
        func verdict(_ status: Int, _ idempotency: Idempotency) -> RetryVerdict {
            Self.steady().decide(
                Self.facts(refusal(status: status), request: makeRequest(.post), idempotency: idempotency))
        }
        #expect(verdict(409, .keyed()) == .retry(after: .seconds(1)))
        #expect(verdict(422, .keyed()) == .stop(.notRetryable))
        #expect(verdict(409, .marked) == .stop(.notRetryable))
    }

    @Test("A body that can be read once is sent once")
    func replayability() {
        let stream = HTTPBodyStream(isReplayable: false) { throw BatonError(.notReplayable) }
        let request = makeRequest(.put, body: HTTPBody(content: .stream(stream)))
        #expect(Self.steady().decide(Self.facts(request: request)) == .stop(.notReplayable))
        let again = makeRequest(.put, body: HTTPBody(content: .stream(.data(Data([1])))))
        #expect(Self.steady().decide(Self.facts(request: again)) == .retry(after: .seconds(1)))
    }

    // MARK: Closures

    @Test("A closure decides, and where it says nothing the default rule does")
    func closure() {
        let policy = Self.steady {
            $0.retryable = { context in
                switch context.error.response?.status {
                case 418: .retry(after: .seconds(3))
                case 404: .retry()
                case 503: .stop
                default: nil
                }
            }
        }
        #expect(policy.decide(Self.facts(refusal(status: 418))) == .retry(after: .seconds(3)))
        #expect(policy.decide(Self.facts(refusal(status: 404))) == .retry(after: .seconds(1)))
        #expect(policy.decide(Self.facts(refusal(status: 503))) == .stop(.refused))
        #expect(policy.decide(Self.facts(refusal(status: 502))) == .retry(after: .seconds(1)))
        #expect(policy.decide(Self.facts(refusal(status: 400))) == .stop(.notRetryable))
    }

    @Test("A closure is told what is known")
    func context() {
        let policy = Self.steady {
            $0.retryable = { context in
                let isAsExpected =
                    context.attempt == 2 && context.elapsed == .seconds(10) && context.retryAfter == .seconds(4)
                    && context.isRetryableByDefault && context.request.target == "/orders"
                return isAsExpected ? .retry(after: .seconds(7)) : .stop
            }
        }
        let error = refusal(status: 503, fields: ["Retry-After": "4"])
        #expect(policy.decide(Self.facts(error, attempt: 2)) == .retry(after: .seconds(7)))
    }

    @Test("The asynchronous closure is asked where the other one says nothing, and its answer counts")
    func asynchronous() async {
        let policy = Self.steady {
            $0.retryable = { $0.error.code == .timedOut ? .stop : nil }
            $0.retryableAsync = { context in
                await Task.yield()
                return context.error.response?.status == 404 ? .retry(after: .seconds(2)) : nil
            }
        }
        #expect(policy.decide(Self.facts(BatonError(.timedOut))) == .stop(.refused))
        for (status, expected) in [
            (404, RetryVerdict.retry(after: .seconds(2))), (503, .retry(after: .seconds(1))),
            (400, .stop(.notRetryable)),
        ] {
            var facts = Self.facts(refusal(status: status), withdraw: { true })
            guard case .ask(let ask) = policy.decide(facts) else {
                Issue.record("the closure was not asked")
                return
            }
            facts.answer = .given(await ask())
            #expect(policy.decide(facts) == expected)
        }
    }

    // MARK: Retry-After

    @Test(
        "Retry-After is waited for in both forms, never less, and beside it the backoff still applies",
        arguments: [
            ("5", 5.0), ("0", 1), ("60", 60), (" 5 ", 5), ("Sun, 06 Nov 1994 08:49:47 GMT", 10),
            ("Sun, 06 Nov 1994 08:49:07 GMT", 1), ("-1", 1), ("1.5", 1), ("", 1), ("soon", 1),
        ])
    func retryAfter(value: String, seconds: Double) {
        for status in [429, 503] {
            let error = refusal(status: status, fields: ["Retry-After": value])
            #expect(Self.steady().decide(Self.facts(error)) == .retry(after: .seconds(seconds)))
        }
    }

    @Test(
        "A longer wait than the policy puts up with fails now and shows what was asked",
        arguments: ["61", "99999999999999999999"])
    func retryAfterTooLong(value: String) throws {
        let error = refusal(status: 429, fields: ["Retry-After": value])
        guard case .stop(.retryAfterTooLong(let hint)) = Self.steady().decide(Self.facts(error)) else {
            Issue.record("it was not stopped")
            return
        }
        #expect(hint == error.retryAfter)
        #expect(hint >= .seconds(61))
        let patient = Self.steady { $0.longestRetryAfter = .seconds(90) }
        if value == "61" { #expect(patient.decide(Self.facts(error)) == .retry(after: .seconds(61))) }
    }

    @Test("A closure cannot come back earlier than the server asked, but later")
    func closureAndRetryAfter() {
        func verdict(_ wait: Duration, _ value: String) -> RetryVerdict {
            Self.steady { $0.retryable = { _ in .retry(after: wait) } }
                .decide(Self.facts(refusal(status: 503, fields: ["Retry-After": value])))
        }
        #expect(verdict(.seconds(2), "5") == .retry(after: .seconds(5)))
        #expect(verdict(.seconds(9), "5") == .retry(after: .seconds(9)))
        #expect(verdict(.seconds(2), "100") == .stop(.retryAfterTooLong(.seconds(100))))
        #expect(verdict(.seconds(120), "100") == .retry(after: .seconds(120)))
        #expect(verdict(.seconds(-5), "0") == .retry(after: .zero))
    }

    @Test(
        "The error says how long the server asked to wait",
        arguments: [
            (["Retry-After": "5"], 5), (["Retry-After": "junk"], nil), ([:], nil),
            (["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT"], nil),
            (["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"], 10),
        ] as [(HTTPFields, Int?)])
    func shown(fields: HTTPFields, seconds: Int?) {
        let expected: Duration? = seconds.map { .seconds($0) }
        #expect(refusal(status: 503, fields: fields).retryAfter == expected)
        #expect(BatonError(.timedOut).retryAfter == nil)
    }

    // MARK: Time and budget

    @Test(
        "A wait that does not fit before the deadline fails now", arguments: [(10.5, false), (11, false), (11.1, true)])
    func deadline(seconds: Double, fits: Bool) {
        let verdict = Self.steady().decide(Self.facts(deadline: at(seconds)))
        #expect(verdict == (fits ? .retry(after: .seconds(1)) : .stop(.deadline(wait: .seconds(1)))))
    }

    @Test("No attempt begins after the elapsed limit", arguments: [(10.9, false), (11, true), (60, true), (0, false)])
    func elapsed(seconds: Double, fits: Bool) {
        let verdict = Self.steady { $0.maxElapsed = .seconds(seconds) }.decide(Self.facts())
        #expect(verdict == (fits ? .retry(after: .seconds(1)) : .stop(.elapsed(wait: .seconds(1)))))
    }

    @Test("The budget is drawn on once for each retry, and for nothing else")
    func budget() {
        var draws = 0
        func decide(
            _ error: BatonError = BatonError(.timedOut), attempt: Int = 1, deadline: Instant? = nil, grants: Bool = true
        ) -> RetryVerdict {
            Self.steady().decide(
                Self.facts(error, attempt: attempt, deadline: deadline) {
                    draws += 1
                    return grants
                })
        }
        #expect(decide(BatonError(.cancelled)) == .stop(.cancelled))
        #expect(decide(refusal(status: 404)) == .stop(.notRetryable))
        #expect(decide(attempt: 3) == .stop(.attemptsUsedUp))
        #expect(decide(deadline: at(10.5)) == .stop(.deadline(wait: .seconds(1))))
        #expect(draws == 0)
        #expect(decide() == .retry(after: .seconds(1)))
        #expect(draws == 1)
        #expect(decide(grants: false) == .stop(.budgetUsedUp))
        #expect(draws == 2)
    }

    @Test("No combination of facts breaks a limit", arguments: 1...20 as ClosedRange<UInt64>)
    func property(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<Scale.count(2_000, everyday: 300) {
            var policy = RetryPolicy(attempts: 1 + random.below(5))
            if random.chance(50) { policy.maxElapsed = .seconds(random.below(40)) }
            if random.chance(30) { policy.retryable = { _ in .retry(after: .seconds(3)) } }
            let told = refusal(status: 503, fields: ["Retry-After": "\(random.below(100))"])
            let error = random.chance(50) ? told : BatonError(.connectionLost)
            let deadline: Instant? = random.chance(50) ? at(Double(random.below(60))) : nil
            var facts = Self.facts(
                error, attempt: 1 + random.below(6), request: makeRequest(random.chance(50) ? .get : .post),
                deadline: deadline)
            let bits = random.next()
            facts.random = { bits }
            guard case .retry(let wait) = policy.decide(facts) else { continue }
            let next = facts.now.advanced(by: wait)
            #expect(facts.attempt < policy.attempts)
            #expect(facts.request.method == .get)
            #expect(wait >= .zero && wait <= .seconds(60))
            if let asked = facts.error.retryAfter { #expect(wait >= asked) }
            if let deadline = facts.deadline { #expect(next < deadline) }
            if let limit = policy.maxElapsed { #expect(next <= at(0).advanced(by: limit)) }
        }
    }

    // MARK: Records

    @Test("A decision reads as a sentence, and an error says what it does not show by itself")
    func texts() {
        #expect(RetryVerdict.retry(after: .milliseconds(250)).description == "sent again after 0.25 s")
        #expect(
            RetryStop.deadline(wait: .seconds(30)).note
                == "not sent again: a wait of 30.0 s does not fit before the deadline")
        #expect(RetryStop.notRetryable.note == nil)
        let error = refusal(status: 503).with(retryAfter: .seconds(90), retryNote: RetryStop.budgetUsedUp.note)
        #expect(error.retryAfter == .seconds(90))
        #expect(error.description.contains("the host's retry budget is used up"))
        let record = AttemptRecord(
            number: 2, started: .seconds(1), duration: .milliseconds(500), status: 503, code: .unacceptableStatus,
            wait: .seconds(1), decision: "sent again after 1.0 s")
        #expect(
            record.description
                == "attempt 2 after 1.0 s took 0.5 s, status 503, unacceptableStatus, sent again after 1.0 s")
    }

    @Test(
        "Values that cannot work are named",
        arguments: [
            RetryPolicy(attempts: 0), RetryPolicy(backoff: .exponential(factor: .nan)),
            RetryPolicy(backoff: .exponential(factor: .infinity)),
            RetryPolicy(backoff: .exponential(base: .seconds(-1))),
            RetryPolicy(longestRetryAfter: .seconds(-1)), RetryPolicy(maxElapsed: .seconds(-1)),
        ])
    func faults(policy: RetryPolicy) {
        #expect(policy.fault != nil)
        #expect(RetryPolicy().fault == nil)
    }
}

/// Whether two verdicts are the same; a question is equal to nothing.
private func == (a: RetryVerdict, b: RetryVerdict) -> Bool {
    switch (a, b) {
    case (.stop(let a), .stop(let b)): a == b
    case (.retry(let a), .retry(let b)): a == b
    default: false
    }
}
