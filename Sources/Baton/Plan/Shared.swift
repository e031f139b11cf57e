extension Plan {
    /// The plan as a part that others depend on: within one run it runs once, however many wait for it.
    ///
    /// ```swift
    /// let session = SignIn(user: "ada", password: secret).shared()
    /// zip(session.then { GetProfile($0) }, session.then { GetCart($0) })     // one sign-in
    /// ```
    /// It is made what it is by this call: two calls are two plans. Its success is kept for the run. A failure reaches
    /// those who wait for it then, and is forgotten: who comes later runs it again. When one of those who wait is
    /// cancelled, the others still get what they wait for.
    public func shared() -> Chain<Output> {
        Chain(node: _PlanNode(content: .shared(SharedPlan(chain.node))))
    }
}

/// A plan with an identity.
@usableFromInline
package final class SharedPlan: Sendable {
    /// One step, because steps are released without recursion.
    private let steps: ChainSteps

    init(_ node: _PlanNode) {
        steps = ChainSteps([.start(node)])
    }

    package var node: _PlanNode { _PlanNode(content: .steps(steps, count: 1)) }
}
