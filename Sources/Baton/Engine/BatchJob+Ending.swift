/// How the batch ends.
extension BatchJob {
    /// Every lane is free and nothing is left to pull.
    func roundEnded() {
        let asks = state.withLock { state in
            guard !state.isStopped, !state.failed.isEmpty, description.reconnect != nil else { return false }
            state.phase = .asking
            state.isFinishing = false
            return true
        }
        if asks { scheduler.execute(self, Signal(kind: Self.ask)) } else { finish() }
    }

    func finish() {
        // Released outside the lock: it may be the last of what others have given.
        var released: [Int: _PlanNode] = [:]
        let (left, tells): ([Int], Bool) = state.withLock { state in
            let left = state.failed.keys.sorted()
            for (index, node) in state.failed {
                if case .call(let call) = node.content, let key = call.request.fields[.idempotencyKey] {
                    results.keys?[index] = key
                }
            }
            swap(&released, &state.failed)
            if state.verdict == .goOn, state.inputError == nil {
                state.verdict = description.policy.verdict(
                    succeeded: state.progress.succeeded, failed: state.progress.failed + state.progress.cancelled,
                    total: state.progress.total, isOver: true)
            }
            return (left, announce(left, &state))
        }
        left.forEach(results.finalize)
        if tells { scheduler.execute(self, Signal(kind: Self.tell)) }
        end(outcome)
    }

    private var outcome: Result<any Sendable, BatonError> {
        let (cancellation, verdict, first, inputError) = state.withLock { state in
            (state.cancellation, state.verdict, state.firstError, state.inputError)
        }
        if let cancellation { return .failure(withReport(cancellation)) }
        if let inputError { return .failure(withReport(inputError)) }
        guard verdict == .fail else { return .success(results.report) }
        if description.isGroup, let first { return .failure(first) }
        let message = "the batch did not meet its failure policy; the error holds its report"
        return .failure(withReport(BatonError(.batchFailed, message, underlying: first)))
    }

    private func withReport(_ error: BatonError) -> BatonError {
        var error = error
        if !description.isGroup { error.storage.report = results.report }
        return error
    }

    /// Ends the batch as soon as `onEach` was told everything.
    func end(_ result: Result<any Sendable, BatonError>) {
        let ended: (owner: (any PlanOwner)?, [Lane], BatonError?, (any BatchInput)?)? = state.withLock { state in
            guard state.phase != .ended else { return nil }
            if state.isTelling || !state.news.isEmpty {
                state.ending = result
                return nil
            }
            state.phase = .ended
            defer { (state.lanes, state.owner, state.input, state.ending) = ([], nil, nil, nil) }
            return (state.owner, state.lanes, state.cancellation, state.input)
        }
        guard let (owner, lanes, cancellation, input) = ended else { return }
        for lane in lanes { lane.call?.retire() }
        input?.later?.close()
        // It may have been cancelled while `onEach` was told the last items.
        if let cancellation, case .success = result {
            owner?.planEnded(.failure(withReport(cancellation)), lane: lane)
        } else {
            owner?.planEnded(result, lane: lane)
        }
    }

    func takeNote(_ walk: inout CancellationWalk) {
        let reason = walk.reason
        let stopped: (children: [any Cancellable], Task<Void, Never>?, TimerHandle?, (any BatchInput)?)? =
            state.withLock {
                state in
                guard state.phase != .ended, !state.isCancelled else { return nil }
                state.cancellation = reason
                giveUpRepeats(&state)
                // Whoever reads the input is not waited for.
                state.isPulling = false
                // Whoever asks or pauses is not waited for.
                if state.phase != .running { state.phase = .running }
                return (state.lanes.compactMap(\.child), state.task, state.pause, state.input)
            }
        guard let (children, task, pause, input) = stopped else { return }
        walk.rest += children
        walk.actions.append { [self] in
            task?.cancel()
            input?.later?.close()
            if let pause { scheduler.cancel(pause) }
            advance()
        }
    }

    // MARK: Telling

    /// Puts indices on the list for `onEach`; true when somebody has to begin to tell.
    func announce(_ indices: [Int], _ state: inout State) -> Bool {
        guard description.onEach != nil, !indices.isEmpty else { return false }
        state.news += indices
        defer { state.isTelling = true }
        return !state.isTelling
    }

    func tell() {
        let news: [Int] = state.withLock { state in
            defer { state.news = [] }
            if state.news.isEmpty { state.isTelling = false }
            return state.news
        }
        guard let onEach = description.onEach, !news.isEmpty else {
            if let ending = state.withLock({ $0.ending }) { end(ending) }
            return
        }
        for index in news { UserCode.call(scheduler) { onEach.tell(index, results) } }
        scheduler.execute(self, Signal(kind: Self.tell))
    }
}
