public import Dispatch

extension Client {
    /// Runs a plan and waits for what it yields. Cancelling the task cancels the run.
    public func run<P: Plan>(_ plan: P) async throws(BatonError) -> P.Output {
        let core = launch(plan, isCancelled: Task.isCancelled)
        let result = await withTaskCancellationHandler {
            await core.result
        } onCancel: {
            core.cancel()
        }
        return try Run<P.Output>.typed(result)
    }

    /// Starts a plan and returns at once. Dropping the handle does nothing to the run.
    @discardableResult
    public func start<P: Plan>(_ plan: P) -> Run<P.Output> {
        Run(launch(plan))
    }

    /// Starts a plan; `completion` is called once, on the main actor.
    @discardableResult
    public func start<P: Plan>(
        _ plan: P, completion: @escaping @MainActor @Sendable (Result<P.Output, BatonError>) -> Void
    ) -> Run<P.Output> {
        start(plan, on: .main) { result in
            MainActor.assumeIsolated { completion(result) }
        }
    }

    /// Starts a plan; `completion` is called once, on `queue`.
    @discardableResult
    public func start<P: Plan>(
        _ plan: P, on queue: DispatchQueue,
        completion: @escaping @Sendable (Result<P.Output, BatonError>) -> Void
    ) -> Run<P.Output> {
        let scheduler = engine.scheduler
        return Run(
            launch(plan) { result in
                scheduler.deliver(on: queue) { completion(Run<P.Output>.result(result)) }
            })
    }

    private func launch<P: Plan>(
        _ plan: P, isCancelled: Bool = false, completion: (@Sendable (Result<any Sendable, BatonError>) -> Void)? = nil
    ) -> RunCore {
        let run = RunCore(engine: engine, settings: settings, completion: completion)
        run.start(.plan(plan), isCancelled: isCancelled)
        return run
    }
}
