/// The circuit breakers of a client, by their keys.
final class Breakers: Sendable {
    /// What an admitted call has to report to.
    struct Ticket: Sendable {
        var key: String
        var generation: UInt64
    }

    let configuration: CircuitBreaker
    private let states = LockBox<[String: CircuitBreakerState]>([:])

    init(_ configuration: CircuitBreaker) {
        self.configuration = configuration
    }

    func admit(_ request: HTTPRequest, at now: Instant) throws(BatonError) -> Ticket {
        let key =
            switch configuration.key {
            case .host: request.origin.description
            case .custom(let name): name(request)
            }
        let admission = states.withLock { states in
            states[key, default: CircuitBreakerState(configuration)].admit(at: now)
        }
        switch admission {
        case .allowed(let generation), .probe(let generation): return Ticket(key: key, generation: generation)
        case .refused(let until):
            let hint = until.map { now.duration(to: $0) }
            throw BatonError(
                .circuitOpen,
                "the circuit breaker for \(key) is open, because too many requests failed; nothing was sent"
            ).with(retryAfter: hint, retryNote: nil)
        }
    }

    func record(_ outcome: CircuitBreakerState.Outcome, _ ticket: Ticket, at now: Instant, random: UInt64) -> String? {
        let phase = states.withLock { states in
            states[ticket.key]?.record(outcome, generation: ticket.generation, at: now, random: random)
        }
        return switch phase {
        case nil: nil
        case .closed: "closed"
        case .open: "open"
        case .halfOpen: "half-open"
        }
    }
}
