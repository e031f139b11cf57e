/// Something that runs plans: a client, as those know it that stand above it.
public protocol Runner: Sendable {
    /// Runs a plan and waits for what it yields. Cancelling the task cancels the run.
    func run<P: Plan>(_ plan: P) async throws(BatonError) -> P.Output
}

/// What makes the clients that interceptors send other requests through.
package protocol RunnerSource: AnyObject, Sendable {
    /// The client in hand, without an interceptor.
    func runner(without id: InterceptorID?) -> any Runner
}
