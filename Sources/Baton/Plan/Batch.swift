/// Many plans with the same kind of output, at most so many at once, and one ordered report.
///
/// ```swift
/// Batch(ids.map(GetOrder.init), maxConcurrency: 4)
///     .reconnect { round in
///         round.number < 3 ? .retry(round.failures.map(\.index), after: .seconds(1)) : .accept
///     }
/// ```
/// A batch collects everything: its report has an outcome for each index, and a failed item does not fail the batch.
/// A cancelled batch throws; `error.report(of:)` has what was done until then. Input is read as items are begun, one
/// at a time. An empty batch yields an empty report.
public struct Batch<Item: Sendable>: Plan {
    package var description: BatchDescription

    /// A batch over an array of plans, which is kept and can be run again.
    ///
    /// - Parameter maxConcurrency: how many items are under way at once, at least 1. Default 5. The client's limit
    ///   holds besides.
    public init<P: Plan>(_ plans: [P], maxConcurrency: Int = 5) where P.Output == Item {
        description = BatchDescription(
            maxConcurrency: maxConcurrency,
            makeInput: { ArrayInput(plans) },
            makeResults: { BatchResults<Item>(start: $0) })
    }

    /// A batch over any sequence, read lazily on worker threads. It can be run again if the sequence can be iterated
    /// again.
    public init<S: Sequence & Sendable>(
        _ plans: S, maxConcurrency: Int = 5
    ) where S.Element: Plan, S.Element.Output == Item {
        description = BatchDescription(
            maxConcurrency: maxConcurrency,
            makeInput: { SequenceInput(plans) },
            makeResults: { BatchResults<Item>(start: $0) })
    }

    public var chain: Chain<Report<Item>> {
        Chain(node: _PlanNode(content: .batch(description)))
    }

    /// Asks `decide` what to do each time every item has landed and at least one has failed.
    ///
    /// Only the items that it names are sent again. It runs on a worker thread and may block. Batches without it
    /// accept their failures.
    public func reconnect(_ decide: @escaping @Sendable (Round) -> Reconnection) -> Batch {
        var copy = self
        copy.description.reconnect = .init(decide: decide)
        return copy
    }

    /// Asks `decide` what to do, and waits for its answer; it runs in a Swift task that is cancelled with the batch.
    public func reconnect(_ decide: @escaping @Sendable (Round) async -> Reconnection) -> Batch {
        var copy = self
        copy.description.reconnect = .init(decideLater: decide)
        return copy
    }

    /// Tells `body` of each item once, when its outcome is final, before the batch completes.
    ///
    /// It is called one at a time, in the order in which outcomes become final, on worker threads. Failures of a batch
    /// with `reconnect` are final when they are accepted. Items that never began are not told.
    public func onEach(_ body: @escaping @Sendable (Int, Outcome<Item>) -> Void) -> Batch {
        var copy = self
        copy.description.onEach = .init { index, results in
            guard let results = results as? BatchResults<Item> else { return }
            body(index, results.outcome(at: index))
        }
        return copy
    }
}

/// A batch without its types.
@usableFromInline
package struct BatchDescription: Sendable {
    package struct Reconnect: Sendable {
        var decide: (@Sendable (Round) -> Reconnection)?
        var decideLater: (@Sendable (Round) async -> Reconnection)?
    }
    package struct OnEach: Sendable {
        let tell: @Sendable (Int, any AnyBatchResults) -> Void
    }

    var maxConcurrency: Int
    var makeInput: @Sendable () -> any BatchInput
    var makeResults: @Sendable (Instant) -> any AnyBatchResults
    var reconnect: Reconnect?
    var onEach: OnEach?
}

extension BatonError {
    /// What the batch had done when it was cancelled or failed; nil when the error is not about a batch of such items.
    public func report<Item>(of item: Item.Type) -> Report<Item>? {
        storage.report as? Report<Item>
    }
}
