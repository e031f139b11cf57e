/// What is known of a failure when a ``RetryPolicy`` asks whether it is worth another attempt.
public struct RetryDecisionContext: Sendable {
    /// The failure; it holds the response if there was one.
    public let error: BatonError
    /// The number of the attempt that failed, from 1.
    public let attempt: Int
    /// The request as it was described, before interceptors changed it.
    public let request: HTTPRequest
    /// The time since the request's first attempt was begun, waits included.
    public let elapsed: Duration
    /// How long the server asked to wait; nil when it did not.
    public let retryAfter: Duration?
    /// What the default rule says: whether the error or the status is among those that the policy retries.
    public let isRetryableByDefault: Bool
}
