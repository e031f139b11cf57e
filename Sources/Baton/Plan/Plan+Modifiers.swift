/// Options for a part of a plan. The nearest to a request holds; what a request says itself is nearer still.
extension Plan {
    /// How long each attempt within the plan may take, from the moment it has its slot.
    public func timeout(_ timeout: Duration) -> Chain<Output> {
        scoped { $0.timeout = timeout }
    }

    /// Whether and when requests within the plan are sent again.
    public func retry(_ policy: RetryPolicy) -> Chain<Output> {
        scoped { $0.retry = policy }
    }

    /// How long the plan may take in all, from the moment it begins; then it ends with `deadlineExceeded`, and what is
    /// under way in it is cancelled. Plans within it inherit the earlier deadline.
    public func deadline(_ deadline: Duration) -> Chain<Output> {
        scoped { $0.deadline = deadline }
    }

    /// How urgent requests within the plan are among those that wait for a slot.
    public func priority(_ priority: Priority) -> Chain<Output> {
        scoped { $0.priority = priority }
    }

    /// Names the plan, so that it can be cancelled wherever it runs, with `Client.cancel(tag:)`.
    public func tag(_ tag: String) -> Chain<Output> {
        scoped { $0.tag = tag }
    }

    /// Whether a second copy is sent of requests within the plan that take long.
    public func hedging(_ hedging: Hedging) -> Chain<Output> {
        scoped { $0.hedging = hedging }
    }

    /// Whether identical safe requests within the plan that are under way at the same time are sent once.
    public func coalescing(_ coalescing: Coalescing) -> Chain<Output> {
        scoped { $0.coalescing = coalescing }
    }

    /// Which responses to requests within the plan are accepted.
    public func validation(_ validation: Validation) -> Chain<Output> {
        scoped { $0.validation = validation }
    }

    /// What the server wraps its answers to requests within the plan in.
    public func envelope(_ envelope: Envelope) -> Chain<Output> {
        scoped { $0.envelope = envelope }
    }

    /// What is done about redirects of requests within the plan.
    public func redirects(_ redirects: Redirects) -> Chain<Output> {
        scoped { $0.redirects = redirects }
    }

    /// How many bytes of each response within the plan are kept in memory at most.
    public func maxResponseBytes(_ limit: Int) -> Chain<Output> {
        scoped { $0.maxResponseBytes = limit }
    }

    /// Which kinds of networks requests within the plan do not use.
    public func avoidedNetworks(_ kinds: NetworkKinds) -> Chain<Output> {
        scoped { $0.avoidedNetworks = kinds }
    }

    /// Which interceptors stand around requests within the plan.
    public func interceptors(_ selection: InterceptorSelection) -> Chain<Output> {
        scoped { $0.interceptors = selection }
    }

    /// Where and whether it is shown that a run of the plan is loading or has failed. The outermost holds.
    public func presentation(_ presentation: Presentation) -> Chain<Output> {
        scoped { $0.presentation = presentation }
    }

    /// What the plan says about how a run of it is shown; nil where it says nothing.
    package var ownPresentation: Presentation? {
        if let request = self as? any Request { return request.options.presentation }
        guard let chain = self as? Chain<Output>, case .scoped(let part) = chain.node.content else { return nil }
        return part.options.presentation
    }

    private func scoped(_ change: (inout RequestOptions) -> Void) -> Chain<Output> {
        var options = RequestOptions()
        change(&options)
        return Chain(node: _PlanNode(content: .scoped(ScopedPlan(options, chain.node))))
    }
}

/// A part of a plan with options of its own.
@usableFromInline
package final class ScopedPlan: Sendable {
    package let options: RequestOptions
    /// One step, because steps are released without recursion.
    private let steps: ChainSteps

    init(_ options: RequestOptions, _ node: _PlanNode) {
        self.options = options
        steps = ChainSteps([.start(node)])
    }

    package var node: _PlanNode { _PlanNode(content: .steps(steps, count: 1)) }
}
