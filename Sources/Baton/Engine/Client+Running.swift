public import Dispatch

extension Client {
    /// Runs a plan and waits for what it yields. Cancelling the task cancels the run.
    public func run<P: Plan>(_ plan: P) async throws(BatonError) -> P.Output {
        let core = prepare(plan)
        let result = await withTaskCancellationHandler {
            // The task waits, and its thread is no actor's: a request may as well leave from here. What has closures of the
            // user's, which may block, begins on a worker.
            core.start(.plan(plan), isHere: plan is any Request)
            return await core.result
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
        completion: (@Sendable (Result<any Sendable, BatonError>) -> Void)? = nil
    ) -> RunCore {
        let run = prepare(plan, in: scope, keepsTrace: keepsTrace, completion: completion)
        scope?.add(run)
        run.start(.plan(plan), isCancelled: isCancelled)
        return run
    }

    /// A run of the plan that has not begun; it may be cancelled already.
    private func prepare<P: Plan>(
        _ plan: P, in scope: CancellationScope? = nil, keepsTrace: Bool = false,
        completion: (@Sendable (Result<any Sendable, BatonError>) -> Void)? = nil
    ) -> RunCore {
        RunCore(
            engine: engine, settings: settings, scope: scope, keepsTrace: keepsTrace,
            presentation: settings.observers.isEmpty ? nil : plan.ownPresentation, completion: completion)
    }
}
