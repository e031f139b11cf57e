internal import Foundation

/// One trip to the transport: slot, send, reply or timeout.
extension CallJob: TransportEvents {
    /// Gets a slot for the request, at once or when there is one.
    func enqueue(_ request: HTTPRequest, _ token: UInt64) {
        if engine.breakers != nil, !passesBreaker(request, token) { return }
        admit(request, token)
    }

    /// - Parameter isBack: whether it stood in line before, and only its place in the batch was missing.
    func admit(_ request: HTTPRequest, _ token: UInt64, isBack: Bool = false) {
        var isHedged = false
        var heldBack: HostPolicies?
        var isHostFull = false
        let admission: RequestQueue.Admission? = state.withLock { state in
            guard state.phase == .preparing, state.token == token else { return nil }
            if !isBack, state.hops == 0, let hedging = state.options.hedging ?? settings.hedging,
                beginHedge(&state, request, hedging)
            {
                isHedged = true
                return nil
            }
            if state.hostOrigin !== request.origin {
                state.hostOrigin = request.origin
                state.host = nil
                state.policies = nil
            }
            if engine.watchesHosts, !isBack {
                let policies = hostPolicies(&state, request.origin)
                if policies.begin(at: scheduler.now, isFirst: state.attempt <= 1 && !state.isCopy && state.hops == 0) {
                    heldBack = policies
                }
            }
            state.current = request
            state.phase = .waiting
            state.ticket = nil
            // The queue's lock within the call's: it only decides, and posts nothing while admitting.
            return engine.queue.admit(
                self, kind: Self.granted, token: token, origin: request.origin, host: &state.host, run: run.id,
                priority: state.options.priority ?? .normal, isRetry: isBack || state.attempt > 1 || state.hops > 0,
                isHostFull: &isHostFull)
        }
        heldBack?.letGo()
        switch admission {
        case nil: if isHedged { sendCopy(token) }
        case .granted:
            if let host = state.withLock({ $0.host }) { granted(token, host: host.index) }
        case .rejected:
            refuse(BatonError(.queueFull, "the client's queue is full").with(phase: .queue), token)
        case .queued(let ticket):
            let (isStale, batch): (Bool, BatchJob?) = state.withLock { state in
                guard state.token == token, state.phase == .waiting else { return (state.token != token, nil) }
                state.ticket = ticket
                let batch = isHostFull ? rest(state) : nil
                state.isParked = batch != nil
                return (false, batch)
            }
            batch?.placeIsFree()
            // Cancelled before the ticket was there to be withdrawn.
            if isStale { _ = engine.queue.withdraw(ticket) }
        }
    }

    /// The slot is ours, unless the call has gone on without it.
    func granted(_ token: UInt64, host: Int32) {
        probe?.note(.slotTaken(limit: engine.queue.limit))
        let parked: (owner: any CallOwner, lane: Int)? = state.withLock { state in
            guard state.isParked, state.phase == .waiting, state.token == token else { return nil }
            (state.isParked, state.isReturning) = (false, true)
            return state.owner.map { ($0, state.lane) }
        }
        if let parked, !comesBack(parked.owner, parked.lane, token) { return giveBack(host) }
        depart(token, host: host)
    }

    /// The host has room: whether the call has its place in the batch back too. Otherwise another one may have the slot.
    private func comesBack(_ owner: any CallOwner, _ lane: Int, _ token: UInt64) -> Bool {
        let hasPlace = mayGoOn(owner, lane)
        return state.withLock { state in
            guard state.token == token, state.phase == .waiting else { return false }
            // There may be a place since it was asked for.
            if hasPlace || !state.isReturning {
                state.isReturning = false
                return true
            }
            state.phase = .returning
            state.ticket = nil
            return false
        }
    }

    private func depart(_ token: UInt64, host: Int32) {
        let now = scheduler.now
        let departure: (HTTPRequest, AttemptEvent?)? = state.withLock { state in
            guard state.phase == .waiting, state.token == token, let request = state.current else { return nil }
            state.phase = .inFlight
            state.ticket = nil
            if let policies = state.policies {
                policies.depart()
                state.departed = now
            }
            if state.hops == 0 {
                let timeout = state.options.timeout ?? settings.timeout
                state.deadline = now.advanced(by: timeout)
            }
            armTimer(&state)
            probe?.note(.exchangeSent(probed(token), isUndo: state.scope?.isUndo ?? false))
            return (dressed(request, state), state.hops > 0 ? nil : attemptEvent(state, at: now))
        }
        guard let (request, event) = departure else { return giveBack(host) }
        if let event { run.events?.append(.attemptStarted(event)) }
        let transmission = engine.transport.send(request, to: TransportReceiver(self, token: token))
        let isAbandoned = state.withLock { state in
            if state.token == token, state.phase == .inFlight { state.transmission = transmission }
            // Given up while it was being sent, and whoever did so had nothing to cancel yet; or over already, and then
            // a cancel does nothing.
            return state.token != token
        }
        if isAbandoned { transmission.cancel() }
    }

