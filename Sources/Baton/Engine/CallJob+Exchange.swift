internal import Foundation

/// What happens in flight: the transport reports, time passes, and the first end counts.
extension CallJob: TransportEvents {
    /// The timer stands at the earliest deadline since it was set; when it fires early, it is set anew.
    func armTimer(_ state: inout State) {
        if let timer = state.timer {
            guard state.deadline < state.timerInstant else { return }
            scheduler.cancel(timer)
        }
        state.timerInstant = state.deadline
        state.timer = scheduler.schedule(self, Signal(kind: Self.timer), at: state.deadline)
    }

    func timerFired() {
        let now = scheduler.now
        giveUp { state in
            state.timer = nil
            // Without a deadline it waits for a reader of ours; whoever goes on sets the timer again.
            guard state.phase == .inFlight || state.isHopInLine, state.deadline != .distantFuture else { return nil }
            guard state.deadline <= now else {
                armTimer(&state)
                return nil
            }
            let timeout = state.options.timeout ?? settings.timeout
            let isMoving = state.call?.isMoving ?? false
            return BatonError(
                .timedOut,
                isMoving
                    ? "nothing moved for \(timeout): raise the timeout if the server needs longer"
                    : "no complete response within \(timeout): raise the timeout if the server needs longer"
            )
            .with(phase: state.received == nil ? .send : .receive)
        }
    }

