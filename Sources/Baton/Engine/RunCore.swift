/// One run of a plan: its result, those who wait for it, and its place in the registry.
package final class RunCore: PlanOwner, Job {
    private struct State {
        var result: Result<any Sendable, BatonError>?
        /// The result on its way: nobody hears of it before the jobs that brought it about are gone.
        var ending: Result<any Sendable, BatonError>?
        var root: ChainJob?
        var isCancelled = false
        var shared: [ObjectIdentifier: SharedJob] = [:]
        /// Whether the run is to be paused, whether the queue was told so, and whether somebody is about to.
        var isPaused = false
        var isHeld = false
        var isTellingQueue = false
        var isShared = false
        var scope = WeakScope()
        /// The outermost batch that is under way, or was last.
        var batch: BatchJob?
        /// What the chain's requests did; nil where nobody can ask for it.
        var trace: RunTrace?
        var waiters: [CheckedContinuation<Result<any Sendable, BatonError>, Never>] = []
        var completion: (@Sendable (Result<any Sendable, BatonError>) -> Void)?
        /// Those who read the progress; nil as long as nobody does.
        var audience: RunAudience?
    }

    private struct WeakScope {
        weak var scope: CancellationScope?
    }

    package let id = Numbering.next()
    package let engine: Engine
    let settings: Settings
    let events: EventQueue?
    private let presentation: Presentation?
    let probe: (any EngineProbe)?
    /// The beginning of the trace; nil where none is kept.
    let traceStart: Instant?
    private let state: LockBox<State>

    init(
        engine: Engine, settings: Settings, scope: CancellationScope? = nil, keepsTrace: Bool = false,
        presentation: Presentation? = nil, completion: (@Sendable (Result<any Sendable, BatonError>) -> Void)?
    ) {
        self.engine = engine
        self.settings = settings
        probe = engine.probe
        traceStart = keepsTrace ? engine.scheduler.now : nil
        self.presentation = presentation
        events = settings.observers.isEmpty ? nil : EventQueue(settings.observers, engine.scheduler)
        state = LockBox(
            State(
                scope: WeakScope(scope: scope), trace: keepsTrace ? RunTrace() : nil, completion: completion))
    }

    /// Begins, on another thread than the caller's unless that may be used.
    ///
    /// - Parameters:
    ///   - isCancelled: whether the run was cancelled before it began; then it only ends.
    ///   - isHere: whether it begins on the caller's thread. Closures that may block are called on a worker all the same.
    func start(_ node: _PlanNode, isCancelled: Bool = false, isShared: Bool = false, isHere: Bool = false) {
        let root = ChainJob(run: self, owner: self, lane: 0, isNested: false, node: node)
        let isCancelled = state.withLock { state in
            state.root = root
            state.isShared = isShared
            return isCancelled || state.isCancelled
        }
        probe?.note(.runBegan(id, root: root))
        if isCancelled { probe?.note(.runCancelled(id)) }
        engine.add(self)
        events?.append(.runStarted(RunEvent(run: id, instant: engine.scheduler.now, presentation: presentation)))
        // Reported like every other end: asynchronously and once.
        if let fault = settings.fault {
            root.fail(with: fault)
        } else if isCancelled {
            root.fail(with: CallJob.cancelled)
        }
        if isHere { engine.scheduler.post(root, .start) } else { engine.scheduler.execute(root, .start) }
    }

    /// Stops the run: when this returns, nothing more is sent and no closure is called.
    package func cancel(because reason: BatonError = CallJob.cancelled) {
        let jobs: [ChainJob] = state.withLock { state in
            guard state.result == nil, !state.isCancelled else { return [] }
            state.isCancelled = true
            return [state.root].compactMap { $0 } + state.shared.values.compactMap(\.running)
        }
        guard !jobs.isEmpty else { return }
        Cancellation.begin(at: jobs, because: reason, engine.scheduler)
        probe?.note(.runCancelled(id))
        // Undos are sent also where the run was paused; nothing else is any more.
        setPaused(false)
    }

    /// Undos of shared parts belong to the whole.
    func keep(_ undos: [ChainJob.Undo], lane: Int) {
        let root = state.withLock { $0.root }
        root?.keep(undos, lane: 0)
    }

    /// Whether it was cancelled, however far that has come.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// The one job of this run for a shared part.
    func shared(_ part: SharedPlan) -> SharedJob {
        state.withLock { state in
            if let job = state.shared[ObjectIdentifier(part)] { return job }
            let job = SharedJob(part, of: self)
            state.shared[ObjectIdentifier(part)] = job
            return job
        }
    }

    /// Whether it carries a request for several others; those are not coalesced again.
    var isShared: Bool { state.withLock { $0.isShared } }

    // MARK: Pausing, and the batch that is under way

    /// What is in flight goes on; nothing new is sent until `resume`.
    package func pause() { setPaused(true) }

    package func resume() { setPaused(false) }

    /// Says what is wanted, and tells the queue unless somebody is about to: one at a time, so that of two calls at the
    /// same time the queue hears the later one last.
    private func setPaused(_ isPaused: Bool) {
        let tells = state.withLock { state in
            if isPaused, state.result != nil || state.isCancelled { return false }
            state.isPaused = isPaused
            guard !state.isTellingQueue, state.isPaused != state.isHeld else { return false }
            state.isTellingQueue = true
            return true
        }
        guard tells else { return }
        while true {
            let news: Bool? = state.withLock { state in
                guard state.isPaused != state.isHeld else {
                    state.isTellingQueue = false
                    return nil
                }
                state.isHeld = state.isPaused
                return state.isHeld
            }
            switch news {
            case nil: return
            case true?: engine.queue.pause(run: id)
            case false?: engine.queue.resume(run: id)
            }
        }
    }

    /// Whether its progress is read already.
    func adopt(_ batch: BatchJob) -> Bool {
        state.withLock { state in
            state.batch = batch
            return state.audience != nil
        }
    }

    var batch: BatchJob? { state.withLock { $0.batch } }

    // MARK: Ending

    func planEnded(_ result: Result<any Sendable, BatonError>, lane: Int) {
        probe?.note(.runEnded(id))
        let audience = state.withLock { state in
            if state.ending == nil { state.ending = result }
            return state.audience
        }
        audience?.close()
        guard let events else { return engine.scheduler.post(self, .resume) }
        let event = RunEvent(run: id, instant: engine.scheduler.now, presentation: presentation)
        events.append(.runEnded(event, error: result.error))
        events.finish { [self] in engine.scheduler.post(self, .resume) }
    }

    package func run(_ signal: Signal) { complete() }

    private func complete() {
        engine.remove(self)
        let old: State? = state.withLock { state in
            guard state.result == nil, let ending = state.ending else { return nil }
            let old = state
            state = State(result: ending, trace: old.trace, audience: old.audience)
            (state.isPaused, state.isHeld, state.isTellingQueue) = (old.isPaused, old.isHeld, old.isTellingQueue)
            return old
        }
        guard let old, let result = old.ending else { return }
        old.scope.scope?.remove(id)
        setPaused(false)
        let orphans = old.shared.values.compactMap(\.running)
        if !orphans.isEmpty { Cancellation.begin(at: orphans, engine.scheduler) }
        probe?.note(.runCompleted(id))
        old.audience?.finish()
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

    // MARK: The trace

    func note(_ step: RunTrace.Step) { state.withLock { $0.trace?.add(step) } }

    var trace: RunTrace { state.withLock { $0.trace } ?? RunTrace() }

    // MARK: Progress

    /// Whether somebody reads the progress; otherwise it need not be reported.
    var isHeard: Bool { state.withLock { $0.audience != nil } }

    /// Takes a report, unless a later one has overtaken it.
    func report(_ progress: RunProgress, number: UInt64) {
        state.withLock { $0.audience }?.report(progress, number: number)
    }

    /// Takes note of a body that moves.
    func note(
        _ direction: TransferProgress.Direction, _ bytes: Int64, of total: Int64?, attempt: Int,
        exchange: TransferMeter.Exchange, at now: Instant
    ) {
        let audience = state.withLock { $0.audience }
        audience?.note(direction, bytes, of: total, attempt: attempt, exchange: exchange, at: now)
    }

    /// The newest report each time it is asked for, so that readers are never behind, and see the last one.
    var progress: AsyncStream<RunProgress> {
        let (audience, batch): (RunAudience, BatchJob?) = state.withLock { state in
            let audience = state.audience ?? RunAudience(engine.scheduler, isOver: state.result != nil)
            state.audience = audience
            return (audience, state.batch)
        }
        batch?.listen()
        return audience.progress
    }
}
