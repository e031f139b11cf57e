import Baton
import Testing

@Suite("Retry budget")
struct RetryBudgetTests {
    /// A minute in which every attempt fails. Requests come at random times; each is retried up to twice after a full
    /// jitter, and one in ten wants a hedge as well.
    private struct Outage {
        var requests: [Double] = []
        /// Retries and hedges that the budget let through.
        var extra: [Double] = []
        var refused = 0

        init(rate: Double, seconds: Double = 60, seed: UInt64) {
            var random = SplitMix64(seed: seed)
            var budget = RetryBudgetState(RetryBudget())
            let backoff = Backoff.exponential()
            // Time and number of the attempt that is due; 0 is a hedge. The earliest is last.
            var due: [(time: Double, attempt: Int)] = []
            for _ in 0..<Int(rate * seconds) { due.append((random.unit() * seconds, 1)) }
            due.sort { $0.time > $1.time }
            while let (time, attempt) = due.popLast() {
                if attempt == 1 {
                    requests.append(time)
                    budget.noteRequest(at: at(time))
                    if random.chance(10) { Self.insert((time + 0.05, 0), into: &due) }
                } else if budget.withdraw(at: at(time)) {
                    extra.append(time)
                } else {
                    refused += 1
                    continue
                }
                guard attempt > 0, attempt < 3 else { continue }
                let wait = backoff.wait(after: attempt, random: random.next()).inSeconds
                Self.insert((time + wait, attempt + 1), into: &due)
            }
        }

        private static func insert(
            _ entry: (time: Double, attempt: Int), into due: inout [(time: Double, attempt: Int)]
        ) {
            let index = due.lastIndex { $0.time >= entry.time }.map { $0 + 1 } ?? 0
            due.insert(entry, at: index)
        }
    }

    @Test(
        "In a total outage the extra load stays within 20 % plus 10 per 10 s and host",
        arguments: [0.2, 2, 20, 500], [1, 2, 3] as [UInt64])
    func outage(rate: Double, seed: UInt64) {
        let outage = Outage(rate: rate, seed: seed)
        let bound = 0.2 * Double(outage.requests.count) + 10 * 7
        #expect(Double(outage.extra.count) <= bound)
        // At each retry, over the ten seconds that end there.
        var firstRequest = 0
        var lastRequest = 0
        var firstExtra = 0
        for (index, time) in outage.extra.enumerated() {
            while lastRequest < outage.requests.count, outage.requests[lastRequest] <= time { lastRequest += 1 }
            while firstRequest < lastRequest, outage.requests[firstRequest] <= time - 10 { firstRequest += 1 }
            while outage.extra[firstExtra] <= time - 10 { firstExtra += 1 }
            let allowed = 0.2 * Double(lastRequest - firstRequest) + 10
            #expect(Double(index - firstExtra + 1) <= allowed + 0.001, "at \(time) s")
        }
        // It bites, and what it grants is used.
        if rate >= 20 {
            #expect(outage.refused > outage.requests.count / 2)
            #expect(Double(outage.extra.count) >= 0.17 * Double(outage.requests.count))
        }
    }

    @Test("A host that fails rarely has every failure retried")
    func calm() {
        var budget = RetryBudgetState(RetryBudget())
        var random = SplitMix64(seed: 4)
        for tick in 0..<6_000 {
            budget.noteRequest(at: at(Double(tick) / 100))
            if random.chance(5) { #expect(budget.withdraw(at: at(Double(tick) / 100)) == true) }
        }
    }

    @Test("A quiet client has ten retries, and has them again after the window")
    func reserve() {
        var budget = RetryBudgetState(RetryBudget())
        for _ in 0..<10 { #expect(budget.withdraw(at: at(5.5)) == true) }
        #expect(budget.withdraw(at: at(5.5)) == false)
        #expect(budget.withdraw(at: at(15.5)) == false, "the last ten seconds still hold them")
        #expect(budget.withdraw(at: at(16)) == true)
    }

    @Test(
        "A share of whole requests is not short of one by rounding",
        arguments: [(0.2, 5, 1), (0.29, 100, 29), (0.1, 30, 3), (0.2, 4, 0), (1, 7, 7), (0, 1_000, 0)])
    func rounding(share: Double, requests: Int, retries: Int) {
        var budget = RetryBudgetState(RetryBudget(share: share, reserve: 0))
        for _ in 0..<requests { budget.noteRequest(at: at(1)) }
        #expect(budget.available(at: at(1)) == retries)
        for _ in 0..<retries { #expect(budget.withdraw(at: at(1)) == true) }
        #expect(budget.withdraw(at: at(1)) == false)
    }

    @Test(
        "Values that cannot work are named",
        arguments: [
            RetryBudget(share: -0.1), RetryBudget(share: .nan), RetryBudget(share: .infinity), RetryBudget(reserve: -1),
            RetryBudget(window: .zero),
        ])
    func faults(budget: RetryBudget) {
        #expect(budget.fault != nil)
        #expect(RetryBudget().fault == nil)
    }
}
