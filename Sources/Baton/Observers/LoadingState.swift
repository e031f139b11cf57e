/// Whether one place shows that something is loading. It decides; who asks, acts.
struct LoadingState: Sendable {
    enum Phase: Sendable, Equatable {
        case hidden
        /// Something is loading, not yet for long enough to say so.
        case waiting
        case shown(since: Instant)
        /// Nothing is loading any more, but it was not shown for long enough.
        case lingering(since: Instant)
    }

    enum Action: Sendable, Equatable {
        case nothing
        case show
        case hide
        /// Look again then; whatever was to be looked at before is forgotten.
        case wait(until: Instant)
        /// Forget what was to be looked at.
        case forget
    }

    let delay: Duration
    let minimum: Duration
    private(set) var count = 0
    private(set) var phase = Phase.hidden

    init(delay: Duration, minimum: Duration) {
        self.delay = delay
        self.minimum = minimum
    }

    mutating func begin(at now: Instant) -> Action {
        count += 1
        switch phase {
        case .hidden where delay <= .zero:
            phase = .shown(since: now)
            return .show
        case .hidden:
            phase = .waiting
            return .wait(until: now.advanced(by: delay))
        case .lingering(let since):
            phase = .shown(since: since)
            return .forget
        case .waiting, .shown: return .nothing
        }
    }

    mutating func end(at now: Instant) -> Action {
        guard count > 0 else { return .nothing }
        count -= 1
        guard count == 0 else { return .nothing }
        switch phase {
        case .waiting:
            phase = .hidden
            return .forget
        case .shown(let since) where since.duration(to: now) < minimum:
            phase = .lingering(since: since)
            return .wait(until: since.advanced(by: minimum))
        case .shown:
            phase = .hidden
            return .hide
        case .hidden, .lingering: return .nothing
        }
    }

    /// The time to look again has come.
    mutating func look(at now: Instant) -> Action {
        switch phase {
        case .waiting:
            phase = .shown(since: now)
            return .show
        case .lingering:
            phase = .hidden
            return .hide
        case .hidden, .shown: return .nothing
        }
    }
}