    /// The timer stands at the earliest deadline since it was set; when it fires early, it is set anew.
    private func armTimer(_ state: inout State) {
        if let timer = state.timer {
            guard state.deadline < state.timerInstant else { return }
            scheduler.cancel(timer)
        }
        state.timerInstant = state.deadline
        state.timer = scheduler.schedule(self, Signal(kind: Self.timer), at: state.deadline)
    }

    func timerFired() {
        let now = scheduler.now
        let late: (State, token: UInt64)? = state.withLock { state in
            state.timer = nil
            let isHop = state.hops > 0 && (state.phase == .waiting || state.phase == .returning)
            guard state.phase == .inFlight || isHop else { return nil }
            guard state.deadline <= now else {
                armTimer(&state)
                return nil
            }
            let old = state
            if isHop { leaveLine(&state) } else { abandon(&state) }
            return (old, state.token)
        }
        guard case (let old, let token)? = late else { return }
        if old.phase == .waiting, let ticket = old.ticket { _ = engine.queue.withdraw(ticket) }
        old.transmission?.cancel()
        let timeout = old.options.timeout ?? settings.timeout
        let error = BatonError(.timedOut, "no complete response within \(timeout)")
            .with(phase: old.head == nil ? .send : .receive)
        if let event = attemptEvent(old, at: now) { run.events?.append(.attemptEnded(event, .failure(error))) }
        exchangeEnded(old.watch, .failure(error))
        conclude(.failure(error), token)
    }

    /// Gives up the exchange in flight. The transport has a second to end it; until then it keeps the slot.
    func abandon(_ state: inout State) {
        let forfeit = scheduler.schedule(
            self, Signal(kind: Self.forfeit, token: state.token), at: scheduler.now.advanced(by: .seconds(1)))
        state.orphans.append(
            Orphan(
                token: state.token, host: state.host?.index ?? 0, forfeit: forfeit,
                event: attemptEvent(state, at: scheduler.now)))
        probe?.note(.exchangeGivenUp(probed(state.token)))
        state.token &+= 1
        state.transmission = nil
        state.head = nil
        state.body = Data()
        state.phase = .preparing
        state.departed = nil
        state.breaker = nil
    }

    func forfeit(_ token: UInt64) {
        guard let orphan = takeOrphan(token) else { return }
        probe?.note(.exchangeForfeited(probed(token)))
        if let event = orphan.event { run.events?.append(.slotForfeited(event)) }
        giveBack(orphan.host)
    }

    /// Gives a slot back.
    func giveBack(_ host: Int32) {
        probe?.note(.slotReturned)
        engine.queue.release(host)
    }

    private func probed(_ token: UInt64) -> ProbedExchange {
        ProbedExchange(run: run.id, call: ObjectIdentifier(self), token: token)
    }

    private func takeOrphan(_ token: UInt64) -> Orphan? {
        state.withLock { state in
            state.orphans.firstIndex { $0.token == token }.map { state.orphans.remove(at: $0) }
        }
    }

    // MARK: What the transport says

    func receiveHead(_ head: HTTPResponseHead, token: UInt64) {
        probe?.note(.transportTold(probed(token), isEnd: false))
        let isTooLarge = state.withLock { state in
            guard state.token == token, state.phase == .inFlight else { return false }
            state.head = head
            return announcesTooMuch(head, state)
        }
        if isTooLarge { giveUpTooLarge(token) }
    }

    func receiveChunk(_ bytes: Data, token: UInt64) -> Demand {
        probe?.note(.transportTold(probed(token), isEnd: false))
        let isTooLarge = state.withLock { state in
            guard state.token == token, state.phase == .inFlight else { return false }
            if state.body.isEmpty { state.body = bytes } else { state.body.append(bytes) }
            return state.body.count > largestBody(state)
        }
        if isTooLarge { giveUpTooLarge(token) }
        return .more
    }

