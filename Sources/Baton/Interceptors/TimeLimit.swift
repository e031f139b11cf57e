/// Work that may take so long and no longer: when its time is over its task is cancelled, and whoever waits goes on without
/// it, whether or not the work heeds that.
final class TimeLimit<Value: Sendable>: Job {
    typealias Outcome = Result<Value, any Error>

    private struct State {
        var continuation: CheckedContinuation<Outcome, Never>?
        var task: Task<Void, Never>?
        var timer: TimerHandle?
        var isOver = false
    }

    private let state = LockBox(State())
    private let scheduler: any Scheduler
    private let limit: Duration

    private init(_ scheduler: any Scheduler, _ limit: Duration) {
        self.scheduler = scheduler
        self.limit = limit
    }

    /// What the work yields; throws what it throws, or `timedOut`. The work does not end with the task that waits.
    static func run(
        _ scheduler: any Scheduler, _ limit: Duration, named name: String,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let run = TimeLimit(scheduler, limit)
        let outcome = await scheduler.waiting {
            await withCheckedContinuation { continuation in run.begin(continuation, name, work) }
        }
        return try outcome.get()
    }

    private func begin(
        _ continuation: CheckedContinuation<Outcome, Never>, _ name: String,
        _ work: @escaping @Sendable () async throws -> Value
    ) {
        state.withLock { state in
            state.continuation = continuation
            state.timer = scheduler.schedule(self, Signal(kind: 0), at: scheduler.now.advanced(by: limit))
        }
        let task = scheduler.startTask(name) { [self] in
            let outcome: Outcome
            do { outcome = .success(try await work()) } catch { outcome = .failure(error) }
            end(outcome)
        }
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    func run(_ signal: Signal) {
        end(.failure(BatonError(.timedOut, "it was not done within \(limit)")))
    }

    private func end(_ outcome: Outcome) {
        let old = state.withLock { state in
            let old = state
            state = State(isOver: true)
            return old
        }
        if let timer = old.timer { scheduler.cancel(timer) }
        old.task?.cancel()
        old.continuation?.resume(returning: outcome)
    }
}
