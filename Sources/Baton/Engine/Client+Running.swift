public import Dispatch

extension Client {
    /// Runs a plan and waits for what it yields. Cancelling the task cancels the run.
    public func run<P: Plan>(_ plan: P) async throws(BatonError) -> P.Output {
        // This runs on a thread of Swift's pool, and waits: a request may as well leave from here. What has closures of the
        // user's, which may block, begins on a worker.
        let core = launch(plan, isCancelled: Task.isCancelled, isHere: plan is any Request)
        let result = await withTaskCancellationHandler {
            await core.result
        } onCancel: {
            core.cancel()
        }
        return try Run<P.Output>.typed(result)
    }

    /// Starts a plan and returns at once. Dropping the handle does nothing to the run; a scope that is released stops it.
    @discardableResult
    public func start<P: Plan>(_ plan: P, in scope: CancellationScope? = nil) -> Run<P.Output> {
        Run(launch(plan, in: scope, keepsTrace: true))
    }

    /// Starts a plan; `completion` is called once, on the main actor, also when the run is cancelled.
    ///
    /// - Parameter scope: when it is released, the run is cancelled. Default: nothing stops it but `cancel`.
    @discardableResult
    public func start<P: Plan>(
        _ plan: P, in scope: CancellationScope? = nil,
        completion: @escaping @MainActor @Sendable (Result<P.Output, BatonError>) -> Void
    ) -> Run<P.Output> {
        start(plan, on: .main, in: scope) { result in
            MainActor.assumeIsolated { completion(result) }
        }
    }

    /// Starts a plan; `completion` is called once, on `queue`, also when the run is cancelled.
    ///
    /// - Parameter scope: when it is released, the run is cancelled. Default: nothing stops it but `cancel`.
    @discardableResult
    public func start<P: Plan>(
        _ plan: P, on queue: DispatchQueue, in scope: CancellationScope? = nil,
        completion: @escaping @Sendable (Result<P.Output, BatonError>) -> Void
    ) -> Run<P.Output> {
        let scheduler = engine.scheduler
        return Run(
            launch(plan, in: scope, keepsTrace: true) { result in
                scheduler.deliver(on: queue) { completion(Run<P.Output>.result(result)) }
            })
    }

    func launch<P: Plan>(
        _ plan: P, in scope: CancellationScope? = nil, isCancelled: Bool = false, keepsTrace: Bool = false,
        isHere: Bool = false, completion: (@Sendable (Result<any Sendable, BatonError>) -> Void)? = nil
    ) -> RunCore {
        let run = RunCore(
            engine: engine, settings: settings, scope: scope, keepsTrace: keepsTrace,
            presentation: settings.observers.isEmpty ? nil : plan.ownPresentation, completion: completion)
        scope?.add(run)
        run.start(.plan(plan), isCancelled: isCancelled, isHere: isHere)
        return run
    }
}