    func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64) {
        probe?.note(.transportTold(probed(token), isEnd: false))
    }

    func receiveEnd(_ metrics: TransportMetrics?, token: UInt64) {
        land(token) { state in
            guard let head = state.head else {
                return .failure(
                    BatonError(.invalidResponse, "the transport ended the exchange without a response")
                        .with(phase: .receive))
            }
            var response = HTTPResponse(head: head, body: state.body)
            if let metrics { response.metrics = metrics }
            return .success(response)
        }
    }

    func receiveResponse(_ response: HTTPResponse, token: UInt64) {
        land(token) { state in
            let limit = largestBody(state)
            return response.body.count > limit ? .failure(Self.tooLarge(limit)) : .success(response)
        }
    }

    func receiveFailure(_ error: BatonError, token: UInt64) {
        land(token) { state in
            .failure(error.with(phase: state.head == nil ? .send : .receive))
        }
    }

    private func giveUpTooLarge(_ token: UInt64) {
        let refused: (State, token: UInt64)? = state.withLock { state in
            guard state.token == token, state.phase == .inFlight else { return nil }
            let old = state
            abandon(&state)
            return (old, state.token)
        }
        guard case (let old, let token)? = refused else { return }
        old.transmission?.cancel()
        let error = Self.tooLarge(largestBody(old))
        if let event = attemptEvent(old, at: scheduler.now) {
            run.events?.append(.attemptEnded(event, .failure(error)))
        }
        exchangeEnded(old.watch, .failure(error))
        conclude(.failure(error), token)
    }

    /// Takes the end of an exchange: the first one for the token that is in flight counts.
    private func land(_ token: UInt64, _ reply: (inout State) -> Result<HTTPResponse, BatonError>) {
        probe?.note(.transportTold(probed(token), isEnd: true))
        let isCurrent = state.withLock { state in
            guard state.token == token, state.phase == .inFlight else { return false }
            probe?.note(.exchangeLanded(probed(token)))
            state.reply = reply(&state)
            state.phase = .landed
            state.transmission = nil
            if state.head != nil {
                state.head = nil
                state.body = Data()
            }
            return true
        }
        if isCurrent { return scheduler.post(self, Signal(kind: Self.landed, token: token)) }
        // An exchange that was given up gives its slot back now; anything else comes too late or twice.
        guard let orphan = takeOrphan(token) else { return }
        scheduler.cancel(orphan.forfeit)
        giveBack(orphan.host)
    }

    /// What there is to do about a reply that has landed.
    private struct Landing {
        var reply: Result<HTTPResponse, BatonError>
        var host: HostID?
        var event: AttemptEvent?
        var token: UInt64
        var rules: ResponseRules?
        /// The request that was answered, where it was redirected.
        var hop: HTTPRequest?
        /// Set where somebody wants to know how exchanges end.
        var watch: Watch?
    }

    /// Looks at the reply, after the slot has gone back.
    func settle(_ token: UInt64) {
        let landed: Landing? = state.withLock { state in
            guard state.phase == .landed, state.token == token, let reply = state.reply else { return nil }
            state.reply = nil
            state.token &+= 1
            state.phase = .preparing
            state.isOpen = false
            let isWatched = state.departed != nil || state.breaker != nil
            let landing = Landing(
                reply: reply, host: state.host,
                event: run.events == nil ? nil : attemptEvent(state, at: scheduler.now), token: state.token,
                rules: settings.rules(for: state.options), hop: state.hops > 0 ? state.current : nil,
                watch: isWatched ? state.watch : nil)
            if isWatched { (state.departed, state.breaker) = (nil, nil) }
            return landing
        }
        guard let landed else { return }
        let judgement = judge(landed.reply.answered(by: landed.hop), landed.rules)
        let result = judgement.result
        // Before the slot goes back, so that a host that asks to be left alone gets nothing in between.
        if let watch = landed.watch { exchangeEnded(watch, result) }
        if let host = landed.host { giveBack(host.index) }
        if case .open(let response) = judgement { return look(into: response, landed.rules, landed.token) }
        if let event = landed.event { run.events?.append(.attemptEnded(event, result)) }
        conclude(result, landed.token)
    }

    // MARK: Events

    func attemptEvent(at now: Instant) -> AttemptEvent? {
        run.events == nil ? nil : state.withLock { attemptEvent($0, at: now) }
    }

    func attemptEvent(_ state: State, at now: Instant) -> AttemptEvent? {
        guard run.events != nil, let request = state.current ?? state.original?.request else { return nil }
        return AttemptEvent(
            run: run.id, call: state.number, attempt: max(1, state.attempt), request: request,
            isUndo: state.scope?.isUndo ?? false, instant: now)
    }
}
