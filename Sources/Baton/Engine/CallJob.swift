internal import Foundation

/// One request on its way: its attempts, the interceptors around them, and the exchange that is in flight.
///
/// Replies, timeouts and cancellations come from anywhere and at any time. Each takes the one lock, compares phase and
/// token, and the first one that fits decides; it acts after unlocking. The token changes with every exchange, so what
/// comes late finds nothing to change. A lane of a batch and a chain use one call again and again.
final class CallJob: Cancellable, RunPart {
    enum Phase {
        case idle, preparing, coalescing, intercepting, hedging, waiting, inFlight, landed, backingOff, returning
    }

    /// How much of the way is this call's own: interceptors hand on to a call with fewer layers.
    enum Layers {
        /// The whole way: call interceptors, retries, attempt interceptors, exchange.
        case all
        /// Retries, attempt interceptors, exchange.
        case attempts
        /// One exchange.
        case exchange
    }

    /// Handed on as `inout`, also to those who only read: a copy would retain all that it holds. What is small stands
    /// together at the end, and what few calls have is a reference: each request that waits has one of these.
    struct State {
        var token: UInt64 = 0
        var number: UInt64 = 0
        /// Where it stands in the plan; empty where nobody is told events.
        var place = PlanPlace()
        var owner: (any CallOwner)?
        var lane = 0
        var item = BatchJob.Item()
        var original: CallDescription?
        /// What travels, where adapters or interceptors made something else of the original.
        var changed: CallDescription?
        /// What events of this attempt at this place are about; nil until one is told.
        var subject: AttemptEvent.Subject?
        /// Attempts that were begun, including those that an interceptor asked for.
        var attempt = 0
        /// Redirects that were followed in this attempt.
        var hops = 0
        /// The origin that the queue's and the hosts' words are about.
        var hostOrigin: HTTPOrigin?
        /// What the host has shown; looked up with the first request to it.
        var policies: HostPolicies?
        /// The original's options over those of the plans around it.
        var options = RequestOptions()
        /// The interceptors that the request chose; nil where it has the client's.
        var stack: InterceptorStack?
        var scope: PlanScope?
        var breaker: Breakers.Ticket?
        var hedge: Hedge?
        var key: CoalescingKey?
        /// The attempts that failed, and the one that succeeded after them.
        var records: [AttemptRecord] = []
        var transmission: (any Transmission)?
        /// What has come of a response that comes in pieces.
        var received: Received?
        /// When the attempt in flight is out of time.
        var deadline = Instant.distantFuture
        /// The timer that looks at `deadline` is set early rather than moved with every exchange.
        var timerInstant = Instant.distantFuture
        var task: Task<Void, Never>?
        /// Exchanges that an interceptor has under way.
        var children: [CallJob] = []
        /// A call that served an interceptor, for the next one.
        var spare: CallJob?
        /// Where interceptors get their clients from; nil until there is one.
        var source: ClientSource?
        /// Exchanges that were given up while the transport had them: they keep their slots for a while.
        var orphans: [Orphan] = []
        /// For good: a call that was cancelled between two uses, or before the first, does not begin the next one.
        var cancellation: BatonError?
        /// How long this attempt has waited for slots; nil before the first one.
        var slotWait: Duration?
        /// How much of the way is this call's own.
        var layers = Layers.all
        var phase = Phase.idle
        /// When it began to wait for the slot that it waits for; nil where it waits for none.
        var queued: Instant?
        /// Whether the attempt goes on after an exchange that has landed: it is looked into, or redirected.
        var isOpen = false
        /// Whether the call has lent its place in a batch while it waits for a full host, and whether it wants it back.
        var isParked = false
        var isReturning = false
        /// When the call, its present attempt and its present exchange began; nil where nobody asks.
        var began: Instant?
        /// Whether it is one of several copies.
        var isCopy = false
        var attemptBegan: Instant?
        /// Whether the interceptors under way have been told that there are no attempts left.
        var isExhausted = false
        /// Whether they have sent the attempt's own request.
        var isPassTaken = false
        var departed: Instant?
        /// What the queue calls the host of `hostOrigin`.
        var host: HostID?
        var ticket: RequestQueue.Ticket?
        var timer: TimerHandle?
        var backoff: TimerHandle?
        var reply: Result<HTTPResponse, BatonError>?

        var isCancelled: Bool { cancellation != nil }
        /// Whether there is more to leave behind than what travelled.
        var leavesMore: Bool {
            !options.isEmpty || stack != nil || scope != nil || transmission != nil
                || reply != nil || task != nil
        }
        /// Whether a redirect waits for its slot, or for its place in a batch.
        var isHopInLine: Bool { hops > 0 && (phase == .waiting || phase == .returning) }
        /// Whether nobody wants to know more of an exchange than that it succeeded.
        var isUnwatched: Bool {
            departed == nil && breaker == nil && hops == 0 && records.isEmpty
        }
        var call: CallDescription? { changed ?? original }
        var watch: Watch { Watch(breaker: breaker, policies: policies, departed: departed) }
    }

    /// The head and what there is of the body.
    final class Received {
        let head: HTTPResponseHead?
        var body = Data()

        init(_ head: HTTPResponseHead?) { self.head = head }
    }

    struct Orphan {
        var token: UInt64
        var host: Int32
        var forfeit: TimerHandle
        var event: AttemptEvent?
    }

