/// What a run of a batch reads its plans from. One caller reads at a time, in order.
package protocol BatchInput: AnyObject, Sendable {
    /// The number of plans; nil when it is not known before they are read.
    var count: Int? { get }
    /// Whether reading runs code of the user's that may block.
    var runsUserCode: Bool { get }
    /// The next plan, whose index the caller has counted, ready to run; nil at the end. What is thrown is the outcome
    /// of that item.
    func next(_ index: Int, in context: _PlanContext) throws(BatonError) -> _PlanNode?
    /// What is read in a Swift task; nil for what can be read at once.
    var later: (any AsyncBatchInput)? { get }
}

extension BatchInput {
    package var later: (any AsyncBatchInput)? { nil }
}

/// Plans that are waited for.
package protocol AsyncBatchInput: AnyObject, Sendable {
    /// Asks for the next plan; `body` is called once, with nil at the end.
    func next(
        on scheduler: any Scheduler, in context: _PlanContext,
        _ body: @escaping @Sendable (Result<_PlanNode?, BatonError>) -> Void)
    /// Nothing more will be asked for.
    func close()
}

/// Plans of an array.
final class ArrayInput<P: Plan>: BatchInput {
    private let plans: [P]

    init(_ plans: [P]) {
        self.plans = plans
    }

    var count: Int? { plans.count }
    var runsUserCode: Bool { false }

    func next(_ index: Int, in context: _PlanContext) throws(BatonError) -> _PlanNode? {
        guard index < plans.count else { return nil }
        return try plans[index]._node(in: context)
    }
}

/// Plans of a sequence, whose iterator is taken out of its box while it runs: it is the user's code.
final class SequenceInput: BatchInput {
    private let cursor: LockBox<(any PlanCursor)?>
    let count: Int?

    init<S: Sequence>(_ plans: S, count: Int?) where S.Element: Plan {
        cursor = LockBox(SequenceCursor(plans.makeIterator()))
        self.count = count
    }

    var runsUserCode: Bool { true }

    func next(_ index: Int, in context: _PlanContext) throws(BatonError) -> _PlanNode? {
        guard let taken = cursor.withLock({ $0.take() }), taken.skip(to: index) else { return nil }
        defer { if !taken.isOver { cursor.withLock { $0 = taken } } }
        return try taken.next(in: context)
    }
}

/// Where the reading of a sequence stands. It knows no types towards the outside, so that each step costs no look-up of
/// generic metadata.
private protocol PlanCursor: AnyObject {
    /// Whether there is nothing more.
    var isOver: Bool { get }
    /// Passes over what a report says is done; false when the end comes before.
    func skip(to index: Int) -> Bool
    func next(in context: _PlanContext) throws(BatonError) -> _PlanNode?
}

private final class SequenceCursor<I: IteratorProtocol>: PlanCursor where I.Element: Plan {
    private var iterator: I
    /// The index of what the iterator gives next.
    private var index = 0
    private(set) var isOver = false

    init(_ iterator: I) { self.iterator = iterator }

    func skip(to index: Int) -> Bool {
        while self.index < index {
            guard iterator.next() != nil else { return false }
            self.index += 1
        }
        return true
    }

    func next(in context: _PlanContext) throws(BatonError) -> _PlanNode? {
        guard let plan = iterator.next() else {
            isOver = true
            return nil
        }
        index += 1
        return try plan._node(in: context)
    }
}

/// Plans of an asynchronous sequence: one task, that reads when it is asked to.
final class AsyncInput<S: AsyncSequence & Sendable>: BatchInput, AsyncBatchInput where S.Element: Plan {
    private typealias Deliver = @Sendable (Result<_PlanNode?, BatonError>) -> Void

    private struct State {
        var wanted: Deliver?
        var reader: CheckedContinuation<Void, Never>?
        var task: Task<Void, Never>?
        var isClosed = false
    }

    private let plans: S
    private let state = LockBox(State())

    init(_ plans: S) {
        self.plans = plans
    }

    var count: Int? { nil }
    var runsUserCode: Bool { true }
    var later: (any AsyncBatchInput)? { self }
    func next(_ index: Int, in context: _PlanContext) throws(BatonError) -> _PlanNode? { nil }

    func next(
        on scheduler: any Scheduler, in context: _PlanContext,
        _ body: @escaping @Sendable (Result<_PlanNode?, BatonError>) -> Void
    ) {
        let (reader, begins) = state.withLock { state in
            state.wanted = body
            defer { state.reader = nil }
            return (state.reader, state.task == nil)
        }
        if begins {
            let task = scheduler.startTask("the sequence that a batch reads") { [self] in
                await read(scheduler, context)
            }
            let isClosed = state.withLock { state in
                if !state.isClosed { state.task = task }
                return state.isClosed
            }
            if isClosed { task.cancel() }
        }
        reader?.resume()
    }

    func close() {
        let (reader, task) = state.withLock { state in
            defer { (state.reader, state.wanted, state.task, state.isClosed) = (nil, nil, nil, true) }
            return (state.reader, state.task)
        }
        task?.cancel()
        reader?.resume()
    }

    private func read(_ scheduler: any Scheduler, _ context: _PlanContext) async {
        var iterator = plans.makeAsyncIterator()
        while let deliver = await demand(scheduler) {
            do {
                guard let plan = try await iterator.next() else { return deliver(.success(nil)) }
                // A plan that cannot be built is an item that fails, not the end of the input.
                let node: _PlanNode
                do throws(BatonError) {
                    node = try plan._node(in: context)
                } catch {
                    node = _PlanNode(content: .failure(error))
                }
                deliver(.success(node))
            } catch {
                return deliver(.failure(.wrapping(error, as: .inputFailed, "the batch's sequence threw an error")))
            }
        }
    }

    /// Waits until somebody asks; nil when nobody will.
    private func demand(_ scheduler: any Scheduler) async -> Deliver? {
        while true {
            let (deliver, isClosed): (Deliver?, Bool) = state.withLock { state in
                defer { state.wanted = nil }
                return (state.wanted, state.isClosed)
            }
            if isClosed { return nil }
            if let deliver { return deliver }
            await scheduler.waiting {
                await withCheckedContinuation { continuation in
                    let waits = state.withLock { state in
                        guard state.wanted == nil, !state.isClosed else { return false }
                        state.reader = continuation
                        return true
                    }
                    if !waits { continuation.resume() }
                }
            }
        }
    }
}
