import Baton
import Testing

@Suite("Adaptive concurrency")
struct AdaptiveConcurrencyTests {
    @Test("The limit stays within its bounds whatever the samples", arguments: 1...30 as ClosedRange<UInt64>)
    func bounds(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let maximum = 1 + random.below(40)
        let ceiling = random.chance(50) ? nil : random.below(40)
        var state = AdaptiveConcurrencyState(
            AdaptiveConcurrency(initial: 1 + random.below(maximum), maximum: maximum), ceiling: ceiling)
        let drops = random.below(30)
        for tick in 0..<5_000 {
            let before = state.limit
            let sample: AdaptiveConcurrencyState.Sample =
                random.chance(drops) ? .dropped : random.chance(20) ? .ignored : .success
            let change = state.sample(sample, inFlight: random.below(before + 1), at: at(Double(tick)))
            #expect(change == (state.limit == before ? nil : state.limit))
            #expect((1...max(1, min(maximum, ceiling ?? .max))).contains(state.limit))
            switch sample {
            case .ignored: #expect(state.limit == before)
            case .success: #expect(state.limit == before || state.limit == before + 1)
            case .dropped: #expect(state.limit == max(1, min(before - 1, Int(Double(before) * 0.9))))
            }
        }
    }

    @Test("It grows by one for each round trip's worth of successes", arguments: [1, 2, 8, 30])
    func growth(limit: Int) {
        var state = AdaptiveConcurrencyState(AdaptiveConcurrency(initial: limit))
        for _ in 1..<limit { #expect(state.sample(.success, inFlight: limit, at: at(0)) == nil) }
        #expect(state.sample(.success, inFlight: limit, at: at(0)) == limit + 1)
    }

    @Test("It grows only while it is in use", arguments: [(3, false), (4, true), (8, true)])
    func use(inFlight: Int, grows: Bool) {
        var state = AdaptiveConcurrencyState(AdaptiveConcurrency(initial: 8))
        for _ in 0..<8 { _ = state.sample(.success, inFlight: inFlight, at: at(0)) }
        #expect(state.limit == (grows ? 9 : 8))
    }

    @Test("Drops of requests that were on their way together cut the limit once")
    func burst() {
        var state = AdaptiveConcurrencyState(AdaptiveConcurrency(initial: 40))
        #expect(state.sample(.dropped, began: at(1), inFlight: 40, at: at(2)) == 36)
        for _ in 0..<39 { #expect(state.sample(.dropped, began: at(1.5), inFlight: 30, at: at(2.5)) == nil) }
        #expect(state.sample(.dropped, began: at(2.1), inFlight: 30, at: at(3)) == 32)
    }

    @Test("It settles near what the host takes")
    func convergence() {
        let capacity = 16
        var state = AdaptiveConcurrencyState(AdaptiveConcurrency(initial: 2))
        var limits: [Int] = []
        // In each round trip as many requests are sent as may be; the host refuses what is beyond its capacity.
        for round in 0..<400 {
            let sent = state.limit
            for index in 0..<sent {
                let began = at(Double(round))
                let sample: AdaptiveConcurrencyState.Sample = index < capacity ? .success : .dropped
                _ = state.sample(sample, began: began, inFlight: sent - index, at: at(Double(round) + 0.9))
            }
            if round >= 100 { limits.append(state.limit) }
        }
        #expect(limits.allSatisfy { (capacity - 4...capacity + 2).contains($0) })
    }

    @Test("A configured limit that changes is obeyed at once")
    func ceiling() {
        var state = AdaptiveConcurrencyState(AdaptiveConcurrency(initial: 20), ceiling: 30)
        #expect(state.setCeiling(5) == 5)
        #expect(state.setCeiling(nil) == nil)
        #expect(state.limit == 5)
    }

    @Test("Timeouts, failed connections, 429 and 503 are drops; cancels and other failures are ignored")
    func classification() {
        typealias Sample = AdaptiveConcurrencyState.Sample
        for code in [BatonError.Code.timedOut, .cannotConnect, .connectionLost] {
            #expect(Sample(.failure(BatonError(code))) == .dropped)
        }
        for status in [429, 503] {
            #expect(Sample(.failure(refusal(status: status))) == .dropped)
            #expect(Sample(.success(HTTPResponse(status: status))) == .dropped)
        }
        for status in [400, 404, 500, 502] { #expect(Sample(.failure(refusal(status: status))) == .ignored) }
        for status in [200, 204, 304] { #expect(Sample(.success(HTTPResponse(status: status))) == .success) }
        for code in [BatonError.Code.cancelled, .cannotFindHost, .invalidRequest] {
            #expect(Sample(.failure(BatonError(code))) == .ignored)
        }
        let undecodable = BatonError(.decodingFailed, response: HTTPResponse(status: 200))
        #expect(Sample(.failure(undecodable)) == .success)
    }

    @Test(
        "Values that cannot work are named",
        arguments: [
            AdaptiveConcurrency(initial: 0), AdaptiveConcurrency(minimum: 0), AdaptiveConcurrency(maximum: 0),
            AdaptiveConcurrency(initial: 65), AdaptiveConcurrency(decrease: 1), AdaptiveConcurrency(decrease: .nan),
        ])
    func faults(configuration: AdaptiveConcurrency) {
        #expect(configuration.fault != nil)
        #expect(AdaptiveConcurrency().fault == nil)
    }
}
