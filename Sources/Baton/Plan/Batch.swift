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
    package var definition: BatchDescription

    package init(definition: BatchDescription) {
        self.definition = definition
    }

    /// A batch over an array of plans, which is kept and can be run again.
    ///
    /// - Parameter maxConcurrency: how many items are under way at once, at least 1. Default 5. The client's limit
    ///   holds besides.
    public init<P: Plan>(_ plans: [P], maxConcurrency: Int = 5) where P.Output == Item {
        let first: @Sendable (Int) -> [_PlanNode] = { plans.prefix($0).map { .plan($0) } }
        self.init(maxConcurrency, .init(item: P.self, count: plans.count, first: first)) { ArrayInput(plans) }
    }

    /// A batch over any collection, read lazily on worker threads, and again when it is run again.
    public init<C: Collection & Sendable>(
        _ plans: C, maxConcurrency: Int = 5
    ) where C.Element: Plan, C.Element.Output == Item {
        // Of other collections, counting can take long or call closures.
        let count = (plans as? any RandomAccessCollection)?.count
        self.init(maxConcurrency, .init(item: C.Element.self, count: count)) {
            SequenceInput(plans, count: plans.count)
        }
    }

    /// A batch over any sequence, of any length, read lazily on worker threads.
    ///
    /// A sequence may be readable once only, so the batch runs once: a second run fails with `inputConsumed`. Give it a
    /// collection to run it again.
    public init<S: Sequence & Sendable>(
        _ plans: S, maxConcurrency: Int = 5
    ) where S.Element: Plan, S.Element.Output == Item {
        let isUsed = LockBox(false)
        self.init(maxConcurrency, .init(item: S.Element.self)) { () throws(BatonError) in
            try BatchDescription.use(isUsed)
            return SequenceInput(plans, count: nil)
        }
    }

    /// A batch over an asynchronous sequence, of any length: one Swift task reads it, one plan at a time and only when
    /// one can begin. It runs once, as one over a sequence. When the sequence throws, the batch fails with that error
    /// and a report of what was done.
    public init<S: AsyncSequence & Sendable>(
        _ plans: S, maxConcurrency: Int = 5
    ) where S.Element: Plan, S.Element.Output == Item {
        let isUsed = LockBox(false)
        self.init(maxConcurrency, .init(item: S.Element.self)) { () throws(BatonError) in
            try BatchDescription.use(isUsed)
            return AsyncInput(plans)
        }
    }

    private init(
        _ maxConcurrency: Int, _ preview: BatchDescription.Preview,
        _ makeInput: @escaping @Sendable () throws(BatonError) -> any BatchInput
    ) {
        definition = BatchDescription(
            maxConcurrency: maxConcurrency, preview: preview, makeInput: .init(make: makeInput),
            makeResults: { BatchResults<Item>(start: $0) })
    }

    public var chain: Chain<Report<Item>> {
        Chain(node: _PlanNode(content: .batch(definition)))
    }

    /// Asks `decide` what to do each time every item has landed and at least one has failed.
    ///
    /// Only the items that it names are sent again. It runs on a worker thread and may block. Batches without it
    /// accept their failures.
    public func reconnect(_ decide: @escaping @Sendable (Round) -> Reconnection) -> Batch {
        var copy = self
        copy.definition.reconnect = .init(decide: decide)
        return copy
    }

    /// Asks `decide` what to do, and waits for its answer; it runs in a Swift task that is cancelled with the batch.
    public func reconnect(_ decide: @escaping @Sendable (Round) async -> Reconnection) -> Batch {
        var copy = self
        copy.definition.reconnect = .init(decideLater: decide)
        return copy
    }

    /// Tells `body` of each item once, when its outcome is final, before the batch completes.
    ///
    /// It is called one at a time, in the order in which outcomes become final, on worker threads. Failures of a batch
    /// with `reconnect` are final when they are accepted. Items that never began are not told. With `client.stream` it is
    /// not called, because the stream has each outcome itself.
    public func onEach(_ body: @escaping @Sendable (Int, Outcome<Item>) -> Void) -> Batch {
        var copy = self
        copy.definition.onEach = .init { index, results in
            guard let results = results as? BatchResults<Item> else { return }
            body(index, results.outcome(at: index))
        }
        return copy
    }

    /// What failed items mean for the batch. Default: `collectAll`.
    ///
    /// A batch that does not meet its policy fails with `batchFailed`, whose `report(of:)` has what was done. What was
    /// running when the policy decided is cancelled, and the batch completes when that has ended.
    public func failurePolicy(_ policy: FailurePolicy) -> Batch {
        var copy = self
        copy.definition.policy = policy
        return copy
    }

    /// When an item that failed is sent again without being asked for, and how often at most, beside the retries of its
    /// request. Default: `whenAsked`.
    public func retryFailed(_ timing: RetryTiming, atMost times: Int = 1) -> Batch {
        var copy = self
        copy.definition.timing = timing
        copy.definition.repeats = timing == .whenAsked ? 0 : times
        return copy
    }

    /// The same batch, of which only what `report` says is unfinished is run: failed, cancelled and not begun items.
    ///
    /// The report it yields is whole: what had succeeded is taken over. Items that are requests with an idempotency key
    /// are sent under the one they had; requests within items that are chains get new ones. Batches over sequences fail
    /// with `inputConsumed`.
    public func redrive(_ report: Report<Item>) -> Batch {
        var copy = self
        copy.definition.isRedriven = true
        copy.definition.makeResults = { BatchResults(start: $0, goingOnFrom: report.results) }
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

    package struct MakeInput: Sendable {
        let make: @Sendable () throws(BatonError) -> any BatchInput
    }

    /// What can be said of the input without reading it.
    package struct Preview: Sendable {
        var item: Any.Type
        var count: Int?
        /// The first so many plans, where they are there already.
        var first: (@Sendable (Int) -> [_PlanNode])?

        init(item: Any.Type, count: Int? = nil, first: (@Sendable (Int) -> [_PlanNode])? = nil) {
            self.item = item
            self.count = count
            self.first = first
        }
    }

    var maxConcurrency: Int
    var preview: Preview
    var makeInput: MakeInput
    package var makeResults: @Sendable (Instant) -> any AnyBatchResults
    var reconnect: Reconnect?
    var onEach: OnEach?
    var policy = FailurePolicy.collectAll
    var timing = RetryTiming.whenAsked
    var repeats = 0
    /// Whether the plans are unlike, and the first error is the whole's.
    var isGroup = false
    var isRedriven = false

    /// A sequence is read once.
    static func use(_ isUsed: LockBox<Bool>) throws(BatonError) {
        let wasUsed = isUsed.withLock { isUsed in
            defer { isUsed = true }
            return isUsed
        }
        if wasUsed {
            throw BatonError(
                .inputConsumed,
                "the batch's sequence was read by an earlier run: give the batch a collection to run it again")
        }
    }
}

extension BatonError {
    /// What the batch had done when it was cancelled or failed; nil when the error is not about a batch of such items.
    public func report<Item>(of item: Item.Type) -> Report<Item>? {
        storage.report as? Report<Item>
    }
}