    let run: RunCore
    let state = LockBox(State())

    let engine: Engine
    let settings: Settings
    let scheduler: any Scheduler
    let probe: (any EngineProbe)?

    init(run: RunCore) {
        self.run = run
        engine = run.engine
        settings = run.settings
        scheduler = run.engine.scheduler
        probe = run.probe
    }

    // MARK: Beginning

    /// Begins a request. The call must be idle.
    ///
    /// - Parameters:
    ///   - number: the request's number, where this is only a part of its way; nil draws one.
    ///   - item: the item of a batch that it is.
    ///   - now: the time, where the caller knows it.
    ///   - needsPlace: whether it has to get the place back that an earlier part of its item has lent.
    func start(
        _ original: CallDescription, layers: Layers = .all, number: UInt64? = nil, attempt: Int = 0,
        scope: PlanScope? = nil, owner: any CallOwner, lane: Int, item: BatchJob.Item = BatchJob.Item(),
        now: Instant? = nil, needsPlace: Bool = false
    ) {
        let options = scope == nil ? original.options : original.options.over(scope?.options)
        let chosen = options.interceptors.map { selection in
            InterceptorStack(selection.applied(to: settings.configuration.interceptors))
        }
        let stack = chosen ?? settings.stack
        let number = number ?? (run.events != nil || stack != nil ? Numbering.next() : 0)
        let now = now ?? scheduler.now
        if let sink = original.sink { sink.attach(to: scheduler) }
        var sequel = Sequel()
        var token: UInt64 = 0
        let place = run.events == nil ? nil : owner.callPlace(lane: lane)
        let course: Course = state.withLock { state in
            if let place { state.place = place }
            state.phase = .preparing
            state.token &+= 1
            token = state.token
            state.number = number
            state.owner = owner
            state.lane = lane
            state.item = item
            state.layers = layers
            state.original = original
            state.attempt = attempt
            if let scope { state.scope = scope }
            state.options = options
            if let chosen { state.stack = chosen }
            (state.began, state.attemptBegan, state.queued, state.slotWait) = (nil, nil, nil, nil)
            if !state.records.isEmpty { state.records = [] }
            if let cancellation = state.cancellation { return .end(cancellation) }
            if layers == .all {
                if options.coalescing ?? settings.coalescing != nil, original.sink == nil { return .coalesce }
                if let stack, !stack.call.isEmpty { return interception(.call, by: stack, original, &state) }
            }
            if needsPlace {
                state.phase = .backingOff
                return .takePlace
            }
            return begin(&state, now, &sequel)
        }
        see(to: sequel)
        follow(course, token)
    }

    /// Ends the call before it was sent. Posted, because whoever began it is still on the stack: it would go on with
    /// the next item from within this one.
    func refuse(_ error: BatonError, _ token: UInt64) {
        let isCurrent = state.withLock { state in
            guard state.token == token, state.phase != .idle else { return false }
            state.reply = .failure(error)
            return true
        }
        if isCurrent { scheduler.post(self, Signal(kind: Self.refused, token: token)) }
    }

    private func refused(_ token: UInt64) {
        let (reply, tells): (Result<HTTPResponse, BatonError>?, Bool) = state.withLock { state in
            guard state.token == token, let reply = state.reply else { return (nil, false) }
            defer { state.isOpen = false }
            return (reply, state.isOpen && noteEnd(reply, &state))
        }
        guard let reply else { return }
        if tells { run.events?.deliver() }
        finish(reply, token)
    }

    // MARK: Signals

    static let granted: UInt8 = 10
    static let landed: UInt8 = 11
    static let timer: UInt8 = 12
    static let retry: UInt8 = 13
    static let forfeit: UInt8 = 14
    static let refused: UInt8 = 15
    static let hedge: UInt8 = 16
    static let place: UInt8 = 17
    static let look: UInt8 = 18

    func run(_ signal: Signal) {
        switch signal.kind {
        case Self.granted: granted(signal.token, host: signal.value)
        case Self.landed: settle(signal.token)
        case Self.timer: timerFired()
        case Self.retry: retryNow(signal.token)
        case Self.forfeit: forfeit(signal.token)
        case Self.refused: refused(signal.token)
        case Self.hedge: hedgeFired(signal.token)
        case Self.place: placed(signal.token)
        case Self.look: lookNow(signal.token, isRedirect: signal.value != 0)
        default: break
        }
    }

    // MARK: Between attempts

    func backOff(for wait: Duration, because error: BatonError, _ token: UInt64) {
        let now = scheduler.now
        var tells = false
        let batch: BatchJob? = state.withLock { state in
            guard state.token == token, !state.isCancelled else { return nil }
            tells = note(&state, at: now) { .retryScheduled($0, after: wait, because: error) }
            state.phase = .backingOff
            state.backoff = scheduler.schedule(
                self, Signal(kind: Self.retry, token: token), at: now.advanced(by: wait))
            return rest(state)
        }
        if tells { run.events?.deliver() }
        batch?.placeIsFree()
    }

    func retryNow(_ token: UInt64) {
        let due: (owner: any CallOwner, lane: Int)? = state.withLock { state in
            guard state.phase == .backingOff, state.token == token, let owner = state.owner else { return nil }
            state.backoff = nil
            state.isReturning = true
            return (owner, state.lane)
        }
        guard let due, mayGoOn(due.owner, due.lane, token) else { return }
        placed(token)
    }
}
