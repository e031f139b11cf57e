/// What follows when every item has landed and some have failed.
extension BatchJob {
    /// Asks the reconnect callback, on a worker thread or in a task.
    func ask() {
        guard let reconnect = description.reconnect else { return finish() }
        let facts: (number: Int, indices: [Int])? = state.withLock { state in
            guard state.phase == .asking else { return nil }
            return (state.round, state.failed.keys.sorted())
        }
        guard let (number, indices) = facts else { return }
        let round = Round(
            number: number,
            failures: indices.compactMap { index in
                results.failure(at: index).map {
                    Round.Failure(index: index, error: $0.error, attempts: $0.attempts)
                }
            })
        if let decide = reconnect.decide {
            return follow(UserCode.call(scheduler) { decide(round) }, ofRound: number)
        }
        guard let decide = reconnect.decideLater else { return }
        let task = scheduler.startTask("a reconnect callback") { [self] in
            let decision = await decide(round)
            UserCode.end { follow(decision, ofRound: number) }
        }
        let isOver = state.withLock { state in
            guard state.phase == .asking, state.round == number else { return true }
            state.task = task
            return false
        }
        if isOver, state.withLock({ $0.isCancelled }) { task.cancel() }
    }

    private enum Next {
        case finish
        case goOn
        case wait
    }

    private func follow(_ decision: Reconnection, ofRound number: Int) {
        // Released outside the lock: it may be the last of what others have given.
        var released: [Int: _PlanNode] = [:]
        let chosen: (Next, tells: Bool, left: [Int])? = state.withLock { state in
            guard state.phase == .asking, state.round == number else { return nil }
            state.task = nil
            guard case .retry(let indices, let wait) = decision else { return accept(&state) }
            for index in indices {
                guard let node = state.failed.removeValue(forKey: index) else { continue }
                state.again.append((index, node))
                // An item may end as cancelled, by its own doing, without the batch being so.
                if results.failure(at: index)?.error.isCancelled == true {
                    state.progress.cancelled -= 1
                } else {
                    state.progress.failed -= 1
                }
            }
            guard !state.again.isEmpty else { return accept(&state) }
            // Taken from the end, lowest index first.
            state.again.sort { $0.index > $1.index }
            // Those that were not named have failed for good.
            let left = state.failed.keys.sorted()
            let tells = announce(left, &state)
            swap(&released, &state.failed)
            state.round += 1
            state.phase = .pausing
            state.progress.pending += state.again.count
            // Nothing runs that would have to be stopped.
            _ = judge(&state)
            guard wait > .zero, state.verdict == .goOn else { return (.goOn, tells, left) }
            state.pause = scheduler.schedule(
                self, Signal(kind: Self.goOn), at: scheduler.now.advanced(by: wait))
            return (.wait, tells, left)
        }
        guard let (next, tells, left) = chosen else { return }
        left.forEach(results.finalize)
        if tells { scheduler.execute(self, Signal(kind: Self.tell)) }
        switch next {
        case .finish: finish()
        case .goOn: goOn()
        case .wait: break
        }
    }

    private func accept(_ state: inout State) -> (Next, tells: Bool, left: [Int]) {
        state.phase = .running
        state.isFinishing = true
        return (.finish, false, [])
    }

    /// The pause before a round is over.
    func goOn() {
        let goesOn = state.withLock { state in
            guard state.phase == .pausing else { return false }
            state.phase = .running
            state.pause = nil
            return true
        }
        if goesOn { advance() }
    }
}
