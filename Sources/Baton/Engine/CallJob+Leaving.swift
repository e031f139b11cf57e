internal import Foundation

/// The way to the transport: an attempt is built, gets a slot, and leaves.
///
/// Each part decides with the lock held and says what follows; where nothing stands in the way, a request is built, gets
/// its slot and leaves with one look at the state.
extension CallJob {
    /// What follows from a decision.
    enum Course: ~Copyable {
        /// Nothing: the call has ended, or it waits and will be told.
        case none
        case end(BatonError)
        case refuse(BatonError)
        case coalesce
        case intercept(Intercepting)
        case adapt(Adapting)
        /// What takes the body has something to say in the request.
        case prepare
        case askBreaker
        case hedge
        /// Its item has lent the place that it needs.
        case takePlace
        /// It waits for a full host, and others may be begun in its place.
        case lend(BatchJob)
        case giveBack
        /// It has its slot.
        case send(CallDescription)
    }

    /// What adapters are called with.
    struct Adapting {
        var original: CallDescription
        var adapters: [any RequestAdapter]
        var context: AttemptContext
    }

    /// What interceptors are called with.
    struct Intercepting {
        var original: CallDescription
        var layers: [InterceptorStack.Layer]
        /// What the last one hands on to.
        var below: Layers
        var context: AttemptContext
    }

    /// What is seen to once the lock is free, before the course is followed.
    struct Sequel {
        /// A host that is held back, and that somebody has to let go.
        var heldBack: HostPolicies?
        /// Whether observers have something to be told.
        var tells = false
        /// What travelled before, and what events were about: released outside the lock, because it may be the last of
        /// what others have given.
        var changed: CallDescription?
        var subject: AttemptEvent.Subject?

        /// Lets another request travel, or the original again.
        mutating func change(to call: CallDescription?, in state: inout State) {
            (changed, subject) = (state.changed.take(), state.subject.take())
            state.changed = call
        }
    }

    func see(to sequel: Sequel) {
        if sequel.tells { run.events?.deliver() }
        sequel.heldBack?.letGo()
    }

    func follow(_ course: consuming Course, _ token: UInt64) {
        switch consume course {
        case .none: break
        case .giveBack: break
        case .end(let error): finish(.failure(error), token)
        case .refuse(let error): refuse(error, token)
        case .coalesce:
            guard !coalesces(token) else { return }
            proceed(token) { state, now, sequel in
                if state.layers == .all, let stack = state.stack ?? settings.stack, !stack.call.isEmpty,
                    let original = state.original
                {
                    return interception(.call, by: stack, original, &state)
                }
                return begin(&state, now, &sequel)
            }
        case .intercept(let facts): intercept(facts, token)
        case .adapt(let facts): adapt(facts, token)
        case .prepare: prepare(token)
        case .askBreaker: if passesBreaker(token) { enqueue(token) }
        case .hedge: sendCopy(token)
        case .takePlace: retryNow(token)
        case .lend(let batch): batch.placeIsFree()
        case .send(let call): send(call, token)
        }
    }

    /// Takes the next step of a call that is being prepared.
    func proceed(
        _ token: UInt64, _ step: (inout State, Instant, inout Sequel) -> Course
    ) {
        let now = scheduler.now
        var sequel = Sequel()
        let course: Course = state.withLock { state in
            guard state.token == token, state.phase == .preparing, state.original != nil else { return .none }
            return step(&state, now, &sequel)
        }
        see(to: sequel)
        follow(course, token)
    }

    // MARK: An attempt

    /// Builds the next attempt from the original request.
    func beginAttempt(_ token: UInt64) { proceed(token, begin) }

    func begin(_ state: inout State, _ now: Instant, _ sequel: inout Sequel) -> Course {
        sequel.change(to: nil, in: &state)
        state.hops = 0
        state.slotWait = nil
        guard state.layers != .exchange else { return queue(&state, now, &sequel) }
        state.attempt += 1
        if settings.keepsRecords || state.attempt > 1 || state.options.retry != nil {
            state.attemptBegan = now
            if state.began == nil { state.began = now }
        }
        if let original = state.original, original.isMoving, original.sink != nil { return .prepare }
        return dress(&state, now, &sequel)
    }

    /// Lets interceptors have the request.
    func dress(_ state: inout State, _ now: Instant, _ sequel: inout Sequel) -> Course {
        guard let stack = state.stack ?? settings.stack, !stack.attempt.isEmpty else {
            return queue(&state, now, &sequel)
        }
        guard let original = state.call else { return .none }
        guard let adapters = stack.adapters else { return interception(.attempt, by: stack, original, &state) }
        let context = AttemptContext(
            run: run.id, call: state.number, attempt: state.attempt, options: state.options, scheduler: scheduler)
        return .adapt(Adapting(original: original, adapters: adapters, context: context))
    }

    /// Lets adapters change the request: closures of others, so the lock is not held.
    private func adapt(_ facts: Adapting, _ token: UInt64) {
        var request = facts.original.request
        do {
            for adapter in facts.adapters { try adapter.adapt(&request, context: facts.context) }
            let changed = try facts.original.changed(to: consume request)
            let isChanged = changed !== facts.original
            proceed(token) { state, now, sequel in
                if isChanged { sequel.change(to: changed, in: &state) }
                return queue(&state, now, &sequel)
            }
        } catch {
            let error = BatonError.wrapping(error, as: .interceptorFailed, "an adapter threw an error")
            refuse(error.with(phase: .intercept), token)
        }
    }

    // MARK: A slot

    private func queue(_ state: inout State, _ now: Instant, _ sequel: inout Sequel) -> Course {
        engine.breakers == nil ? admit(&state, now, &sequel) : .askBreaker
    }