    /// Ends the exchange in flight, or the wait of a redirect's for its slot, where there is a reason to.
    private func giveUp(_ reason: (inout State) -> BatonError?) {
        var tells = false
        let givenUp: (State, BatonError, token: UInt64)? = state.withLock { state in
            guard let error = reason(&state) else { return nil }
            tells = noteEnd(.failure(error), &state)
            let old = state
            if state.isHopInLine { leaveLine(&state) } else { abandon(&state) }
            return (old, error, state.token)
        }
        guard case (let old, let error, let token)? = givenUp else { return }
        if tells { run.events?.deliver() }
        if old.phase == .waiting, let ticket = old.ticket { _ = engine.queue.withdraw(ticket) }
        old.transmission?.cancel()
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
                event: attemptEvent(&state, at: scheduler.now)))
        probe?.note(.exchangeGivenUp(probed(state.token)))
        state.token &+= 1
        state.transmission = nil
        state.received = nil
        state.phase = .preparing
        state.isOpen = false
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
            state.received = Received(head)
            return announcesTooMuch(head, &state)
        }
        if isTooLarge { giveUpTooLarge(token) }
    }

    func receiveChunk(_ bytes: Data, token: UInt64) -> Demand {
        probe?.note(.transportTold(probed(token), isEnd: false))
        let isTooLarge = state.withLock { state in
            guard state.token == token, state.phase == .inFlight else { return false }
            let received = state.received ?? Received(nil)
            state.received = received
            if received.body.isEmpty { received.body = bytes } else { received.body.append(bytes) }
            return received.body.count > largestBody(&state)
        }
        if isTooLarge { giveUpTooLarge(token) } else if run.isHeard { reportReceived(token) }
        return .more
    }

    func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64) {
        probe?.note(.transportTold(probed(token), isEnd: false))
        if run.isHeard { report(.upload, bytes, of: total, token) }
    }

    func receiveEnd(_ metrics: TransportMetrics?, token: UInt64) {
        land(token) { state in
            guard let received = state.received, let head = received.head else {
                return .failure(
                    BatonError(.invalidResponse, "the transport ended the exchange without a response")
                        .with(phase: .receive))
            }
            var response = HTTPResponse(head: head, body: received.body)
            if let metrics { response.metrics = metrics }
            return .success(response)
        }
    }

    func receiveResponse(_ response: HTTPResponse, token: UInt64) {
        land(token) { state in
            let limit = largestBody(&state)
            return response.bodyCount > limit ? .failure(Self.tooLarge(limit)) : .success(response)
        }
    }

    func receiveFailure(_ error: BatonError, token: UInt64) {
        land(token) { state in
            .failure(error.told(by: Self.secrets).with(phase: state.received == nil ? .send : .receive))
        }
    }

    /// Ends the exchange in flight for a reason of ours.
    func giveUp(_ error: BatonError, _ token: UInt64) {
        giveUp { state in
            state.token == token && state.phase == .inFlight ? error.with(phase: .receive) : nil
        }
    }

    private func giveUpTooLarge(_ token: UInt64) {
        giveUp { state in
            guard state.token == token, state.phase == .inFlight else { return nil }
            return Self.tooLarge(largestBody(&state))
        }
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
            if state.received != nil { state.received = nil }
            return true
        }
        if isCurrent {
            let signal = Signal(kind: Self.landed, token: token)
            return engine.sharesCallbackThreads ? scheduler.postShared(self, signal) : scheduler.post(self, signal)
        }
        // An exchange that was given up gives its slot back now; anything else comes too late or twice.
        guard let orphan = takeOrphan(token) else { return }
        scheduler.cancel(orphan.forfeit)
        giveBack(orphan.host)
    }

    /// What there is to do about a reply that has landed.
    private enum Landing: ~Copyable {
        case none
        /// The call is over: a success, and nothing about it has to be looked into.
        case ended(HTTPResponse, HostID?, tells: Bool, Ending)
        /// - to: what was answered, where it was redirected or its cookies are kept.
        case open(Result<HTTPResponse, BatonError>, to: CallDescription?, HostID?, Watch, UInt64)
    }

    /// Looks at the reply, and gives the slot back.
    func settle(_ token: UInt64) {
        var rules: ResponseRules?
        let landing: Landing = state.withLock { state in
            guard state.phase == .landed, state.token == token, let reply = state.reply.take() else { return .none }
            rules = settings.rules(for: state.options)
            if rules == nil, case .success(let response) = reply, (200..<300).contains(response.status),
                state.isUnwatched, !settings.dresses
            {
                let host = state.host
                let tells = noteEnd(reply, &state)
                guard let ending = end(&state) else { return .none }
                return .ended(response, host, tells: tells, ending)
            }
            state.token &+= 1
            state.phase = .preparing
            // Its end has yet to be told: here, or by whoever cancels the call before.
            state.isOpen = true
            let watch = state.watch
            (state.departed, state.breaker) = (nil, nil)
            return .open(
                reply, to: state.hops > 0 || settings.dresses ? state.call : nil, state.host, watch, state.token)
        }
        switch consume landing {
        case .none: break
        case .ended(let response, let host, let tells, let ending):
            if tells { run.events?.deliver() }
            if let host { giveBack(host.index) }
            tell(ending, .success(response))
        case .open(let reply, let call, let host, let watch, let token):
            if let call { keepCookies(reply, call.request) }
            let judgement = judge(reply.answered(by: call?.request), rules)
            let result = judgement.result
            // Before the slot goes back, so that a host that asks to be left alone gets nothing in between.
            exchangeEnded(watch, result)
            if let host { giveBack(host.index) }
            if case .open(let response) = judgement { return look(into: response, rules, token) }
            exchangeIsOver(result, token)
        }
    }

    // MARK: Events

    /// What an event is about is put together once for an attempt, or for each place that it goes to.
    func attemptEvent(_ state: inout State, at now: Instant) -> AttemptEvent? {
        guard run.events != nil, let call = state.call else { return nil }
        if let subject = state.subject { return AttemptEvent(subject, at: now) }
        let subject = AttemptEvent.Subject(
            run: run.id, call: state.number, attempt: max(1, state.attempt), request: call.request,
            isUndo: state.scope?.isUndo ?? false, place: state.place)
        state.subject = subject
        return AttemptEvent(subject, at: now)
    }

    /// Tells of the attempt under the call's lock, so that nothing that follows is told first. Whether there is something
    /// to deliver.
    func note(_ state: inout State, at now: @autoclosure () -> Instant, _ make: (AttemptEvent) -> Event) -> Bool {
        guard let events = run.events, let event = attemptEvent(&state, at: now()) else { return false }
        return events.enter(make(event))
    }

    func noteEnd(_ result: Result<HTTPResponse, BatonError>, _ state: inout State) -> Bool {
        note(&state, at: scheduler.now) { .attemptEnded($0, result) }
    }
}
