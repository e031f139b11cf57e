/// Items that wait give their places to others: for another attempt, or for a host that is full.
extension BatchJob {
    /// For each place, at most so many items may have lent theirs; then nothing further is begun.
    static let mostLent = 4

    func lender(of lane: Int) -> Lender { .batch(self, lane: lane) }

    /// Items' undos are the undos of what the batch stands in.
    func keep(_ undos: [ChainJob.Undo], lane: Int) {
        let owner = state.withLock { $0.owner }
        owner?.keep(undos, lane: self.lane)
    }

    /// The item in that lane waits, and others may be begun in its place. Called with the call's lock held: it only
    /// takes note, and ``placeIsFree()`` does what follows.
    func rest(_ child: AnyObject, lane: Int) -> Bool {
        state.withLock { state in
            guard state.isOpen(child, lane), !state.lanes[lane].isLent else { return false }
            state.lanes[lane].isLent = true
            state.open -= 1
            state.lent += 1
            run.probe?.note(.itemClosed(probed(state.lanes[lane].index)))
            return true
        }
    }

    func placeIsFree() { scheduler.post(self, Signal(kind: Self.advance)) }

    /// The wait is over. True: the item has a place again, as others have who waited for it too. False: it gets the next
    /// one, and `call` is told.
    func returns(_ call: CallJob, _ token: UInt64, of child: AnyObject, lane: Int) -> (Bool, others: [Sleeper]) {
        state.withLock { state in
            guard state.isOpen(child, lane), state.lanes[lane].isLent else { return (true, []) }
            if state.open < state.limit {
                let others = takeSleepers(lane, &state)
                settleBack(lane, &state)
                return (true, others)
            }
            if state.lanes[lane].sleepers.isEmpty { state.returning.append(lane) }
            state.lanes[lane].sleepers.append(Sleeper(call: call, token: token))
            return (false, [])
        }
    }

    /// The call does not wait for the item's place any more. Its lock may be held.
    func staysAway(_ call: CallJob, of child: AnyObject, lane: Int) {
        state.withLock { state in
            guard state.isOpen(child, lane), !state.lanes[lane].sleepers.isEmpty else { return }
            state.lanes[lane].sleepers.removeAll { $0.call === call }
            if state.lanes[lane].sleepers.isEmpty { state.returning.removeAll { $0 == lane } }
        }
    }

    /// Whether the item has lent its place.
    func isLent(_ child: AnyObject, lane: Int) -> Bool {
        state.withLock { state in state.isOpen(child, lane) && state.lanes[lane].isLent }
    }

    /// The one that has waited longest for its place gets it, ahead of items that were not begun.
    func takeBack(_ state: inout State) -> [Sleeper]? {
        guard state.open < state.limit, let lane = state.returning.first else { return nil }
        defer { settleBack(lane, &state) }
        return takeSleepers(lane, &state)
    }

    /// Those who wait for the lane's place do so no more.
    private func takeSleepers(_ lane: Int, _ state: inout State) -> [Sleeper] {
        guard !state.lanes[lane].sleepers.isEmpty else { return [] }
        defer { state.lanes[lane].sleepers = [] }
        state.returning.removeAll { $0 == lane }
        return state.lanes[lane].sleepers
    }

    private func settleBack(_ lane: Int, _ state: inout State) {
        state.lanes[lane].isLent = false
        state.open += 1
        state.lent -= 1
        run.probe?.note(.itemOpened(probed(state.lanes[lane].index), limit: state.limit))
    }

    /// The item in that lane is over, wherever its place was.
    func leave(_ lane: Int, _ state: inout State) {
        _ = takeSleepers(lane, &state)
        guard state.lanes[lane].isLent else {
            run.probe?.note(.itemClosed(probed(state.lanes[lane].index)))
            return state.open -= 1
        }
        state.lanes[lane].isLent = false
        state.lent -= 1
    }
}

extension BatchJob.State {
    /// Whether that is still what is under way in the lane.
    fileprivate func isOpen(_ child: AnyObject, _ lane: Int) -> Bool {
        lanes.indices.contains(lane) && lanes[lane].isOpen && lanes[lane].child === child
    }
}

/// Whose place is lent while a plan or a call waits.
enum Lender {
    /// Nobody's.
    case none
    /// That of the batch's item in that lane.
    case batch(BatchJob, lane: Int)
    /// What the plan stands in has to say.
    case plan(any PlanOwner, lane: Int)
    case call(any CallOwner, lane: Int, within: CallJob)
}

extension CallJob {
    /// The batch whose item this call is, or is a part of, and what that batch knows the item as.
    func lender(_ owner: any CallOwner, _ lane: Int) -> (batch: BatchJob, child: AnyObject, lane: Int)? {
        var child: AnyObject = self
        var lender = owner.lender(of: lane)
        var above: AnyObject = owner
        while true {
            switch lender {
            case .none: return nil
            case .batch(let batch, let lane): return (batch, child, lane)
            case .plan(let owner, let lane):
                child = above
                above = owner
                lender = owner.lender(of: lane)
            case .call(let owner, let lane, let call):
                child = call
                above = owner
                lender = owner.lender(of: lane)
            }
        }
    }

    // MARK: Resting

    /// The call has begun to wait for something that takes a while. Its lock is held; what is returned is told after it.
    func rest(_ state: State) -> BatchJob? {
        guard let owner = state.owner, let (batch, child, lane) = lender(owner, state.lane) else { return nil }
        return batch.rest(child, lane: lane) ? batch : nil
    }

    /// Whether the call may go on now; otherwise ``goOn(_:)`` is called when it may.
    func mayGoOn(_ owner: any CallOwner, _ lane: Int, _ token: UInt64) -> Bool {
        guard let (batch, child, lane) = lender(owner, lane) else { return true }
        let (hasPlace, others) = batch.returns(self, token, of: child, lane: lane)
        for sleeper in others { sleeper.wake() }
        if hasPlace { return true }
        // Whoever ended the wait in between found nothing to take back.
        if state.withLock({ $0.token != token }) { batch.staysAway(self, of: child, lane: lane) }
        return false
    }

    /// Whether the item that this call is to be a part of has lent its place, and nobody has taken it back.
    func hasLentPlace(_ owner: any CallOwner, _ lane: Int) -> Bool {
        guard let (batch, child, lane) = lender(owner, lane) else { return false }
        return batch.isLent(child, lane: lane)
    }

    /// There is a place again.
    func goOn(_ token: UInt64) { scheduler.post(self, Signal(kind: Self.place, token: token)) }

    /// The call does not wait for its place any more, though it has not got it.
    func staysAway(_ state: inout State) {
        (state.isParked, state.isReturning) = (false, false)
        guard let owner = state.owner, let (batch, child, lane) = lender(owner, state.lane) else { return }
        batch.staysAway(self, of: child, lane: lane)
    }

    func placed(_ token: UInt64) {
        let isBack: Bool? = state.withLock { state in
            guard state.token == token, state.isReturning else { return nil }
            state.isReturning = false
            switch state.phase {
            case .backingOff:
                state.phase = .preparing
                return false
            case .returning:
                state.phase = .preparing
                return true
            default: return nil
            }
        }
        guard let isBack else { return }
        if isBack { enqueueAgain(token) } else { beginAttempt(token) }
    }
}
