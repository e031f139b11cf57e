/// One run of a plan: its result, those who wait for it, and its place in the registry.
package final class RunCore: PlanOwner {
    private struct State {
        var result: Result<any Sendable, BatonError>?
        var root: ChainJob?
        var isCancelled = false
        var waiters: [CheckedContinuation<Result<any Sendable, BatonError>, Never>] = []
        var completion: (@Sendable (Result<any Sendable, BatonError>) -> Void)?
        var listeners: [AsyncStream<RunProgress>.Continuation] = []
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
    func start(_ node: _PlanNode) {
        let root = ChainJob(run: self, owner: self, lane: 0, node: node)
        state.withLock { $0.root = root }
        probe?.note(.runBegan(id, root: root))
        engine.add(self)
        events?.append(.runStarted(RunEvent(run: id, instant: engine.scheduler.now)))
        if let fault = settings.fault {
            // Reported like every other end: asynchronously and once.
            root.fail(with: fault)
        }
        engine.scheduler.execute(root, .start)
    }

    package func cancel() {
        let root: ChainJob? = state.withLock { state in
            guard state.result == nil, !state.isCancelled else { return nil }
            state.isCancelled = true
            return state.root
        }
        guard let root else { return }
        engine.scheduler.post(root, .cancel)
        probe?.note(.runCancelled(id))
    }

    func planEnded(_ result: Result<any Sendable, BatonError>, lane: Int) {
        probe?.note(.runEnded(id))
        if let events {
            let error: BatonError? = if case .failure(let error) = result { error } else { nil }
            events.append(.runEnded(RunEvent(run: id, instant: engine.scheduler.now), error: error))
            events.finish { [self] in complete(result) }
        } else {
            complete(result)
        }
    }

    func place(of lane: Int) -> (name: String, owner: (any PlanOwner)?, lane: Int) { ("", nil, 0) }

    private func complete(_ result: Result<any Sendable, BatonError>) {
        engine.remove(self)
        let old = state.withLock { state in
            let old = state
            state = State(result: result)
            return old
        }
        guard old.result == nil else { return }
        probe?.note(.runCompleted(id))
        for listener in old.listeners { listener.finish() }
        for waiter in old.waiters { waiter.resume(returning: result) }
        old.completion?(result)
    }

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

    var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

    func report(_ progress: RunProgress) {
        let listeners = state.withLock { $0.listeners }
        for listener in listeners { listener.yield(progress) }
    }

    var progress: AsyncStream<RunProgress> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let isOver = state.withLock { state in
                if state.result == nil { state.listeners.append(continuation) }
                return state.result != nil
            }
            if isOver { continuation.finish() }
        }
    }
}
