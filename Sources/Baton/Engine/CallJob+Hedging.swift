/// Copies of one request in flight at the same time: the first success wins.
extension CallJob: CallOwner {
    /// How the copies stand.
    struct Hedge {
        var hedging: Hedging
        var request: HTTPRequest
        var sent = 0
        var open = 0
        var timer: TimerHandle?
        var failure: BatonError?
    }

    /// Gets ready to send several copies, where the request may be hedged; false when it travels alone.
    func beginHedge(_ state: inout State, _ request: HTTPRequest, _ hedging: Hedging) -> Bool {
        guard !state.isCopy, hedging.permits(request, state.options.idempotency ?? .byMethod) else { return false }
        state.hedge = Hedge(hedging: hedging, request: request)
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
        let departure: (CallDescription, number: UInt64, attempt: Int, PlanScope?, lane: Int)? = state.withLock {
            state in
            guard state.token == token, state.phase == .hedging, let original = state.original,
                var hedge = state.hedge
            else { return nil }
            hedge.sent += 1
            hedge.open += 1
            if hedge.sent <= hedge.hedging.copies, let wait {
                hedge.timer = scheduler.schedule(
                    self, Signal(kind: Self.hedge, token: token), at: scheduler.now.advanced(by: wait))
            }
            state.hedge = hedge
            state.children.append(copy)
            return (original.with(hedge.request), state.number, state.attempt, state.scope, hedge.sent)
        }
        guard let (call, number, attempt, scope, lane) = departure else { return }
        copy.startCopy(call, number: number, attempt: attempt, scope: scope, owner: self, lane: lane)
    }

    private func startCopy(
        _ call: CallDescription, number: UInt64, attempt: Int, scope: PlanScope?, owner: any CallOwner, lane: Int
    ) {
        state.withLock { $0.isCopy = true }
        start(call, layers: .exchange, number: number, attempt: attempt, scope: scope, owner: owner, lane: lane)
    }

    /// The first copy takes long: another one goes, if the budget allows it.
    func hedgeFired(_ token: UInt64) {
        let policies: HostPolicies?? = state.withLock { state in
            guard state.token == token, state.phase == .hedging else { return nil }
            state.hedge?.timer = nil
            return .some(state.policies)
        }
        guard let policies, policies?.withdraw(at: scheduler.now) ?? true else { return }
        sendCopy(token)
    }

    private enum Course {
        case none
        case won(UInt64, losers: [CallJob])
        case lost(UInt64, BatonError)
        case sendNext(UInt64)
    }

    func callEnded(_ call: CallJob, _ result: Result<HTTPResponse, BatonError>, attempts: Int, lane: Int) {
        var timer: TimerHandle?
        let course: Course = state.withLock { state in
            guard state.phase == .hedging, var hedge = state.hedge else { return .none }
            state.children.removeAll { $0 === call }
            hedge.open -= 1
            defer { if state.phase == .hedging { state.hedge = hedge } }
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
        switch course {
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
}
