import Baton
import Testing

@Suite("Backoff")
struct BackoffTests {
    @Test(
        "Every wait is finite and within zero and the cap, whatever the attempt",
        arguments: [1, 2, 3, 10, 63, 64, 1_000, 10_000, .max],
        [
            Backoff.exponential(), .exponential(jitter: .equal), .exponential(jitter: .none), .exponential(factor: 0),
            .exponential(factor: 1e300), .exponential(base: .zero), .constant(.seconds(3)), .none,
            .exponential(base: .seconds(30)), .exponential(cap: .seconds(Int64.max)),
            .constant(.seconds(Int64.max), jitter: .full),
        ])
    func bounds(attempt: Int, backoff: Backoff) {
        var random = SplitMix64(seed: 1)
        for bits in [0, .max, random.next(), random.next()] as [UInt64] {
            let wait = backoff.wait(after: attempt, random: bits)
            #expect(wait >= .zero && wait <= backoff.cap)
        }
    }

    @Test("Without jitter each wait is the last one times the factor, up to the cap")
    func growth() {
        let backoff = Backoff.exponential(base: .seconds(1), factor: 3, cap: .seconds(20), jitter: .none)
        let waits = (1...5).map { backoff.wait(after: $0, random: 0) }
        #expect(waits == [.seconds(1), .seconds(3), .seconds(9), .seconds(20), .seconds(20)])
    }

    @Test("At the cap waits still differ, because the cap comes before the jitter", arguments: [0.0, 0.5])
    func capBeforeJitter(least: Double) {
        let backoff = Backoff.exponential(jitter: least == 0 ? .full : .equal)
        var random = SplitMix64(seed: 9)
        let waits = (0..<1_000).map { _ in backoff.wait(after: 50, random: random.next()).inSeconds }
        #expect(Set(waits).count > 990)
        #expect(waits.allSatisfy { $0 >= 20 * least && $0 < 20 })
        let mean = waits.reduce(0, +) / 1_000
        #expect(abs(mean - 20 * (1 + least) / 2) < 0.7)
    }
}
