/// The handle of a plan that was started.
///
/// Dropping it does nothing: the run goes on and its completion is called.
public struct Run<Output: Sendable>: Sendable {
    package let core: RunCore

    package init(_ core: RunCore) {
        self.core = core
    }

    /// The run's number, unique in the process; events name it.
    public var id: UInt64 { core.id }

    /// What the plan yields, as soon as it is there. Any number of callers may wait. Cancelling a task that waits does
    /// not cancel the run.
    public var value: Output {
        get async throws(BatonError) { try Self.typed(await core.result) }
    }

    /// Stops the run: nothing more is sent, waits end, and it completes as cancelled. Safe at any time, and often.
    public func cancel() {
        core.cancel()
    }

    /// Holds the run up: what is in flight finishes, nothing new is sent. Deadlines run on.
    public func pause() { core.pause() }

    /// Goes on after `pause`.
    public func resume() { core.resume() }

    /// Changes how many items of the batch that is under way run at once, at least 1: a raise begins more at once, a cut
    /// lets those under way end. Without a batch under way it does nothing. Of nested batches, the outermost is meant.
    public func setMaxConcurrency(_ limit: Int) { core.batch?.setLimit(limit) }

    /// Cancels one item of the batch that is under way; its outcome is `cancelled`, and the batch goes on.
    public func cancelItem(_ index: Int) { core.batch?.cancelItem(index) }

    /// How far the run is, each time that changes; it ends with the run. A slow reader sees the newest only. What moves
    /// is measured from the moment on at which this is asked for.
    public var progress: AsyncStream<RunProgress> { core.progress }

    /// What the requests of the plan's chain did so far, step by step.
    public var trace: RunTrace { core.trace }

    static func typed(_ result: Result<any Sendable, BatonError>) throws(BatonError) -> Output {
        try Self.result(result).get()
    }

    static func result(_ result: Result<any Sendable, BatonError>) -> Result<Output, BatonError> {
        result.flatMap { value in
            guard let value = Erased.value(value, as: Output.self) else {
                return .failure(BatonError(.deriveFailed, "the plan yielded no \(Output.self)"))
            }
            return .success(value)
        }
    }
}
