package import Foundation

/// What a retry policy looks at.
package struct RetryFacts {
    package enum Answer: Sendable {
        /// The asynchronous closure was not called.
        case notAsked
        /// It gave this; nil leaves it to the default rule.
        case given(RetryDecision?)
    }

    package var error: BatonError
    /// How many attempts were made, the one that failed included.
    package var attempt: Int
    package var request: HTTPRequest
    package var idempotency: Idempotency
    package var now: Instant
    /// When the first attempt was begun.
    package var started: Instant
    package var deadline: Instant?
    /// The wall clock, for a `Retry-After` that is a date.
    package var date: Date
    /// 64 random bits; drawn only for a backoff.
    package var random: () -> UInt64
    /// Draws one retry on the host's budget; called last, and only for a failure that is otherwise sent again.
    package var withdraw: () -> Bool
    package var answer = Answer.notAsked

    package init(
        error: BatonError, attempt: Int, request: HTTPRequest, idempotency: Idempotency = .byMethod, now: Instant,
        started: Instant, deadline: Instant? = nil, date: Date, random: @escaping () -> UInt64,
        withdraw: @escaping () -> Bool = { true }
    ) {
        self.error = error
        self.attempt = attempt
        self.request = request
        self.idempotency = idempotency
        self.now = now
        self.started = started
        self.deadline = deadline
        self.date = date
        self.random = random
        self.withdraw = withdraw
    }
}
