/// How items end.
extension BatchJob {
    func callEnded(_ call: CallJob, _ result: Result<HTTPResponse, BatonError>, attempts: Int, lane: Int) {
        switch result {
        case .failure(let error): settle(.failure(error), attempts: attempts, lane: lane)
        case .success(let response):
            if !result.isSmall {
                state.withLock { state in
                    state.lanes[lane].response = response
                    state.lanes[lane].attempts = attempts
                }
                return scheduler.execute(self, Signal(kind: Self.decode, value: Int32(lane)))
            }
            settle(read(response, lane: lane), attempts: attempts, lane: lane)
        }
        advance()
    }

    func planEnded(_ result: Result<any Sendable, BatonError>, lane: Int) {
        settle(result, attempts: 1, lane: lane)
        advance()
    }

    func decode(lane: Int) {
        let (response, attempts) = state.withLock { state in
            defer { state.lanes[lane].response = nil }
            return (state.lanes[lane].response, state.lanes[lane].attempts)
        }
        guard let response else { return }
        settle(read(response, lane: lane), attempts: attempts, lane: lane)
        advance()
    }

    private func read(_ response: HTTPResponse, lane: Int) -> Result<any Sendable, BatonError> {
        let output: any Response.Type = state.withLock { $0.lanes[lane].output } ?? EmptyResponse.self
        do throws(BatonError) {
            return .success(
                try ResponseReader.read(output, from: response, using: run.settings.context.coding))
        } catch {
            return .failure(error.with(path: path(of: lane)))
        }
    }

    /// What follows from an item's end.
    private struct Aftermath {
        /// Indices that are final now.
        var final: [Int] = []
        var tells = false
        var report: (BatchProgress, number: UInt64)?
        /// What runs in the other lanes and is to be stopped.
        var stopped: [any Cancellable] = []
    }

    /// Notes an item's outcome and frees its lane.
    func settle(_ result: Result<any Sendable, BatonError>, attempts: Int, lane: Int, node: _PlanNode? = nil) {
        let now = scheduler.now.nanoseconds
        let index = state.withLock { $0.lanes[lane].index }
        var error: BatonError?
        switch result {
        case .success(let value):
            if !results.succeed(index, value, attempts: attempts, at: now) {
                error = BatonError(.decodingFailed, "the item's plan yielded a value of another type")
            }
        case .failure(let failure): error = failure
        }
        if let error { results.failed(index, error, attempts: attempts, at: now) }
        let isHeard = !isNested && run.isHeard
        let aftermath: Aftermath = state.withLock { state in
            var aftermath = Aftermath()
            let kept = state.lanes[lane].node ?? node
            state.lanes[lane].isOpen = false
            state.lanes[lane].child = nil
            state.lanes[lane].node = nil
            state.freeLanes.append(lane)
            state.open -= 1
            run.probe?.note(.itemClosed(probed(index)))
            state.progress.running -= 1
            let isRepeated = state.repeats[index, default: 0] < description.repeats
            let isWithdrawn = state.withdrawn.contains(index)
            if let error, let kept, isRepeated || description.reconnect != nil, !isWithdrawn, !state.isStopped {
                keep(kept, index, error, isRepeated, &state)
            } else {
                count(error, &state)
                if error != nil { noteKey(kept, index) }
                aftermath.final = [index]
                aftermath.tells = announce([index], &state)
                aftermath.stopped = judge(error, &state)
            }
            if isHeard { aftermath.report = (state.progress, Numbering.next()) }
            return aftermath
        }
        results.finalize(aftermath.final)
        if aftermath.tells { scheduler.execute(self, Signal(kind: Self.tell)) }
        if let (progress, number) = aftermath.report { run.report(RunProgress(batch: progress), number: number) }
        if !aftermath.stopped.isEmpty { Cancellation.begin(at: aftermath.stopped, scheduler) }
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
    func judge(_ error: BatonError?, _ state: inout State) -> [any Cancellable] {
        guard state.verdict == .goOn, !state.isCancelled else { return [] }
        state.verdict = description.policy.verdict(
            succeeded: state.progress.succeeded, failed: state.progress.failed + state.progress.cancelled,
            total: state.progress.total, isOver: false)
        guard state.verdict != .goOn else { return [] }
        giveUpRepeats(&state)
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
            // A cancelled call stays cancelled: the lane's next item, which may begin any moment, gets another one.
            state.lanes[lane].call = nil
            return (child, call)
        }
        if let child { Cancellation.begin(at: child, because: Self.itemCancelled, scheduler) }
        call?.retire()
    }

    static var itemCancelled: BatonError { BatonError(.cancelled, "the item was cancelled") }

    /// Changes how many items are under way at once: a raise begins more at once, a cut lets those under way end.
    func setLimit(_ limit: Int) {
        state.withLock { $0.limit = max(1, limit) }
        scheduler.post(self, Signal(kind: Self.advance))
    }
}
