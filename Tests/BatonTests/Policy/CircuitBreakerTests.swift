import Baton
import Testing

@Suite("Circuit breaker")
struct CircuitBreakerTests {
    private typealias State = CircuitBreakerState

    /// A breaker that a hundred failures at second 0 opened; without jitter it refuses until second 30.
    private func opened(_ breaker: CircuitBreaker = CircuitBreaker(jitter: 0), random: UInt64 = 0)
        -> CircuitBreakerState
    {
        var state = CircuitBreakerState(breaker)
        for _ in 0..<100 { state.record(.failure, generation: 0, at: at(0), random: random) }
        return state
    }

    @Test(
        "It opens when the share is reached with enough calls, and not before",
        arguments: [
            (10, 10, true), (11, 10, false), (0, 19, false), (0, 20, true), (1, 19, true), (100, 99, false),
            (100, 100, true),
        ])
    func opens(successes: Int, failures: Int, isOpen: Bool) {
        var state = CircuitBreakerState(CircuitBreaker(jitter: 0))
        for _ in 0..<successes { state.record(.success, generation: 0, at: at(1), random: 0) }
        var change: State.Phase?
        for _ in 0..<failures { change = state.record(.failure, generation: 0, at: at(1), random: 0) ?? change }
        #expect(change == (isOpen ? .open(until: at(31)) : nil))
        #expect(state.admit(at: at(1)) == (isOpen ? .refused(until: at(31)) : .allowed(generation: 0)))
    }

    @Test("A success can complete the minimum of calls, and opens it then")
    func minimumBySuccess() {
        var state = CircuitBreakerState(CircuitBreaker(jitter: 0))
        for _ in 0..<19 { state.record(.failure, generation: 0, at: at(1), random: 0) }
        #expect(state.record(.success, generation: 0, at: at(1), random: 0) == .open(until: at(31)))
    }

    @Test("Calls that lie a window back do not count")
    func window() {
        var state = CircuitBreakerState(CircuitBreaker())
        for _ in 0..<19 { state.record(.failure, generation: 0, at: at(0), random: 0) }
        #expect(state.record(.failure, generation: 0, at: at(30), random: 0) == nil)
        #expect(state.phase == .closed)
    }

