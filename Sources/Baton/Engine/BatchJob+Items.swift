/// How items end.
extension BatchJob {
    func callEnded(_ call: CallJob, _ result: Result<HTTPResponse, BatonError>, _ end: CallEnd) {
        switch result {
        case .failure(let error):
            let isKept = state.withLock { $0.lanes[end.lane].call === call }
            settle(error, in: end.lane, attempts: end.attempts)
            if !isKept { call.retire() }
        case .success(let response):
            if !result.isSmall {
                state.withLock { $0.lanes[end.lane].undecoded = (response, end) }
                return scheduler.execute(self, Signal(kind: Self.decode, value: Int32(end.lane)))
            }
            read(response, end)
        }
    }

    func planEnded(_ result: Result<any Sendable, BatonError>, lane: Int) {
        switch result {
        case .success(let value): settle(value, in: lane, attempts: 1)
        case .failure(let error): settle(error, in: lane, attempts: 1)
        }
    }

    func decode(lane: Int) {
        let undecoded = state.withLock { $0.lanes[lane].undecoded.take() }
        if let (response, end) = undecoded { read(response, end) }
    }

    private func read(_ response: HTTPResponse, _ end: CallEnd) {
        do throws(BatonError) {
            let value = try ResponseReader.read(end.output, from: response, in: run.settings.context)
            settle(value, of: end.item, in: end.lane, attempts: end.attempts)
        } catch {
            settle(error.with(path: path(of: end.lane)), in: end.lane, attempts: end.attempts)
        }
    }

    /// An item has its value.
    ///
    /// - Parameter goesOn: false where the caller goes on with what is next.
    func settle(_ value: any Sendable, in lane: Int, attempts: Int, goesOn: Bool = true) {
        settle(value, of: state.withLock { $0.lanes[lane].item }, in: lane, attempts: attempts, goesOn: goesOn)
    }

    private func settle(
        _ value: any Sendable, of item: Item, in lane: Int, attempts: Int, goesOn: Bool = true
    ) {
        let now = scheduler.now
        let times = ItemTimes(began: item.began.nanoseconds, ended: now.nanoseconds)
        guard results.succeed(item.index, value, attempts: attempts, times) else {
            let error = BatonError(.decodingFailed, "the item's plan yielded a value of another type")
            return settle(error, in: lane, attempts: attempts, goesOn: goesOn)
        }
        close(lane, item.index, nil, now, goesOn)
    }

    /// An item has failed.
    func settle(_ error: BatonError, in lane: Int, attempts: Int, goesOn: Bool = true) {
        let (item, now) = (state.withLock { $0.lanes[lane].item }, scheduler.now)
        let times = ItemTimes(began: item.began.nanoseconds, ended: now.nanoseconds)
        results.failed(item.index, error, attempts: attempts, times)
        close(lane, item.index, error, now, goesOn)
    }

    /// What follows from an item's end.
    private struct Aftermath: ~Copyable {
        /// Whether the outcome is final.
        var isFinal = false
        var tells = false
        var report: (BatchProgress, number: UInt64)?
        /// What runs in the other lanes and is to be stopped.
        var stopped: [any Cancellable] = []
        /// The item, where it was kept and is not needed any more; released outside the lock.
        var kept: _PlanNode?
        /// What can be done in the lane that is free now.
        var step = Step.none
    }

    /// Frees an item's lane, and goes on with what is next.
    private func close(_ lane: Int, _ index: Int, _ error: BatonError?, _ now: Instant, _ goesOn: Bool) {
        // Where the outcome has to be handed on first, what is next is looked for after it.
        let goesOnAtOnce = goesOn && results.keepsAll && description.onEach == nil
        let aftermath: Aftermath = state.withLock { state in
            var aftermath = Aftermath()
            let kept = state.lanes[lane].node
            state.lanes[lane].isOpen = false
            if state.lanes[lane].runsCall { state.lanes[lane].runsCall = false } else { state.lanes[lane].job = nil }
            if kept != nil { state.lanes[lane].node = nil }
            state.freeLanes.append(lane)
            leave(lane, &state)
            state.progress.running -= 1
            if let error, let kept, isSentAgain(index, state) {
                keep(kept, index, error, state.repeats[index, default: 0] < description.repeats, &state)
            } else {
                count(error, &state)
                if error != nil { noteKey(kept, index) }
                aftermath.kept = kept
                aftermath.isFinal = true
                if description.onEach != nil { aftermath.tells = announce([index], &state) }
                aftermath.stopped = judge(&state)
            }
            if state.isHeard { aftermath.report = (state.progress, Numbering.next()) }
            if goesOnAtOnce, aftermath.stopped.isEmpty { aftermath.step = nextStep(&state) }
            return aftermath
        }
        if aftermath.isFinal { results.finalize(index) }
        if aftermath.tells { scheduler.execute(self, Signal(kind: Self.tell)) }
        if let (progress, number) = aftermath.report { run.report(RunProgress(batch: progress), number: number) }
        if !aftermath.stopped.isEmpty { stop(aftermath.stopped) }
        if goesOnAtOnce, aftermath.stopped.isEmpty {
            advance(from: aftermath.step, at: now)
        } else if goesOn {
            advance()
        }
    }

