/// Why a failed request is not sent again.
package enum RetryStop: Sendable, Hashable {
    case cancelled
    /// The default rule, or a closure that said stop.
    case notRetryable, refused
    case attemptsUsedUp
    case notIdempotent
    case notReplayable
    /// The server asked for a longer wait than the policy puts up with.
    case retryAfterTooLong(Duration)
    /// The wait does not fit before the deadline.
    case deadline(wait: Duration)
    /// The wait does not fit into the policy's elapsed limit.
    case elapsed(wait: Duration)
    case budgetUsedUp
}

extension RetryStop: CustomStringConvertible {
    /// For records: what was decided and why, in lower case and without a full stop.
    package var description: String {
        switch self {
        case .cancelled: "not sent again: cancelled"
        case .notRetryable: "not sent again: another attempt would not help"
        case .refused: "not sent again: the policy's closure said stop"
        case .attemptsUsedUp: "not sent again: that was the last attempt"
        case .notIdempotent: "not sent again: the request is not idempotent"
        case .notReplayable: "not sent again: the body can be read only once"
        case .retryAfterTooLong(let hint): "not sent again: the server asked to wait \(hint.readable)"
        case .deadline(let wait): "not sent again: a wait of \(wait.readable) does not fit before the deadline"
        case .elapsed(let wait): "not sent again: a wait of \(wait.readable) does not fit into the elapsed limit"
        case .budgetUsedUp: "not sent again: the host's retry budget is used up"
        }
    }

    /// The description where the failure alone does not explain it, for the error; nil elsewhere.
    package var note: String? {
        switch self {
        case .retryAfterTooLong, .deadline, .elapsed, .budgetUsedUp: description
        default: nil
        }
    }
}

extension Duration {
    /// For people: seconds, to the millisecond.
    var readable: String {
        "\((inSeconds * 1_000).rounded() / 1_000) s"
    }
}
