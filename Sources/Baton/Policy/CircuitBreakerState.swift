/// One circuit breaker: admits calls and learns from how they end.
///
/// Each change of phase starts a new generation. Admissions carry their generation, and a result of an older one is
/// ignored. Every admitted call must be recorded exactly once.
package struct CircuitBreakerState: Sendable {
    package enum Phase: Sendable, Equatable {
        case closed
        /// Everything is refused until then.
        case open(until: Instant)
        /// Probes are let through.
        case halfOpen
    }

    package enum Admission: Sendable, Equatable {
        case allowed(generation: UInt64)
        /// The call decides, with the other probes, whether the breaker closes.
        case probe(generation: UInt64)
        /// Asking again pays from then on; nil while probes are on their way, whose end nobody knows.
        case refused(until: Instant?)
    }

    package enum Outcome: Sendable, Equatable {
        case success, failure
        /// It ended without saying anything about the host.
        case cancelled
    }

    package private(set) var phase = Phase.closed
    package private(set) var generation: UInt64 = 0
    private let minimumCalls: Int
    private let failureShare: Double
    private let openDuration: Duration
    private let jitter: Double
    private let probes: Int
    /// Calls of the present closed phase: successes are the first count, failures the second.
    private var calls: SlidingCounts
    private var probing = 0
    private var probesSucceeded = 0

    package init(_ breaker: CircuitBreaker) {
        minimumCalls = breaker.minimumCalls
        failureShare = breaker.failureShare
        openDuration = breaker.openDuration
        jitter = breaker.jitter
        probes = breaker.probes
        calls = SlidingCounts(window: breaker.window)
    }

    /// Whether a call may pass now. Refusals change nothing.
    package mutating func admit(at now: Instant) -> Admission {
        switch phase {
        case .closed: return .allowed(generation: generation)
        case .open(let until) where now < until: return .refused(until: until)
        case .open: enter(.halfOpen)
        case .halfOpen: break
        }
        guard probing + probesSucceeded < probes else { return .refused(until: nil) }
        probing += 1
        return .probe(generation: generation)
    }

    /// A call that was admitted in `generation` is over.
    ///
    /// - Parameter random: 64 random bits, for the time that the breaker stays open.
    /// - Returns: the new phase where it changed.
    @discardableResult
    package mutating func record(
        _ outcome: Outcome, generation: UInt64, at now: Instant, random: UInt64
    ) -> Phase? {
        guard generation == self.generation else { return nil }
        switch phase {
        case .closed: return count(outcome, at: now, random: random)
        case .open: return nil
        case .halfOpen: return conclude(outcome, at: now, random: random)
        }
    }

    private mutating func count(_ outcome: Outcome, at now: Instant, random: UInt64) -> Phase? {
        guard outcome != .cancelled else { return nil }
        calls.add(first: outcome == .success ? 1 : 0, second: outcome == .failure ? 1 : 0, at: now)
        let sum = calls.sum(at: now)
        let total = sum.first + sum.second
        guard total >= minimumCalls, Double(sum.second) >= failureShare * Double(total) else { return nil }
        return open(at: now, random: random)
    }

    private mutating func conclude(_ outcome: Outcome, at now: Instant, random: UInt64) -> Phase? {
        guard probing > 0 else { return nil }
        probing -= 1
        switch outcome {
        case .cancelled: return nil
        case .failure: return open(at: now, random: random)
        case .success:
            probesSucceeded += 1
            return probesSucceeded == probes ? enter(.closed) : nil
        }
    }

    private mutating func open(at now: Instant, random: UInt64) -> Phase {
        let share = Double(random >> 11) / Double(1 << 53)
        let wait = openDuration * (1 + jitter * (2 * share - 1))
        return enter(.open(until: now.advanced(by: wait)))
    }

    @discardableResult
    private mutating func enter(_ phase: Phase) -> Phase {
        self.phase = phase
        generation += 1
        calls.removeAll()
        probing = 0
        probesSucceeded = 0
        return phase
    }
}
