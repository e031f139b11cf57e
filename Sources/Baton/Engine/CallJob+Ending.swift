/// How a call ends: what it leaves behind, and what a cancel stops.
extension CallJob {
    /// The attempts of the latest use, where there was more than one; for its owner, until it is used again.
    var records: [AttemptRecord] { state.withLock { $0.records } }

    /// How long its latest attempt waited for slots.
    var slotWait: Duration? { state.withLock { $0.slotWait } }

    static var cancelled: BatonError { BatonError(.cancelled, "the run was cancelled") }

    /// Ends the call, once, and tells its owner. The token says that nobody else did meanwhile.
    func finish(_ result: Result<HTTPResponse, BatonError>, _ token: UInt64) {
        let ending: Ending? = state.withLock { state in
            guard state.phase != .idle, state.token == token else { return nil }
            return end(&state)
        }
        if let ending { tell(ending, result) }
    }

    /// What a call leaves behind; released outside the lock. It is handed on, and never copied.
    struct Ending: ~Copyable {
        var owner: any CallOwner
        var lane: Int
        var item: BatchJob.Item
        var attempts: Int
        var original: CallDescription?
        var subject: AttemptEvent.Subject?
        var records: [AttemptRecord]
        var reading: ResponseReading?
        /// Whether the call was the whole way.
        var isWhole: Bool
        /// What else is released: what travelled in place of the original, or that and more.
        var remains: AnyObject?

        /// As its owner is told.
        var told: CallEnd {
            CallEnd(lane: lane, item: item, output: original?.output ?? EmptyResponse.self, attempts: attempts)
        }
    }

    /// What few calls have to leave behind.
    final class Remains {
        private let changed: CallDescription?
        private let options: RequestOptions
        private let stack: InterceptorStack?
        private let scope: PlanScope?
        private let transmission: (any Transmission)?
        private let reply: Result<HTTPResponse, BatonError>?
        private let task: Task<Void, Never>?

        init(_ state: inout State) {
            (options, changed, stack) = (state.options, state.changed.take(), state.stack.take())
            (scope, transmission) = (state.scope.take(), state.transmission.take())
            (reply, task) = (state.reply.take(), state.task.take())
            state.options = RequestOptions()
        }
    }

    /// Makes the call ready for its next use.
    func end(_ state: inout State) -> Ending? {
        // Moved out rather than copied: this is done for each request.
        guard let owner = state.owner.take() else { return nil }
        let isWhole = state.layers == .all
        let reading = isWhole ? settings.reading(for: state.options) : nil
        let ending = Ending(
            owner: owner, lane: state.lane, item: state.item, attempts: state.attempt, original: state.original.take(),
            subject: state.subject.take(), records: state.records.isEmpty ? [] : state.records, reading: reading,
            isWhole: isWhole,
            remains: state.leavesMore ? Remains(&state) : state.changed.take())
        state.phase = .idle
        state.isOpen = false
        state.token &+= 1
        state.ticket = nil
        (state.isParked, state.isReturning) = (false, false)
        if state.hedge != nil { state.hedge = nil }
        if state.key != nil { state.key = nil }
        state.departed = nil
        if state.breaker != nil { state.breaker = nil }
        state.backoff = nil
        if !state.children.isEmpty { state.children = [] }
        state.deadline = .distantFuture
        return ending
    }

    func tell(_ ending: consuming Ending, _ result: Result<HTTPResponse, BatonError>) {
        guard case .failure(let error) = result else {
            if let reading = ending.reading, case .success(var response) = result {
                response.reading = reading
                return ending.owner.callEnded(self, .success(response), ending.told)
            }
            return ending.owner.callEnded(self, result, ending.told)
        }
        if ending.isWhole, let original = ending.original, original.isMoving { original.sink?.callFailed() }
        let explained = error.with(records: ending.records).with(
            path: ending.owner.callPath(lane: ending.lane), attempts: ending.attempts,
            request: ending.original?.request.summary)
        ending.owner.callEnded(self, .failure(explained), ending.told)
    }

    /// The call will not be used again: its timer goes.
    func retire() {
        let (timer, spare) = state.withLock { state in (state.timer.take(), state.spare.take()) }
        if let timer { scheduler.cancel(timer) }
        spare?.retire()
    }

    // MARK: Cancelling

    /// What was under way when a call was cancelled.
    private struct Stopped: Sendable {
        let phase: Phase
        let ticket: RequestQueue.Ticket?
        let transmission: (any Transmission)?
        let backoff: TimerHandle?
        let task: Task<Void, Never>?
        let hedge: TimerHandle?
        let key: CoalescingKey?
        let host: HostID?
        let watch: Watch
        /// The attempt whose end has yet to be told; nil where there is none, or nobody to tell.
        let attempt: AttemptEvent?
        /// The call's token from then on.
        var token: UInt64 = 0

        init(_ state: inout State, attempt: AttemptEvent?) {
            (phase, ticket, transmission) = (state.phase, state.ticket, state.transmission)
            (backoff, task, hedge, key) = (state.backoff, state.task, state.hedge?.timer, state.key)
            (host, watch) = (state.host, state.watch)
            self.attempt = attempt
        }
    }

    func takeNote(_ walk: inout CancellationWalk) {
        let reason = walk.reason
        var children: [CallJob] = []
        let stopped: Stopped? = state.withLock { state in
            guard !state.isCancelled else { return nil }
            state.cancellation = reason
            guard state.phase != .idle else { return nil }
            if state.isReturning { staysAway(&state) }
            children = state.children
            let isAway = state.phase == .inFlight || state.phase == .landed || state.isOpen
            var stopped = Stopped(&state, attempt: isAway ? attemptEvent(&state, at: scheduler.now) : nil)
            // The token changes, so whoever was about to go on with the call finds that it is not theirs any more.
            if state.phase == .inFlight {
                abandon(&state)
            } else {
                state.token &+= 1
                state.phase = .preparing
            }
            stopped.token = state.token
            return stopped
        }
        guard let stopped else { return }
        walk.rest += children
        walk.actions.append { [self] in stop(stopped, because: reason) }
    }

    /// Stops what was under way when the call was cancelled.
    private func stop(_ stopped: Stopped, because reason: BatonError) {
        switch stopped.phase {
        case .waiting:
            // Where there is no ticket yet, whoever brings it takes it back. Where the slot was granted meanwhile, the
            // signal that says so gives it back.
            if let ticket = stopped.ticket { _ = engine.queue.withdraw(ticket) }
        case .inFlight: stopped.transmission?.cancel()
        case .backingOff: stopped.backoff.map(scheduler.cancel)
        case .intercepting: stopped.task?.cancel()
        case .hedging: stopped.hedge.map(scheduler.cancel)
        case .coalescing: if let key = stopped.key { engine.coalescer.leave(key, self) }
        // A reply that has landed is not looked at any more, so its slot is given back here.
        case .landed: if let host = stopped.host { giveBack(host.index) }
        case .returning: break
        case .idle, .preparing: stopped.task?.cancel()
        }
        exchangeEnded(stopped.watch, .failure(BatonError(.cancelled)))
        if let attempt = stopped.attempt { run.events?.append(.attemptEnded(attempt, .failure(reason))) }
        finish(.failure(reason), stopped.token)
    }
}