    private func isSentAgain(_ index: Int, _ state: State) -> Bool {
        guard description.reconnect != nil || state.repeats[index, default: 0] < description.repeats else {
            return false
        }
        return !state.withdrawn.contains(index) && !state.isStopped
    }

    /// An item that failed is sent again: now, later, or when somebody asks for it.
    private func keep(
        _ node: _PlanNode, _ index: Int, _ error: BatonError, _ isRepeated: Bool, _ state: inout State
    ) {
        guard isRepeated else {
            count(error, &state)
            state.failed[index] = node
            return
        }
        state.repeats[index, default: 0] += 1
        state.progress.pending += 1
        if description.timing == .atOnce {
            state.again.append((index, node))
        } else {
            state.later.append((index, node))
        }
    }

    private func count(_ error: BatonError?, _ state: inout State) {
        guard let error else { return state.progress.succeeded += 1 }
        if error.isCancelled { state.progress.cancelled += 1 } else { state.progress.failed += 1 }
        if state.firstError == nil { state.firstError = error }
    }

    private func noteKey(_ node: _PlanNode?, _ index: Int) {
        guard case .call(let call)? = node?.content, let key = call.request.fields[.idempotencyKey] else { return }
        results.keys?[index] = key
    }

    /// Asks the failure policy; returns what has to be stopped when it has decided.
    func judge(_ state: inout State) -> [any Cancellable] {
        guard state.verdict == .goOn, !state.isStopped else { return [] }
        // What `reconnect` may still ask for again has not failed for good.
        let failed = state.progress.failed + state.progress.cancelled - state.failed.count
        state.verdict = description.policy.verdict(
            succeeded: state.progress.succeeded, failed: failed, total: state.progress.total, isOver: false)
        guard state.verdict != .goOn else { return [] }
        giveUpRepeats(&state)
        // Whoever reads the input is not waited for.
        state.isPulling = false
        return state.lanes.compactMap(\.child)
    }

    /// Items that were to be sent again have failed for good.
    func giveUpRepeats(_ state: inout State) {
        for (index, node) in state.again + state.later {
            state.failed[index] = node
            state.progress.pending -= 1
            count(results.failure(at: index)?.error, &state)
        }
        state.again = []
        state.later = []
    }

    // MARK: From outside

    /// Cancels one item: where it is under way, now; where it has not begun, when its turn comes.
    func cancelItem(_ index: Int) {
        let (child, call): ((any Cancellable)?, CallJob?) = state.withLock { state in
            guard state.phase != .ended, index >= 0 else { return (nil, nil) }
            state.withdrawn.insert(index)
            guard let lane = state.lanes.firstIndex(where: { $0.isOpen && $0.index == index }) else {
                return (nil, nil)
            }
            // What is not there yet is cancelled as soon as it comes.
            guard let child = state.lanes[lane].child else { return (nil, nil) }
            guard let call = state.lanes[lane].call, child === call else { return (child, nil) }
            // A call that was cancelled is so for good: the lane's next item gets another one.
            (state.lanes[lane].call, state.lanes[lane].runsCall, state.lanes[lane].job) = (nil, false, call)
            return (child, call)
        }
        if let child { Cancellation.begin(at: child, because: Self.withdrawn, scheduler) }
        call?.retire()
    }

    /// Changes how many items are under way at once: a raise begins more at once, a cut lets those under way end.
    func setLimit(_ limit: Int) {
        state.withLock { $0.limit = max(1, limit) }
        scheduler.post(self, Signal(kind: Self.advance))
    }
}
