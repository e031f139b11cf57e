/// How a chain ends: by its last step, by a failure that nothing recovers, or by a cancel; and what is undone then.
extension ChainJob {
    /// Where the plans run that undo things.
    static let undoLane = -1

    // MARK: Cancelling

    /// The step under way is stopped; its end, or the interpreter, ends the chain. Undos are not reached.
    func takeNote(_ walk: inout CancellationWalk) {
        let reason = walk.reason
        let stopped: (child: (any Cancellable)?, Task<Void, Never>?, TimerHandle?, Registers?) = state.withLock {
            state in
            guard state.phase == .running || state.phase == .waiting, !state.isCancelled else {
                return (nil, nil, nil, nil)
            }
            state.cancellation = reason
            guard state.phase == .waiting, state.child == nil, state.arrival == nil else {
                return (state.child, state.task, nil, nil)
            }
            // Nobody else will end it: an async closure need not heed its cancellation.
            var registers = Registers()
            swap(&registers, &state.registers)
            defer { (state.isAside, state.phase, state.timer) = (false, .running, nil) }
            return (nil, state.task, state.timer, registers)
        }
        let (child, task, timer, ending) = stopped
        if let child { walk.rest.append(child) }
        if task == nil, timer == nil, ending == nil { return }
        walk.actions.append { [self] in
            task?.cancel()
            if let timer { scheduler.cancel(timer) }
            if var ending { fail(reason, &ending) }
        }
    }

    // MARK: Deadlines and tags

    /// A part with a deadline or a tag can be ended from outside, from now on.
    func guardFence() {
        guard isFence else { return }
        state.withLock { state in
            // Cancelled before it began, it has ended: nobody would take its name off the list.
            guard state.phase == .waiting else { return }
            if let tag { run.engine.tags.add(self, tag) }
            guard let deadline = scope?.deadline else { return }
            state.deadlineTimer = scheduler.schedule(self, Signal(kind: Self.deadline), at: deadline)
        }
    }

    func deadlinePassed() {
        state.withLock { $0.deadlineTimer = nil }
        let error = BatonError(.deadlineExceeded, "the plan was not done within its deadline")
        Cancellation.begin(at: self, because: error, scheduler)
    }

    // MARK: Failing

    /// Looks for a step that recovers the failure. Where there is none, undoes what was done and ends the chain.
    func fail(_ error: BatonError, _ registers: inout Registers) {
        var error = error.with(path: path(registers))
        if let outermost = registers.frames.first, outermost.count > 1 {
            error.storage.completed = registers.completed
        }
        if !error.isCancelled, recover(error, &registers) { return }
        let undos = registers.undos
        registers = Registers()
        if undos.isEmpty { return end(.failure(error)) }
        state.withLock { state in
            (state.phase, state.failure, state.undos, state.child) = (.undoing, error, undos, nil)
        }
        scheduler.execute(self, Signal(kind: Self.undo))
    }

    private func recover(_ error: BatonError, _ registers: inout Registers) -> Bool {
        // Past its deadline nothing is begun any more, whether or not the timer has said so yet.
        if let deadline = scope?.deadline, scheduler.now >= deadline { return false }
        while let frame = registers.frames.last {
            for place in frame.next..<max(frame.next, frame.count) {
                guard case .recover(let recover) = frame.steps[place] else { continue }
                registers.frames[registers.frames.count - 1].next = place + 1
                return state.withLock { state in
                    guard !state.isCancelled else { return false }
                    swap(&registers, &state.registers)
                    state.arrival = .failure(error, recover)
                    (state.isAside, state.phase) = (true, .waiting)
                    scheduler.execute(self, .resume)
                    return true
                }
            }
            registers.frames.removeLast()
        }
        return false
    }

    // MARK: Undoing

    /// Undoes the last step that is not undone yet.
    func undoNext() {
        let next: Undo?? = state.withLock { state in
            guard state.phase == .undoing else { return nil }
            return .some(state.undos.popLast())
        }
        guard let next else { return }
        guard let undo = next else {
            let failure = state.withLock { $0.failure } ?? CallJob.cancelled
            return end(.failure(failure))
        }
        do {
            let node = try UserCode.call(scheduler) { try undo.derive.derive(undo.value, run.settings.context) }
            let scope = PlanScope(
                options: RequestOptions(), deadline: scheduler.now.advanced(by: undo.deadline), isUndo: true)
            let job = ChainJob(
                run: run, owner: self, lane: Self.undoLane, isNested: true, scope: scope, isFence: true, node: node)
            scheduler.execute(job, .start)
        } catch {
            undone(.failure(.wrapping(error, as: .deriveFailed, "the closure of an undo threw an error")))
        }
    }

    func undone(_ result: Result<any Sendable, BatonError>) {
        if case .failure(let error) = result {
            state.withLock { $0.failure?.storage.undoFailures.append(error) }
        }
        scheduler.execute(self, Signal(kind: Self.undo))
    }

    // MARK: Ending

    /// - Parameter undos: what can be undone of it, if it succeeded.
    func end(_ result: Result<any Sendable, BatonError>, undos: [Undo] = []) {
        let ended: (owner: (any PlanOwner)?, CallJob?, BatonError?, TimerHandle?)? = state.withLock { state in
            // The cancel came after the last step: what was done is undone all the same.
            if var cancellation = state.cancellation, case .success(let value) = result, !undos.isEmpty {
                cancellation.storage.report = value
                (state.phase, state.failure, state.undos, state.child) = (.undoing, cancellation, undos, nil)
                return nil
            }
            defer {
                (state.phase, state.owner, state.call, state.child, state.task) = (.ended, nil, nil, nil, nil)
                (state.deadlineTimer, state.failure) = (nil, nil)
            }
            return (state.owner, state.call, state.cancellation, state.deadlineTimer)
        }
        guard let (owner, call, cancellation, timer) = ended else {
            return scheduler.execute(self, Signal(kind: Self.undo))
        }
        call?.retire()
        if let timer { scheduler.cancel(timer) }
        if let tag { run.engine.tags.remove(self, tag) }
        if var cancellation, case .success(let value) = result {
            // If the last step was a batch, this is what it had done.
            cancellation.storage.report = value
            owner?.planEnded(.failure(cancellation), lane: lane)
        } else {
            if !undos.isEmpty { owner?.keep(undos, lane: lane) }
            owner?.planEnded(result, lane: lane)
        }
    }
}
