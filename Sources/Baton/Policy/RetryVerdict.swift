/// What a retry policy says.
package enum RetryVerdict: Sendable {
    /// The failure is final.
    case stop(RetryStop)
    /// Another attempt is to begin after this wait.
    case retry(after: Duration)
    /// Call the closure, outside every lock; then decide again with its answer and the time as it is then.
    case ask(@Sendable () async -> RetryDecision?)
}

extension RetryVerdict: CustomStringConvertible {
    /// For records: what was decided, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .stop(let reason): reason.description
        case .retry(let wait): "sent again after \(wait.readable)"
        case .ask: "the policy's closure is asked"
        }
    }
}
