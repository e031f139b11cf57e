/// What failed items mean for their batch.
public enum FailurePolicy: Sendable, Hashable {
    /// Nothing: the batch does all of its items and succeeds with a report. The default.
    case collectAll
    /// The first failure cancels the rest; the batch fails once what was running has ended.
    case failFast
    /// Up to so many may fail; one more cancels the rest.
    case tolerate(Int)
    /// Up to this share of the items, 0 to 1, may fail; more cancels the rest. Of an input of unknown length, it is
    /// looked at when the input has ended.
    case tolerateShare(Double)
    /// The first success cancels the rest, and the batch succeeds; it fails when there is none.
    case firstSuccess
    /// So many successes cancel the rest, and the batch succeeds; it fails as soon as they cannot be reached.
    case quorum(Int)

    package enum Verdict {
        case goOn
        case succeed
        case fail
    }

    /// What the outcomes so far decide. Cancelled items count as failed.
    ///
    /// - Parameter total: the number of items; nil while it is not known.
    package func verdict(succeeded: Int, failed: Int, total: Int?, isOver: Bool) -> Verdict {
        switch self {
        case .collectAll: .goOn
        case .failFast: failed > 0 ? .fail : .goOn
        case .tolerate(let count): failed > count ? .fail : .goOn
        case .tolerateShare(let share):
            if let total { Double(failed) > share * Double(total) ? .fail : .goOn } else { .goOn }
        case .firstSuccess: Self.reach(1, succeeded, failed, total, isOver)
        case .quorum(let count): Self.reach(count, succeeded, failed, total, isOver)
        }
    }

    private static func reach(_ goal: Int, _ succeeded: Int, _ failed: Int, _ total: Int?, _ isOver: Bool) -> Verdict {
        if succeeded >= goal { return .succeed }
        if isOver { return .fail }
        guard let total else { return .goOn }
        return total - failed < goal ? .fail : .goOn
    }

    /// What is wrong with the values; nil when nothing is.
    package var fault: String? {
        switch self {
        case .tolerate(let count) where count < 0: "a batch tolerates \(count) failures: it must be 0 or more"
        case .tolerateShare(let share) where !(0...1).contains(share):
            "a batch tolerates a share of \(share): it must be from 0 to 1"
        case .quorum(let count) where count < 1: "a batch's quorum is \(count): it must be 1 or more"
        default: nil
        }
    }
}

/// When a failed item of a batch is sent again without being asked for.
public enum RetryTiming: Sendable, Hashable {
    /// Right away, in its place.
    case atOnce
    /// When every other item was begun.
    case afterOthers
    /// Not at all; only what `reconnect` names is sent again. The default.
    case whenAsked
}
