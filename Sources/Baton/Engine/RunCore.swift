/// One run of a plan: its result, those who wait for it, and its place in the registry.
package final class RunCore: PlanOwner, Job {
    private struct State {
        var result: Result<any Sendable, BatonError>?
        /// The result on its way: nobody hears of it before the jobs that brought it about are gone.
        var ending: Result<any Sendable, BatonError>?
        var root: ChainJob?
        var isCancelled = false
        var waiters: [CheckedContinuation<Result<any Sendable, BatonError>, Never>] = []
        var completion: (@Sendable (Result<any Sendable, BatonError>) -> Void)?
        /// Whether somebody reads the progress.
        var isHeard = false
        var progress = RunProgress()
        /// Tells a later report from an earlier one; 0 as long as there is none.
        var reported: UInt64 = 0
        var readers: [UInt64: CheckedContinuation<Void, Never>] = [:]
        /// Readers whose task was cancelled before they came to wait.
        var cancelledReaders: Set<UInt64> = []
    }

    package let id = Numbering.next()
    package let engine: Engine
    let settings: Settings
    let events: EventQueue?
    let probe: (any EngineProbe)?
    private let state: LockBox<State>

    init(
        engine: Engine, settings: Settings, completion: (@Sendable (Result<any Sendable, BatonError>) -> Void)?
    ) {
        self.engine = engine
        self.settings = settings
        probe = engine.probe
        events = settings.observers.isEmpty ? nil : EventQueue(settings.observers, engine.scheduler)
        state = LockBox(State(completion: completion))
    }

    /// Begins, on another thread than the caller's.
    ///
    /// - Parameter isCancelled: whether the run was cancelled before it began; then it only ends.
    func start(_ node: _PlanNode, isCancelled: Bool = false) {
        let root = ChainJob(run: self, owner: self, lane: 0, isNested: false, node: node)
        state.withLock { $0.root = root }
        probe?.note(.runBegan(id, root: root))
        engine.add(self)
        events?.append(.runStarted(RunEvent(run: id, instant: engine.scheduler.now)))
        // Reported like every other end: asynchronously and once.
        if let fault = settings.fault {
            root.fail(with: fault)
        } else if isCancelled {
            root.fail(with: CallJob.cancelled)
        }
        engine.scheduler.execute(root, .start)
    }

    /// Stops the run: when this returns, nothing more is sent and no closure is called.
    package func cancel() {
        let root: ChainJob? = state.withLock { state in
            guard state.result == nil, !state.isCancelled else { return nil }
            state.isCancelled = true
            return state.root
        }
        guard let root else { return }
        Cancellation.begin(at: root, engine.scheduler)
        probe?.note(.runCancelled(id))
    }

    // MARK: Ending

    func planEnded(_ result: Result<any Sendable, BatonError>, lane: Int) {
        probe?.note(.runEnded(id))
        state.withLock { state in
            if state.ending == nil { state.ending = result }
        }
        guard let events else { return engine.scheduler.post(self, .resume) }
        let error: BatonError? = if case .failure(let error) = result { error } else { nil }
        events.append(.runEnded(RunEvent(run: id, instant: engine.scheduler.now), error: error))
        events.finish { [self] in engine.scheduler.post(self, .resume) }
    }

    package func run(_ signal: Signal) { complete() }

    private func complete() {
        engine.remove(self)
        let old: State? = state.withLock { state in
            guard state.result == nil, let ending = state.ending else { return nil }
            let old = state
            state = State(result: ending, progress: old.progress, reported: old.reported)
            return old
        }
        guard let old, let result = old.ending else { return }
        probe?.note(.runCompleted(id))
        for reader in old.readers.values { reader.resume() }
        for waiter in old.waiters { waiter.resume(returning: result) }
        old.completion?(result)
    }

    func place(of lane: Int) -> (name: String, owner: (any PlanOwner)?, lane: Int) { ("", nil, 0) }

    package var result: Result<any Sendable, BatonError> {
        get async {
            await engine.scheduler.waiting {
                await withCheckedContinuation { continuation in
                    let result = state.withLock { state in
                        if state.result == nil { state.waiters.append(continuation) }
                        return state.result
                    }
                    if let result { continuation.resume(returning: result) }
                }
            }
        }
    }

    // MARK: Progress

    /// Whether somebody reads the progress; otherwise it need not be reported.
    var isHeard: Bool { state.withLock { $0.isHeard } }

    /// Takes a report, unless a later one has overtaken it.
    func report(_ progress: RunProgress, number: UInt64) {
        let readers = state.withLock { state in
            guard state.result == nil, number > state.reported else {
                return [UInt64: CheckedContinuation<Void, Never>]()
            }
            state.progress = progress
            state.reported = number
            defer { state.readers = [:] }
            return state.readers
        }
        for reader in readers.values { reader.resume() }
    }

    /// The newest report each time it is asked for, so that readers are never behind, and see the last one.
    var progress: AsyncStream<RunProgress> {
        state.withLock { if $0.result == nil { $0.isHeard = true } }
        let seen = LockBox<UInt64>(0)
        return AsyncStream { [self] in
            while !Task.isCancelled {
                let last = seen.withLock { $0 }
                let (progress, number, isOver) = state.withLock { ($0.progress, $0.reported, $0.result != nil) }
                if number > last {
                    seen.withLock { $0 = number }
                    return progress
                }
                if isOver { return nil }
                await news(after: last)
            }
            return nil
        }
    }

    /// Waits until there is a later report than that, the run is over, or the task is cancelled.
    private func news(after number: UInt64) async {
        let reader = Numbering.next()
        await engine.scheduler.waiting {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let waits = state.withLock { state in
                        guard state.result == nil, state.reported <= number,
                            state.cancelledReaders.remove(reader) == nil
                        else { return false }
                        state.readers[reader] = continuation
                        return true
                    }
                    if !waits { continuation.resume() }
                }
            } onCancel: {
                let continuation = state.withLock { state in
                    let continuation = state.readers.removeValue(forKey: reader)
                    if continuation == nil { state.cancelledReaders.insert(reader) }
                    return continuation
                }
                continuation?.resume()
            }
        }
        state.withLock { _ = $0.cancelledReaders.remove(reader) }
    }
}
