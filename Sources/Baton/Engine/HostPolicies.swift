internal import Foundation

/// What one host has shown so far, and what follows from it: its retry budget, pace, limit and latencies.
///
/// Decisions are made by the pure states of the policies under one lock; the queue is told after it.
final class HostPolicies: Job {
    private struct State {
        var budget: RetryBudgetState?
        var pacing: ServerPacingState?
        var adaptive: AdaptiveConcurrencyState?
        var latencies = LatencyTracker()
        var inFlight = 0
        /// The limit after a pause; nil when it does not matter any more.
        var pacedLimit: Int?
        var isPaused = false
        /// The limit that is configured for every host.
        var hostLimit: Int?
        /// What the queue was told last, and whether somebody is telling it.
        var applied = Hold()
        var isApplying = false
        var timer: TimerHandle?
        var lastUse = Instant.distantPast

        /// What is to hold: the lowest of the limits.
        var wanted: Hold {
            let own = [pacedLimit, adaptive?.limit].compactMap { $0 }
            return Hold(isPaused: isPaused, limit: own.isEmpty ? nil : (own + [hostLimit].compactMap { $0 }).min())
        }
    }

    /// How the queue treats the host.
    private struct Hold: Equatable {
        var isPaused = false
        var limit: Int?
    }

    /// Whether it has to be told of every attempt that leaves.
    let isAdaptive: Bool
    private let origin: HTTPOrigin
    private let state: LockBox<State>
    private let queue: RequestQueue
    private let scheduler: any Scheduler

    init(_ origin: HTTPOrigin, _ configuration: ResilienceConfiguration, _ engine: Engine) {
        self.origin = origin
        queue = engine.queue
        scheduler = engine.scheduler
        isAdaptive = configuration.adaptive != nil
        state = LockBox(
            State(
                budget: configuration.budget.map { RetryBudgetState($0) },
                pacing: configuration.pacing.map { ServerPacingState($0) },
                adaptive: configuration.adaptive.map {
                    AdaptiveConcurrencyState($0, ceiling: configuration.hostLimit)
                }, hostLimit: configuration.hostLimit))
        apply()
    }

    /// An attempt is about to wait for the host; a request's first one makes the budget grow.
    ///
    /// - Returns: whether the host is held back, and somebody has to let it go: call ``letGo()`` then, outside every lock.
    func begin(at now: Instant, isFirst: Bool) -> Bool {
        state.withLock { state in
            if isFirst { state.budget?.noteRequest(at: now) }
            state.lastUse = now
            return (state.isPaused || state.pacedLimit != nil) && state.timer == nil
        }
    }

    /// Sees to it that requests which wait for the host go on as soon as they may.
    func letGo() { setPace(at: scheduler.now, isWanted: true) }

    /// Draws one retry or hedge on the budget; false when it is used up.
    func withdraw(at now: Instant) -> Bool {
        state.withLock { $0.budget?.withdraw(at: now) ?? true }
    }

    func depart() { state.withLock { $0.inFlight += 1 } }

    /// How long to wait before a hedge; nil: nothing is hedged yet.
    func wait(_ hedging: Hedging) -> Duration? {
        state.withLock { state in hedging.wait(state.latencies) }
    }

    /// Whether nothing of it need be remembered.
    func isIdle(at now: Instant) -> Bool {
        state.withLock { state in
            state.inFlight == 0 && !state.isPaused && state.pacedLimit == nil
                && state.lastUse.duration(to: now) > .seconds(60)
        }
    }

    /// An attempt is over.
    ///
    /// - Parameter began: when it left, where the host was told of that.
    func arrive(_ result: Result<HTTPResponse, BatonError>, began: Instant?, _ run: RunCore) {
        let now = scheduler.now
        let head = ServerPacing.concerns(result.response) ? result.response?.head : nil
        let date = head == nil ? nil : scheduler.date
        let (pauseEnd, limit): (Instant?, Int?) = state.withLock { state in
            var limit: Int?
            if let began {
                if case .success = result { state.latencies.note(began.duration(to: now)) }
                limit = state.adaptive?.sample(
                    AdaptiveConcurrencyState.Sample(result), began: began, inFlight: state.inFlight, at: now)
                state.inFlight -= 1
            }
            state.lastUse = now
            guard let head, let date, let end = state.pacing?.note(head, at: now, date: date, random: scheduler.random)
            else { return (nil, limit) }
            state.isPaused = true
            return (end, limit)
        }
        if limit != nil || pauseEnd != nil { apply() }
        if let limit { run.events?.append(.limitChanged(host: origin.description, limit: limit, at: now)) }
        guard let pauseEnd else { return }
        run.events?.append(.hostPaused(host: origin.description, for: now.duration(to: pauseEnd), at: now))
        if queue.waiting(at: origin) > 0 { setTimer(at: pauseEnd) }
    }

    /// The next step after a pause. Where nobody waits, no timer is set: the next request looks again.
    func run(_ signal: Signal) {
        state.withLock { $0.timer = nil }
        setPace(at: scheduler.now, isWanted: queue.waiting(at: origin) > 0)
    }

    private func setPace(at now: Instant, isWanted: Bool) {
        let pace: ServerPacingState.Pace = state.withLock { state in
            let pace = state.pacing?.pace(at: now) ?? .free
            switch pace {
            case .paused: break
            case .limited(let limit, _): (state.isPaused, state.pacedLimit) = (false, limit)
            case .free: (state.isPaused, state.pacedLimit) = (false, nil)
            }
            return pace
        }
        if case .paused(let until) = pace {
            if isWanted { setTimer(at: until) }
            return
        }
        apply()
        if case .limited(_, let until) = pace, isWanted { setTimer(at: until) }
    }

    private func setTimer(at instant: Instant) {
        let old = state.withLock { state in
            let old = state.timer
            state.timer = scheduler.schedule(self, .resume, at: instant)
            return old
        }
        if let old { scheduler.cancel(old) }
    }

    /// The limit that is configured for every host has changed.
    func setHostLimit(_ limit: Int?) {
        state.withLock { state in
            state.hostLimit = limit
            _ = state.adaptive?.setCeiling(limit)
        }
        apply()
    }

    /// Tells the queue what is to hold. One at a time does, so that what was decided last is also told last.
    private func apply() {
        let begins = state.withLock { state in
            guard !state.isApplying, state.applied != state.wanted else { return false }
            state.isApplying = true
            return true
        }
        guard begins else { return }
        while true {
            let news: (old: Hold, new: Hold)? = state.withLock { state in
                let (old, new) = (state.applied, state.wanted)
                guard old != new else {
                    state.isApplying = false
                    return nil
                }
                state.applied = new
                return (old, new)
            }
            guard let (old, new) = news else { return }
            if old.limit != new.limit { queue.setLimit(new.limit, of: origin) }
            guard old.isPaused != new.isPaused else { continue }
            if new.isPaused { queue.pause(host: origin) } else { queue.resume(host: origin) }
        }
    }

    /// The client's engine goes: so does the timer.
    func stop() {
        let timer = state.withLock { state in
            defer { state.timer = nil }
            return state.timer
        }
        if let timer { scheduler.cancel(timer) }
    }
}

/// What a client's configuration says about hosts.
struct ResilienceConfiguration: Sendable {
    var budget: RetryBudget?
    var pacing: ServerPacing?
    var adaptive: AdaptiveConcurrency?
    var hostLimit: Int?
}
