import Baton
import Foundation
import Testing

@Suite("Hedging")
struct HedgingTests {
    @Test("A percentile is that of the latest 128 samples", arguments: 1...10 as ClosedRange<UInt64>)
    func percentile(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var tracker = LatencyTracker()
        var samples: [Int] = []
        for _ in 0..<Scale.count(600, everyday: 250) {
            // Few different values, so that equal ones are common.
            let sample = random.below(random.chance(50) ? 5 : 10_000)
            tracker.note(.nanoseconds(sample))
            samples.append(sample)
            let latest = samples.suffix(128).sorted()
            for share in [0.01, 0.5, 0.95, 0.999] {
                let rank = max(1, Int((share * Double(latest.count) - 1e-9).rounded(.up)))
                let expected: Duration? = latest.count < 20 ? nil : .nanoseconds(latest[rank - 1])
                #expect(tracker.percentile(share) == expected)
            }
            #expect(tracker.count == latest.count)
        }
    }

    @Test("Nothing is hedged by a percentile until 20 successes are known; a fixed delay needs none")
    func warmUp() {
        var tracker = LatencyTracker()
        for count in 0..<20 {
            #expect(Hedging().wait(tracker) == nil, "after \(count)")
            #expect(Hedging(delay: .after(.milliseconds(5))).wait(tracker) == .milliseconds(5))
            tracker.note(.milliseconds(count + 1))
        }
        #expect(Hedging().wait(tracker) == .milliseconds(19))
        #expect(Hedging(delay: .percentile(0.5, minimum: .milliseconds(15))).wait(tracker) == .milliseconds(15))
    }

    @Test("Only what may be sent twice is hedged")
    func permits() {
        let hedging = Hedging()
        #expect(hedging.permits(makeRequest(.get)))
        #expect(hedging.permits(makeRequest(.put, body: .text("a"))))
        #expect(!hedging.permits(makeRequest(.post)))
        #expect(hedging.permits(makeRequest(.post), .keyed()))
        let once = HTTPBody(content: .stream(HTTPBodyStream(isReplayable: false) { throw BatonError(.notReplayable) }))
        #expect(!hedging.permits(makeRequest(.put, body: once)))
    }

    @Test(
        "Values that cannot work are named",
        arguments: [
            Hedging(copies: 0), Hedging(delay: .after(.seconds(-1))), Hedging(delay: .percentile(95)),
            Hedging(delay: .percentile(.nan)), Hedging(delay: .percentile(minimum: .seconds(-1))),
        ])
    func faults(hedging: Hedging) {
        #expect(hedging.fault != nil)
        #expect(Hedging().fault == nil)
    }
}