    private func enqueue(_ token: UInt64) {
        proceed(token) { state, now, sequel in admit(&state, now, &sequel) }
    }

    /// Sends the request that a redirect leads to, within the same attempt.
    func enqueueHop(_ next: HTTPRequest, _ token: UInt64) {
        proceed(token) { state, now, sequel in
            sequel.change(to: state.original?.with(next), in: &state)
            return queue(&state, now, &sequel)
        }
    }

    /// The call stood in line before, and only its place in the batch was missing.
    func enqueueAgain(_ token: UInt64) {
        proceed(token) { state, now, sequel in admit(&state, now, &sequel, isBack: true) }
    }

    /// Gets a slot for the request, at once or when there is one.
    private func admit(
        _ state: inout State, _ now: Instant, _ sequel: inout Sequel, isBack: Bool = false
    ) -> Course {
        guard let call = state.call else { return .none }
        if !isBack, state.hops == 0, let hedging = state.options.hedging ?? settings.hedging,
            beginHedge(&state, call, hedging)
        {
            return .hedge
        }
        let origin = call.request.origin
        if state.hostOrigin !== origin {
            state.hostOrigin = origin
            state.host = nil
            state.policies = nil
        }
        if engine.watchesHosts, !isBack {
            let policies = hostPolicies(&state, origin)
            if policies.begin(at: now, isFirst: state.attempt <= 1 && !state.isCopy && state.hops == 0) {
                sequel.heldBack = policies
            }
        }
        state.phase = .waiting
        state.ticket = nil
        if !isBack, state.queued != nil { state.queued = nil }
        var isHostFull = false
        // The queue's lock within the call's: it only decides, and posts nothing while admitting.
        let admission = engine.queue.admit(
            self, kind: Self.granted, token: state.token, origin: origin, host: &state.host, run: run.id,
            priority: state.options.priority ?? .normal, isRetry: isBack || state.attempt > 1 || state.hops > 0,
            isHostFull: &isHostFull)
        switch admission {
        case .granted:
            probe?.note(.slotTaken(limit: engine.queue.limit))
            return depart(call, &state, now, &sequel)
        case .rejected:
            return .refuse(
                BatonError(.queueFull, "the client's queue is full: raise maxWaiting, or send less at once").with(
                    phase: .queue))
        case .queued(let ticket):
            state.ticket = ticket
            // It began to wait before, where it came back for its place in the batch.
            if state.queued == nil {
                state.queued = now
                sequel.tells = note(&state, at: now) { .attemptQueued($0) }
            }
            guard isHostFull, let batch = rest(state) else { return .none }
            state.isParked = true
            return .lend(batch)
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
        let now = scheduler.now
        var sequel = Sequel()
        let course: Course = state.withLock { state in
            guard state.phase == .waiting, state.token == token, let call = state.call else { return .giveBack }
            return depart(call, &state, now, &sequel)
        }
        see(to: sequel)
        switch consume course {
        case .giveBack: giveBack(host)
        case let other: follow(other, token)
        }
    }

    /// The host has room: whether the call has its place in the batch back too. Otherwise another one may have the slot.
    private func comesBack(_ owner: any CallOwner, _ lane: Int, _ token: UInt64) -> Bool {
        let hasPlace = mayGoOn(owner, lane, token)
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

    // MARK: Away

    private func depart(
        _ call: consuming CallDescription, _ state: inout State, _ now: Instant, _ sequel: inout Sequel
    ) -> Course {
        state.phase = .inFlight
        state.ticket = nil
        if let policies = state.policies, state.isCopy || policies.isAdaptive {
            policies.depart()
            state.departed = now
        }
        let waited = state.queued?.duration(to: now)
        if let waited {
            state.queued = nil
            state.slotWait = (state.slotWait ?? .zero) + waited
        } else if state.slotWait == nil {
            state.slotWait = .zero
        }
        if state.hops == 0 { state.deadline = deadline(&state, now) }
        armTimer(&state)
        probe?.note(.exchangeSent(probed(state.token), isUndo: state.scope?.isUndo ?? false))
        if run.events != nil, state.hops == 0 {
            if let waited { sequel.tells = note(&state, at: now) { .attemptAdmitted($0, after: waited) } }
            if note(&state, at: now, { .attemptStarted($0) }) { sequel.tells = true }
        }
        return .send(dressed(call, &state))
    }

    private func send(_ call: CallDescription, _ token: UInt64) {
        if call.isMoving { return carry(call, token) }
        let receiver = TransportReceiver(self, token: token)
        let transmission =
            settings.keepsCookies
            ? engine.transport.send(withCookies(call.request), to: receiver)
            : engine.transport.send(call.request, to: receiver)
        // There is nothing to cancel.
        if transmission is FinishedTransmission { return }
        if !keeps(transmission, token) { transmission.cancel() }
    }

    /// Keeps what cancels the exchange. False: it was given up while it was being sent, and whoever did so had nothing to
    /// cancel yet; or it is over already, and then a cancel does nothing.
    func keeps(_ transmission: any Transmission, _ token: UInt64) -> Bool {
        state.withLock { state in
            if state.token == token, state.phase == .inFlight { state.transmission = transmission }
            return state.token == token
        }
    }

    /// When an exchange that begins now, or shows a sign of life, is out of time.
    func deadline(_ state: inout State, _ now: Instant) -> Instant {
        state.options.timeout.map(now.advanced) ?? now.advanced(byNanoseconds: settings.timeoutNanoseconds)
    }

    func probed(_ token: UInt64) -> ProbedExchange {
        ProbedExchange(run: run.id, call: ObjectIdentifier(self), token: token)
    }
}
