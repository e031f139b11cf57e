import Baton
import BatonTesting
import Dispatch
import Testing

@Suite("Orchestration: invariants under stress")
struct OrchestrationStressTests {
    @Test("X68: a thousand threads' worth of starts, cancels, pauses and resizes: every run ends once, no slot is lost")
    func threads() async throws {
        let transport = QueueTransport(concurrent: true) { request in
            (request.number ?? 0) % 7 == 0 ? .status(503) : .item(for: request)
        }
        let client = Client(baseURL: "http://h", transport: transport) {
            $0.maxConcurrency = 8
            $0.maxConcurrencyPerHost = 6
            $0.retry = RetryPolicy(backoff: .constant(.milliseconds(1)))
            $0.retryBudget = RetryBudget(share: 1, reserve: 1_000)
        }
        let count = 1_000
        let completions = Record<Int>()
        let countdown = Countdown(count)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                DispatchQueue.concurrentPerform(iterations: count) { i in
                    let derived = client.with { $0.fields = ["X-Run": "\(i)"] }
                    let plan = Batch((0..<6).map { GetItem(n: i + $0) }, maxConcurrency: 2)
                        .then { _ in zip(GetItem(n: i).collected(), GetItem(n: i + 1).collected()) }
                        .tag("t\(i % 10)")
                    let run = derived.start(plan, on: .global()) { _ in
                        completions.add(i)
                        countdown()
                    }
                    switch i % 8 {
                    case 0: run.cancel()
                    case 1: DispatchQueue.global().async { run.cancel() }
                    case 2:
                        run.pause()
                        DispatchQueue.global().async { run.resume() }
                    case 3: client.setMaxConcurrency(1 + i % 16)
                    case 4: client.setMaxConcurrencyPerHost(1 + i % 5)
                    case 5:
                        run.setMaxConcurrency(1 + i % 4)
                        run.cancelItem(i % 6)
                    case 6: client.cancel(tag: "t3")
                    default:
                        _ = client.counts
                        client.suspend()
                        client.resume()
                    }
                }
                continuation.resume()
            }
        }
        client.resume()
        #expect(await countdown.gate.opens())
        #expect(completions.all.sorted() == Array(0..<count))
        #expect(client.counts == (0, 0))
    }

    @Test("Pauses and resumes from many threads leave a run as the last one said", arguments: 0..<20)
    func pauses(round: Int) async throws {
        let client = Client(baseURL: "http://h", transport: QueueTransport(concurrent: true))
        let run = client.start(Batch((0..<50).map(GetItem.init), maxConcurrency: 2))
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                DispatchQueue.concurrentPerform(iterations: 16) { i in
                    if i % 2 == 0 { run.pause() } else { run.resume() }
                }
                continuation.resume()
            }
        }
        run.resume()
        #expect(try await run.value.allSucceeded)
    }

    @Test(
        "Invariant 3: limits that change while requests run are obeyed, and every slot comes back",
        arguments: 0..<40 as Range<UInt64>)
    func changingLimits(seed: UInt64) {
        let transport = ScriptedTransport { request, n in
            .reply(
                (request.number ?? 0) % 3 == 0 && n == 1 ? .status(503) : .item(for: request),
                after: .milliseconds(1 + ((request.number ?? 0) &+ Int(seed)) % 7))
        }
        let run = SeededRun(seed: seed, transport) { $0.maxConcurrency = 4 }
        let ends = Record<Bool>()
        run.client.start(Batch((0..<60).map(GetItem.init), maxConcurrency: 40), on: .global()) { result in
            if case .success(let report) = result { ends.add(report.count == 60) } else { ends.add(false) }
        }
        // After a cut, what is in flight drains; it never takes longer than 8 ms.
        for step in 1...10 {
            let limit = 1 + (step &* 5 &+ Int(seed)) % 6
            run.at(.milliseconds(step * 10)) { run.client.setMaxConcurrency(limit) }
            run.at(.milliseconds(step * 10 + 9)) { #expect(run.client.counts.inFlight <= limit) }
        }
        run.drive()
        #expect(ends.all == [true])
        #expect(transport.most <= 6)
        #expect(run.client.counts == (0, 0))
        #expect(run.scheduler.timerCount == 0)
    }

    /// A plan out of everything, chosen by a seed, whose requests have numbers of their own.
    private struct Garden {
        var generator: SeededGenerator
        var number = 0

        init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

        mutating func pick(_ count: Int) -> Int { Int(generator.next() % UInt64(count)) }

        mutating func request() -> Chain<Int> {
            number += 1
            return GetItem(n: number).map(\.n)
        }

        /// Yields how many requests it consists of, where each succeeds in the end.
        mutating func plan(depth: Int) -> Chain<Int> {
            guard depth > 0 else { return request().map { _ in 1 } }
            switch pick(7) {
            case 0:
                let (first, second) = (plan(depth: depth - 1), plan(depth: depth - 1))
                return first.then { a in second.map { a + $0 } }
            case 1:
                let (first, second) = (plan(depth: depth - 1), plan(depth: depth - 1))
                return zip(first, second).map { $0 + $1 }
            case 2:
                let items = (0...pick(4)).map { _ in plan(depth: depth - 1) }
                return Batch(items, maxConcurrency: 1 + pick(3)).map { report in
                    report.successes.reduce(0) { $0 + $1.value }
                }
            case 3: return plan(depth: depth - 1).deadline(.seconds(10_000)).priority(.high)
            case 4: return plan(depth: depth - 1).shared()
            case 5: return plan(depth: depth - 1).collected().map { try $0.get() }
            default: return plan(depth: depth - 1).undo { _ in Send(path: "/undo") }
            }
        }
    }

    @Test(
        "Plans of every form: each request succeeds once, limits hold, values add up, and nothing is left",
        arguments: 0..<120 as Range<UInt64>)
    func everything(seed: UInt64) {
        var garden = Garden(seed: seed)
        let plan = garden.plan(depth: 4)
        let total = garden.number
        let transport = ScriptedTransport { request, n in
            let number = request.number ?? 0
            return .reply(
                n == 1 && number % 4 == 1 ? .status(503) : .item(for: request),
                after: .milliseconds((number &+ Int(seed)) % 5))
        }
        let run = SeededRun(seed: seed, transport) {
            $0.maxConcurrency = 1 + Int(seed % 4)
            $0.maxConcurrencyPerHost = seed % 3 == 0 ? 1 : nil
            $0.retryBudget = nil
        }
        let results = Record<Int>()
        run.client.start(plan, on: .global()) { result in
            if case .success(let count) = result { results.add(count) } else { results.add(-1) }
        }
        run.drive()
        #expect(results.all == [total])
        #expect(transport.most <= 1 + Int(seed % 4))
        let accepted = run.observer.events.compactMap { event -> Int? in
            if case .attemptEnded(let attempt, .success) = event { attempt.request.number } else { nil }
        }
        #expect(accepted.sorted() == Array(1..<(total + 1)))
        #expect(run.client.counts == (0, 0))
        #expect(run.scheduler.timerCount == 0)
        #expect(run.client.engine.activeRuns.isEmpty)
    }

    @Test(
        "Cancelled at any moment, plans of every form end once, as cancelled, and send nothing more but undos",
        arguments: 0..<120 as Range<UInt64>)
    func cancelled(seed: UInt64) {
        var garden = Garden(seed: seed &+ 1_000)
        let plan = garden.plan(depth: 4)
        let transport = ScriptedTransport { request, n in
            .reply(
                n == 1 && (request.number ?? 0) % 4 == 1 ? .status(503) : .item(for: request),
                after: .milliseconds((request.number ?? 0) % 5))
        }
        let run = SeededRun(seed: seed, transport) {
            $0.maxConcurrency = 2
            $0.retryBudget = nil
        }
        let ends = Record<Bool>()
        let handle = run.client.start(plan, on: .global()) { ends.add($0.isCancelled) }
        let sent = Record<Int>()
        run.at(.milliseconds(Int(seed % 12))) {
            handle.cancel()
            sent.add(transport.sent.count)
        }
        run.drive()
        #expect(ends.count == 1)
        let later = transport.sent.dropFirst(sent.all.first ?? 0)
        if ends.all == [true] { #expect(later.allSatisfy { $0.path == "/undo" }) }
        #expect(run.client.counts == (0, 0))
        #expect(run.scheduler.timerCount == 0)
        #expect(run.client.engine.activeRuns.isEmpty)
    }
}
