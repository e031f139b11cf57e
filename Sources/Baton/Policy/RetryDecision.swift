/// What a closure of a ``RetryPolicy`` decides about a failure.
public enum RetryDecision: Sendable, Hashable {
    /// Worth another attempt. Nil, the default, waits as the policy's backoff says. It is never earlier than the
    /// server asked.
    case retry(after: Duration? = nil)
    /// Final.
    case stop
}
