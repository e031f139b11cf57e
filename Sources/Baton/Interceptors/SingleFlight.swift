/// Work that is done once for all who want its result at the time: those who come while it is under way wait for it.
///
/// The work runs in a task of its own, so that it does not end with whoever asked first. Its result reaches those who
/// wait and is then forgotten.
final class SingleFlight<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, BatonError>

    private struct State {
        var isUnderWay = false
        var waiters: [UInt64: CheckedContinuation<Outcome?, Never>] = [:]
        /// Waiters whose task was cancelled before they came to wait.
        var cancelled: Set<UInt64> = []
    }

    private enum Move {
        case begin(@Sendable () async -> Outcome)
        case wait
        case leave(Outcome?)
    }

    private let state = LockBox(State())

    /// The result of the work that is under way, or else of `work`; nil where there is neither. Throws `cancelled` as
    /// soon as the task is cancelled; the work goes on.
    func value(
        _ scheduler: any Scheduler, named name: String, work: (@Sendable () async -> Outcome)?
    ) async throws(BatonError) -> Value? {
        let id = Numbering.next()
        let outcome = await scheduler.waiting {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    switch enter(id, continuation, work) {
                    case .begin(let work): _ = scheduler.startTask(name) { [self] in finish(await work()) }
                    case .wait: break
                    case .leave(let outcome): continuation.resume(returning: outcome)
                    }
                }
            } onCancel: {
                leave(id)
            }
        }
        state.withLock { _ = $0.cancelled.remove(id) }
        return try outcome?.get()
    }

    private func enter(
        _ id: UInt64, _ continuation: CheckedContinuation<Outcome?, Never>, _ work: (@Sendable () async -> Outcome)?
    ) -> Move {
        state.withLock { state in
            if state.cancelled.contains(id) { return .leave(.failure(Self.cancelled)) }
            guard state.isUnderWay else {
                guard let work else { return .leave(nil) }
                state.isUnderWay = true
                state.waiters[id] = continuation
                return .begin(work)
            }
            state.waiters[id] = continuation
            return .wait
        }
    }

    private func leave(_ id: UInt64) {
        let waiter = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: id)
            if waiter == nil { state.cancelled.insert(id) }
            return waiter
        }
        waiter?.resume(returning: .failure(Self.cancelled))
    }

    private func finish(_ outcome: Outcome) {
        let waiters = state.withLock { state in
            state.isUnderWay = false
            defer { state.waiters = [:] }
            // In the order in which they came, so that a test's seed decides about everything else.
            return state.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiters { waiter.resume(returning: outcome) }
    }

    private static var cancelled: BatonError { BatonError(.cancelled, "the request was cancelled while it waited") }
}
