/// What a run of a batch reads its plans from. One caller reads at a time, in order.
package protocol BatchInput: AnyObject, Sendable {
    /// The number of plans; nil when it is not known before they are read.
    var count: Int? { get }
    /// Whether reading runs code of the user's that may block.
    var runsUserCode: Bool { get }
    /// The next plan, whose index the caller has counted, ready to run; nil at the end. What is thrown is the outcome
    /// of that item.
    func next(_ index: Int, in context: _PlanContext) throws(BatonError) -> _PlanNode?
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
final class SequenceInput<S: Sequence & Sendable>: BatchInput where S.Element: Plan {
    private struct Source {
        var iterator: S.Iterator?
    }

    private let source: LockBox<Source>

    init(_ plans: S) {
        source = LockBox(Source(iterator: plans.makeIterator()))
    }

    var count: Int? { nil }
    var runsUserCode: Bool { true }

    func next(_ index: Int, in context: _PlanContext) throws(BatonError) -> _PlanNode? {
        var taken = source.withLock { source in
            let taken = Source(iterator: source.iterator)
            source.iterator = nil
            return taken
        }
        guard let plan = taken.iterator?.next() else { return nil }
        source.withLock { $0.iterator = taken.iterator }
        return try plan._node(in: context)
    }
}
