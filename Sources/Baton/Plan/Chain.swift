/// Steps that run one after the other, each derived from what the one before yielded.
///
/// ```swift
/// SignIn(user: "ada", password: secret)
///     .then { session in GetProfile(token: session.token) }
///     .then { profile in Batch(profile.orderIDs.map(GetOrder.init), maxConcurrency: 4) }
/// ```
/// A chain is a value: extending it leaves the original as it was, and running it twice runs it twice. Building is
/// linear in the number of steps. Closures run one at a time, in order, on worker threads, never on the thread that
/// started the run, and may block. When one throws or a step fails, the later ones are not called; the error says which
/// step it was (`chain[1]`, counted from 0).
public struct Chain<Output: Sendable>: Plan {
    @usableFromInline package let node: _PlanNode

    @inlinable
    package init(node: _PlanNode) {
        self.node = node
    }

    @inlinable
    public var chain: Chain<Output> { self }

    /// A chain that is done already and yields `value`.
    @inlinable
    public static func value(_ value: Output) -> Chain {
        Chain(node: _PlanNode(content: .value(value)))
    }

    /// A chain that fails with `error` as soon as it runs.
    public static func failure(_ error: BatonError) -> Chain {
        Chain(node: _PlanNode(content: .failure(error)))
    }

    /// This chain with one more step at its end.
    @usableFromInline
    package func appending<Next>(_ step: ChainStep) -> Chain<Next> {
        if case .steps(let steps, let count) = node.content {
            let (longer, length) = steps.appending(step, at: count)
            return Chain<Next>(node: _PlanNode(content: .steps(longer, count: length)))
        }
        return Chain<Next>(node: _PlanNode(content: .steps(ChainSteps([.start(node), step]), count: 2)))
    }
}

/// One step of a chain, without its types.
@usableFromInline
package enum ChainStep: Sendable {
    /// Closures stand in structs, so that calling one needs no thunk.
    @usableFromInline
    package struct Map: Sendable {
        let output: Any.Type
        let apply: @Sendable (any Sendable) throws -> any Sendable

        @usableFromInline
        init(to output: Any.Type, apply: @escaping @Sendable (any Sendable) throws -> any Sendable) {
            self.output = output
            self.apply = apply
        }
    }
    @usableFromInline
    package struct Derive: Sendable {
        /// What it makes, or what that yields; for people.
        let next: Any.Type
        let derive: @Sendable (any Sendable, _PlanContext) throws -> _PlanNode

        @usableFromInline
        init(to next: Any.Type, derive: @escaping @Sendable (any Sendable, _PlanContext) throws -> _PlanNode) {
            self.next = next
            self.derive = derive
        }
    }
    @usableFromInline
    package struct AsyncDerive: Sendable {
        let next: Any.Type
        let derive: @Sendable (any Sendable, _PlanContext) async throws -> _PlanNode

        @usableFromInline
        init(to next: Any.Type, derive: @escaping @Sendable (any Sendable, _PlanContext) async throws -> _PlanNode) {
            self.next = next
            self.derive = derive
        }
    }

    @usableFromInline
    package struct Recover: Sendable {
        let derive: @Sendable (BatonError, _PlanContext) throws -> _PlanNode

        @usableFromInline
        init(derive: @escaping @Sendable (BatonError, _PlanContext) throws -> _PlanNode) {
            self.derive = derive
        }
    }

    /// The plan that the chain begins with.
    indirect case start(_PlanNode)
    /// The value is changed; this belongs to the step before.
    case map(Map)
    /// The next plan is derived from the value.
    case then(Derive)
    case thenAsync(AsyncDerive)
    /// What is done in place of giving up when a step before fails; passed over otherwise.
    case recover(Recover)
    /// How the step before is undone when a later one fails.
    indirect case undo(Derive, deadline: Duration)
    /// A wait.
    case wait(Duration)

    /// Whether a further plan follows the one before.
    package var isLink: Bool {
        switch self {
        case .then, .thenAsync: true
        default: false
        }
    }
}

/// The steps of a chain and of those it was built from: one buffer that only grows.
@usableFromInline
package final class ChainSteps: Sendable {
    private let steps: LockBox<[ChainStep]>

    init(_ steps: [ChainStep]) {
        self.steps = LockBox(steps)
    }

    /// Adds a step after the first `count`: in place when nobody did so before, else in a copy of those.
    func appending(_ step: ChainStep, at count: Int) -> (ChainSteps, count: Int) {
        let copy: [ChainStep]? = steps.withLock { steps in
            guard steps.count == count else { return Array(steps[..<count]) }
            steps.append(step)
            return nil
        }
        guard let copy else { return (self, count + 1) }
        return (ChainSteps(copy + [step]), count + 1)
    }

    /// The steps as they are now; later ones do not show.
    package var snapshot: [ChainStep] { steps.withLock { $0 } }

    deinit {
        // The closures of the steps may hold further chains, to any depth.
        ReleaseList.release {
            let remains = Remains()
            steps.withLock { swap(&$0, &remains.steps) }
            return remains
        }
    }

    private final class Remains {
        var steps: [ChainStep] = []
    }
}
