/// Whether and when a request that failed is sent again.
///
/// ```swift
/// Client(baseURL: "…", retry: .none)
/// Client(baseURL: "…", retry: RetryPolicy(attempts: 5, backoff: .constant(.seconds(1))))
/// RetryPolicy(retryable: { $0.error.response?.status == 418 ? .retry(after: .seconds(2)) : nil })
/// ```
/// Only what is likely to help is tried: failures of the network, a few statuses, and codes that an envelope says so of,
/// for methods that are
/// idempotent (RFC 9110, 9.2.2), with bodies that can be sent again. A cancelled request is never sent again.
public struct RetryPolicy: Sendable {
    /// Which requests may be sent again as far as their method goes.
    public enum Methods: Sendable {
        /// Those that RFC 9110 calls idempotent: GET, HEAD, OPTIONS, TRACE, PUT, DELETE.
        case idempotent
        /// All of them: the server is known to cope with a POST that comes twice.
        case all
    }

    /// How often a request is sent at most, the first time included. Default 3; less than 1 is refused.
    public var attempts: Int
    /// The waits between attempts. Default: full jitter over 100 ms, doubling, at most 20 s.
    public var backoff: Backoff
    /// Default: the idempotent ones.
    public var methods: Methods
    /// Statuses that are worth another attempt. Default: 408, 429, 500, 502, 503, 504.
    public var statuses: Set<Int>
    /// The longest `Retry-After` that is waited for, default 60 s; a longer one fails the request at once.
    public var longestRetryAfter: Duration
    /// No attempt begins later than this after the first one was begun; a wait that would is not begun, and the
    /// request fails at once. Default: no limit.
    public var maxElapsed: Duration?
    /// Decides what is worth another attempt; nil leaves a failure to ``retryableAsync`` and then to the default rule.
    /// It is called wherever the attempt has ended and must not block: what takes a while is ``retryableAsync``'s.
    ///
    /// It has no say over the number of attempts, over requests that are not idempotent, over bodies that can be
    /// read once, and over cancelled requests: for those it is not called.
    public var retryable: (@Sendable (RetryDecisionContext) -> RetryDecision?)?
    /// The same for decisions that take a while. It is asked where ``retryable`` leaves a failure open; no slot is
    /// held meanwhile.
    public var retryableAsync: (@Sendable (RetryDecisionContext) async -> RetryDecision?)?

    /// A policy; see the properties for what each value means.
    public init(
        attempts: Int = 3, backoff: Backoff = .exponential(), methods: Methods = .idempotent,
        statuses: Set<Int> = [408, 429, 500, 502, 503, 504], longestRetryAfter: Duration = .seconds(60),
        maxElapsed: Duration? = nil, retryable: (@Sendable (RetryDecisionContext) -> RetryDecision?)? = nil,
        retryableAsync: (@Sendable (RetryDecisionContext) async -> RetryDecision?)? = nil
    ) {
        self.attempts = attempts
        self.backoff = backoff
        self.methods = methods
        self.statuses = statuses
        self.longestRetryAfter = longestRetryAfter
        self.maxElapsed = maxElapsed
        self.retryable = retryable
        self.retryableAsync = retryableAsync
    }

    /// One attempt, no retries.
    public static let none = RetryPolicy(attempts: 1)

    /// What is wrong with the values; nil when nothing is.
    package var fault: String? {
        if attempts < 1 {
            return "a retry policy's attempts are \(attempts): the first one counts, so they start at 1"
        }
        if longestRetryAfter < .zero { return "a retry policy's longest Retry-After is negative" }
        if let maxElapsed, maxElapsed < .zero { return "a retry policy's elapsed limit is negative" }
        return backoff.fault
    }

    func isRetryable(_ error: BatonError) -> Bool {
        if error.code.isTransient || error.business?.action == .retry { return true }
        guard error.code == .unacceptableStatus, let status = error.response?.status else { return false }
        return statuses.contains(status)
    }
}
