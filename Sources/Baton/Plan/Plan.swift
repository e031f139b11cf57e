/// An inert value that describes work: a request, a chain, a batch, or a composition of your own.
///
/// **Use** one by giving it to a client, as often as you like: each run is independent of the others.
///
/// **Implement** one by saying which chain it is:
///
/// ```swift
/// struct OpenShop: Plan {
///     let user: String
///     var chain: Chain<Shop> {
///         SignIn(user: user).then { session in GetShop(token: session.token) }
///     }
/// }
/// ```
/// `chain` is asked for when the plan is about to run; it must not block.
public protocol Plan<Output>: Sendable {
    /// What a run of the plan yields.
    associatedtype Output: Sendable
    /// The steps that the plan consists of.
    var chain: Chain<Output> { get }
    /// What the engine runs; part of the library's own machinery and not to be implemented.
    func _node(in context: _PlanContext) throws(BatonError) -> _PlanNode
}

extension Plan {
    @inlinable
    public func _node(in context: _PlanContext) throws(BatonError) -> _PlanNode { chain.node }
}

/// What a plan amounts to when it is run.
public struct _PlanNode: Sendable {
    /// Each case holds one reference, so that a node is cheap to pass on.
    @usableFromInline
    package enum Content: Sendable {
        /// Done already.
        indirect case value(any Sendable)
        /// Failed already.
        case failure(BatonError)
        /// A plan that is asked what it amounts to when its turn comes.
        indirect case plan(any Plan)
        /// A request that is ready to be sent.
        case call(CallDescription)
        /// The first so many steps of a shared buffer.
        case steps(ChainSteps, count: Int)
        indirect case batch(BatchDescription)
        /// A part with options of its own.
        case scoped(ScopedPlan)
        /// A part that runs once in a run.
        case shared(SharedPlan)
    }

    @usableFromInline package var content: Content

    @inlinable
    package init(content: Content) {
        self.content = content
    }

    package static func plan(_ plan: any Plan) -> _PlanNode { _PlanNode(content: .plan(plan)) }
    static func call(_ call: CallDescription) -> _PlanNode { _PlanNode(content: .call(call)) }
}

/// A plan that may be missing: nil is done at once, with nil as its output.
extension Optional: Plan where Wrapped: Plan {
    public typealias Output = Wrapped.Output?

    public var chain: Chain<Wrapped.Output?> {
        switch self {
        case .some(let plan): plan.chain.map { .some($0) }
        case .none: .value(nil)
        }
    }
}
