/// Copies of one request in flight at the same time: the first success wins.
extension CallJob: CallOwner {
    /// How the copies stand.
    final class Hedge {
        let hedging: Hedging
        let call: CallDescription
        var sent = 0
        var open = 0
        var timer: TimerHandle?
        var failure: BatonError?

        init(hedging: Hedging, call: CallDescription) {
            self.hedging = hedging
            self.call = call
        }
    }

    /// Gets ready to send several copies, where the request may be hedged; false when it travels alone.
    func beginHedge(_ state: inout State, _ call: CallDescription, _ hedging: Hedging) -> Bool {
        let request = call.request
        guard !state.isCopy, call.sink == nil, hedging.permits(request, state.options.idempotency ?? .byMethod) else {
            return false
        }
        state.hedge = Hedge(hedging: hedging, call: call)
        state.phase = .hedging
        if state.policies == nil || state.hostOrigin !== request.origin {
            state.hostOrigin = request.origin
            state.host = nil
            state.policies = engine.policies(for: request.origin)
        }
        return true
    }

    func sendCopy(_ token: UInt64) {
        let copy = CallJob(run: run)
        let wait = state.withLock { state in
            state.hedge.flatMap { hedge in state.policies?.wait(hedge.hedging) }
        }
        let departure: (CallDescription, number: UInt64, attempt: Int, PlanScope?)? = state.withLock {
            state in
            guard state.token == token, state.phase == .hedging, let hedge = state.hedge
            else { return nil }
            hedge.sent += 1
            hedge.open += 1
            if hedge.sent <= hedge.hedging.copies, let wait {
                hedge.timer = scheduler.schedule(
                    self, Signal(kind: Self.hedge, token: token), at: scheduler.now.advanced(by: wait))
            }
            state.children.append(copy)
            return (hedge.call, state.number, state.attempt, state.scope)
        }
        guard let (call, number, attempt, scope) = departure else { return }
        // What the copies show of the host is noted, whether or not anything else about it is.
        let policies = state.withLock { state in state.policies }
        copy.state.withLock { copy in
            (copy.isCopy, copy.policies, copy.hostOrigin) = (true, policies, call.request.origin)
        }
        // The lane is this hedge's token, which tells its copies from those of the call's next one.
        copy.start(
            call, layers: .exchange, number: number, attempt: attempt, scope: scope, owner: self,
            lane: Int(truncatingIfNeeded: token))
    }

    /// The first copy takes long: another one goes, if the budget allows it.
    func hedgeFired(_ token: UInt64) {
        let policies: HostPolicies?? = state.withLock { state in
            guard state.token == token, state.phase == .hedging else { return nil }
            state.hedge?.timer = nil
            return .some(state.policies)
        }
        guard let policies else { return }
        if policies?.withdraw(at: scheduler.now) ?? true { return sendCopy(token) }
        // The budget allows no further copy: where none is under way, that is the end.
        let lost: (UInt64, BatonError)? = state.withLock { state in
            guard state.token == token, state.phase == .hedging, let hedge = state.hedge, hedge.open == 0,
                let error = hedge.failure
            else { return nil }
            return (endHedge(&state), error)
        }
        if let (token, error) = lost { concludeExchange(.failure(error), token) }
    }

    private enum Race {
        case none
        case won(UInt64, losers: [CallJob])
        case lost(UInt64, BatonError)
        case sendNext(UInt64)
    }

    func callEnded(_ call: CallJob, _ result: Result<HTTPResponse, BatonError>, _ end: CallEnd) {
        var timer: TimerHandle?
        let waited = call.slotWait
        let race: Race = state.withLock { state in
            // A loser ends when it is cancelled, and the call may be under way again by then.
            guard state.phase == .hedging, state.token == UInt64(truncatingIfNeeded: end.lane), let hedge = state.hedge
            else { return .none }
            state.slotWait = waited
            state.children.removeAll { $0 === call }
            hedge.open -= 1
            switch result {
            case .success:
                timer = hedge.timer
                return .won(endHedge(&state), losers: state.children)
            case .failure(let error):
                hedge.failure = error
                if hedge.open > 0 { return .none }
                // The next copy need not wait for its time when the one before has failed.
                if hedge.timer != nil, error.code.isTransient {
                    timer = hedge.timer
                    hedge.timer = nil
                    return .sendNext(state.token)
                }
                timer = hedge.timer
                return .lost(endHedge(&state), error)
            }
        }
        call.retire()
        if let timer { scheduler.cancel(timer) }
        switch race {
        case .none: break
        case .sendNext(let token): hedgeFired(token)
        case .won(let token, let losers):
            if !losers.isEmpty {
                let reason = BatonError(.cancelled, "another copy of the request was faster")
                Cancellation.begin(at: losers, because: reason, scheduler)
            }
            concludeExchange(result, token)
        case .lost(let token, let error): concludeExchange(.failure(error), token)
        }
    }

    private func endHedge(_ state: inout State) -> UInt64 {
        state.hedge = nil
        state.phase = .preparing
        state.token &+= 1
        return state.token
    }

    /// The hedged exchange is over: for the attempt, or for the interceptors around it.
    private func concludeExchange(_ result: Result<HTTPResponse, BatonError>, _ token: UInt64) {
        let isExchange = state.withLock { $0.layers == .exchange }
        if isExchange { finish(result, token) } else { conclude(result, token) }
    }

    func callPath(lane: Int) -> String {
        state.withLock { state in (state.owner, state.lane) }.0?.callPath(lane: lane) ?? ""
    }

    func callPlace(lane: Int) -> PlanPlace { state.withLock { $0.place } }
}