    @Test("Refused and cancelled calls count nowhere")
    func neutral() {
        var state = CircuitBreakerState(CircuitBreaker())
        for _ in 0..<19 { state.record(.failure, generation: 0, at: at(0), random: 0) }
        for _ in 0..<100 { state.record(.cancelled, generation: 0, at: at(0), random: 0) }
        #expect(state.phase == .closed)

        var open = opened()
        for second in 0..<30 { #expect(open.admit(at: at(Double(second))) == .refused(until: at(30))) }
        #expect(open.admit(at: at(30)) == .probe(generation: 2))
    }

    @Test("A probe that succeeds closes it, and counting starts afresh")
    func closes() {
        var state = opened()
        #expect(state.admit(at: at(30)) == .probe(generation: 2))
        #expect(state.record(.success, generation: 2, at: at(30.5), random: 0) == .closed)
        for _ in 0..<19 { #expect(state.record(.failure, generation: 3, at: at(31), random: 0) == nil) }
        #expect(state.record(.failure, generation: 3, at: at(31), random: 0) == .open(until: at(61)))
    }

    @Test("A probe that fails opens it for another period")
    func reopens() {
        var state = opened()
        _ = state.admit(at: at(30))
        #expect(state.record(.failure, generation: 2, at: at(40), random: 0) == .open(until: at(70)))
        #expect(state.admit(at: at(69.9)) == .refused(until: at(70)))
    }

    @Test("No more probes pass than are configured, and all of them must succeed", arguments: 1...4)
    func probes(count: Int) {
        var state = opened(CircuitBreaker(jitter: 0, probes: count))
        for _ in 0..<count { #expect(state.admit(at: at(30)) == .probe(generation: 2)) }
        for _ in 0..<50 { #expect(state.admit(at: at(30)) == .refused(until: nil)) }
        for index in 1...count {
            #expect(state.phase == .halfOpen)
            let change = state.record(.success, generation: 2, at: at(31), random: 0)
            #expect(change == (index == count ? .closed : nil))
            if index < count { #expect(state.admit(at: at(31)) == .refused(until: nil), "successes keep their places") }
        }
        #expect(state.admit(at: at(31)) == .allowed(generation: 3))
    }

    @Test("A cancelled probe gives its place back")
    func cancelledProbe() {
        var state = opened()
        for _ in 0..<10 {
            #expect(state.admit(at: at(30)) == .probe(generation: 2))
            #expect(state.admit(at: at(30)) == .refused(until: nil))
            #expect(state.record(.cancelled, generation: 2, at: at(30), random: 0) == nil)
        }
        #expect(state.phase == .halfOpen)
    }

    @Test("Results of calls that were let through before it changed are ignored")
    func stale() {
        var state = opened()
        for _ in 0..<100 { #expect(state.record(.failure, generation: 0, at: at(20), random: 0) == nil) }
        #expect(state.phase == .open(until: at(30)), "late failures do not extend it")
        _ = state.admit(at: at(30))
        for outcome in [State.Outcome.failure, .success, .cancelled] {
            #expect(state.record(outcome, generation: 0, at: at(30), random: 0) == nil)
        }
        #expect(state.phase == .halfOpen)
        #expect(state.admit(at: at(30)) == .refused(until: nil), "a late cancel frees no probe's place")
        state.record(.success, generation: 2, at: at(31), random: 0)
        for _ in 0..<100 { state.record(.failure, generation: 2, at: at(32), random: 0) }
        #expect(state.phase == .closed, "late failures do not open it again")
    }

    @Test("The time until the next probe varies within ten per cent")
    func jitter() {
        var random = SplitMix64(seed: 3)
        var ends: Set<Instant> = []
        for _ in 0..<500 {
            guard case .open(let until) = opened(CircuitBreaker(), random: random.next()).phase else {
                Issue.record("it is not open")
                return
            }
            #expect(until >= at(27) && until <= at(33))
            ends.insert(until)
        }
        #expect(ends.count > 490)
        #expect(ends.min()! < at(27.5) && ends.max()! > at(32.5))
    }

    @Test(
        "Whatever happens, probes are limited, and it serves again once the host does",
        arguments: 1...30 as ClosedRange<UInt64>)
    func property(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let breaker = CircuitBreaker(minimumCalls: 5, probes: 1 + random.below(3))
        var state = CircuitBreakerState(breaker)
        var calls: [(generation: UInt64, isProbe: Bool)] = []
        var time = 0.0
        for _ in 0..<3_000 {
            time += random.unit() * (random.chance(3) ? 40 : 0.5)
            if random.chance(55) {
                switch state.admit(at: at(time)) {
                case .allowed(let generation): calls.append((generation, false))
                case .probe(let generation): calls.append((generation, true))
                case .refused: break
                }
            } else if !calls.isEmpty {
                let call = calls.remove(at: random.below(calls.count))
                let outcome: State.Outcome = random.chance(10) ? .cancelled : random.chance(50) ? .failure : .success
                let before = state.generation
                let change = state.record(outcome, generation: call.generation, at: at(time), random: random.next())
                if call.generation != before { #expect(change == nil) }
                #expect(state.generation == before + (change == nil ? 0 : 1))
            }
            let probing = calls.filter { $0.isProbe && $0.generation == state.generation }.count
            #expect(probing <= breaker.probes)
        }
        for call in calls { state.record(.cancelled, generation: call.generation, at: at(time), random: 0) }
        for _ in 0..<breaker.probes {
            guard case .probe(let generation) = state.admit(at: at(time + 60)) else { break }
            state.record(.success, generation: generation, at: at(time + 60), random: 0)
        }
        #expect(state.phase == .closed)
    }

    @Test("By default the network's errors and statuses of 500 and above are failures")
    func classification() {
        let breaker = CircuitBreaker()
        for code in [BatonError.Code.timedOut, .cannotConnect, .connectionLost, .cannotFindHost] {
            #expect(breaker.outcome(of: .failure(BatonError(code))) == .failure)
        }
        #expect(breaker.outcome(of: .failure(refusal(status: 500))) == .failure)
        #expect(breaker.outcome(of: .success(HTTPResponse(status: 503))) == .failure)
        #expect(breaker.outcome(of: .success(HTTPResponse(status: 200))) == .success)
        #expect(breaker.outcome(of: .failure(refusal(status: 404))) == .success)
        #expect(breaker.outcome(of: .failure(refusal(status: 429))) == .success)
        #expect(breaker.outcome(of: .failure(BatonError(.cancelled))) == .cancelled)
        #expect(breaker.outcome(of: .failure(BatonError(.secureConnectionFailed))) == .cancelled)
    }

    @Test(
        "Values that cannot work are named",
        arguments: [
            CircuitBreaker(failureShare: 0), CircuitBreaker(failureShare: .nan), CircuitBreaker(failureShare: 50),
            CircuitBreaker(minimumCalls: 0), CircuitBreaker(window: .zero), CircuitBreaker(openDuration: .zero),
            CircuitBreaker(jitter: 1), CircuitBreaker(probes: 0),
        ])
    func faults(breaker: CircuitBreaker) {
        #expect(breaker.fault != nil)
        #expect(CircuitBreaker().fault == nil)
    }
}
