import Baton
import BatonTesting
import Dispatch
import Foundation
import Testing

/// What holds whatever happens, one test or more for each of the invariants of the design.
@Suite("Invariants")
struct InvariantTests {
    @Test(
        "Invariant 1: one attempt completes once, in 10,000 interleavings of reply, timeout and cancel (500 by default)",
        arguments: [false, true])
    func onceAnAttempt(isDeaf: Bool) throws {
        var seen: Set<UInt64> = []
        var endings: [String: Int] = [:]
        for seed in 0..<UInt64(Scale.count(10_000, everyday: 500)) {
            let transport = ScriptedTransport { request, _ in
                .reply(.item(for: request), after: .seconds(5), isDeaf: isDeaf)
            }
            let run = SeededRun(seed: seed, transport) {
                $0.retry = .none
                $0.timeout = .seconds(5)
            }
            let counted = run.client.counting(GetItem(n: 1))
            run.at(.seconds(5)) { counted.run.cancel() }
            run.drive()
            guard counted.completions.count == 1, run.client.engine.queue.counts == (0, 0),
                run.scheduler.timerCount == 0, run.client.engine.activeRuns.isEmpty
            else {
                Issue.record("seed \(seed): \(counted.completions.all), \(run.observer.story)")
                break
            }
            let story = run.observer.story
            #expect(story.count { $0.hasPrefix("run ended") } == 1, "seed \(seed): \(story)")
            #expect(story.count { $0.hasPrefix("attempt 1 /items/1:") } == 1, "seed \(seed): \(story)")
            endings[story.last ?? "", default: 0] += 1
            seen.insert(run.interleaving)
        }
        #expect(seen.count >= 10)
        #expect(Set(endings.keys) == ["run ended", "run ended: timedOut", "run ended: cancelled"])
    }

    @Test("Invariant 1: ten items with retries complete once each, in 1,000 interleavings (100 by default)")
    func onceAnItem() throws {
        var seen: Set<UInt64> = []
        for seed in 0..<UInt64(Scale.count(1_000, everyday: 100)) {
            let transport = ScriptedTransport { request, n in
                n == 1 && (request.number ?? 0) % 3 == 0
                    ? .reply(.status(503), after: .milliseconds(1))
                    : .reply(.item(for: request), after: .milliseconds(1))
            }
            let run = SeededRun(seed: seed, transport) { $0.retry = RetryPolicy(backoff: .constant(.milliseconds(1))) }
            let told = Record<Int>()
            let counted = run.client.counting(
                Batch((0..<10).map(GetItem.init), maxConcurrency: 3).onEach { index, _ in told.add(index) })
            if seed % 2 == 1 { run.at(.milliseconds(Int(seed % 7))) { counted.run.cancel() } }
            run.drive()
            #expect(counted.completions.count == 1, "seed \(seed)")
            #expect(Set(told.all).count == told.count, "seed \(seed): \(told.all)")
            #expect(transport.most <= 3, "seed \(seed)")
            #expect(run.client.engine.queue.counts == (0, 0), "seed \(seed)")
            #expect(run.scheduler.timerCount == 0, "seed \(seed)")
            if case .success(let report) = counted.completions.all.first {
                #expect(report.successes.map(\.value.n) == Array(0..<10), "seed \(seed)")
                #expect(told.count == 10, "seed \(seed)")
                #expect(transport.sent.count == 14, "seed \(seed)")
            }
            seen.insert(run.interleaving)
        }
        #expect(seen.count > Scale.count(900, everyday: 90))
    }

    @Test("Invariant 3: never more in flight than the limit, and every slot comes back", arguments: UInt64(0)..<30)
    func limit(seed: UInt64) {
        let limit = Int(seed % 4) + 1
        let transport = ScriptedTransport { request, n in
            switch (request.number ?? 0) % 5 {
            case 0: n == 1 ? .fail(.connectionLost, after: .seconds(1)) : .reply(.item(for: request))
            case 1: .silence
            case 2: .reply(.status(404))
            case 3: .reply(.item(for: request), after: .seconds(120), isDeaf: true)
            default: .reply(.item(for: request), after: .seconds(1))
            }
        }
        let run = SeededRun(seed: seed, transport) {
            $0.maxConcurrency = limit
            $0.retry = RetryPolicy(attempts: 2)
        }
        let counted = run.client.counting(Batch((0..<25).map(GetItem.init), maxConcurrency: 10))
        let single = run.client.counting(GetItem(n: 4))
        if seed % 3 == 0 { run.at(.seconds(Int(seed))) { counted.run.cancel() } }
        run.drive()
        #expect(counted.completions.count == 1)
        #expect(single.completions.count == 1)
        #expect(run.client.engine.queue.counts == (0, 0))
        #expect(run.scheduler.timerCount == 0)
        // A transport that goes on after a cancel forfeits its slot, so it may have more in hand than the limit.
        let started = run.observer.events.count { if case .attemptStarted = $0 { true } else { false } }
        #expect(transport.sent.count == started)
    }

    @Test("Invariant 3: a limit below 1 is an error and no hang", arguments: [0, -1, Int.min])
    func limitBelowOne(limit: Int) async throws {
        let transport = HeldTransport()
        let none = Client(baseURL: "http://h", transport: transport) { $0.maxConcurrency = limit }
        let some = Client(baseURL: "http://h", transport: transport)
        let first = try await failure { try await none.run(GetItem(n: 1)) }
        let second = try await failure { try await some.run(Batch([GetItem(n: 1)], maxConcurrency: limit)) }
        let third = try await failure {
            try await some.run(Chain.value(1).then { _ in Batch([GetItem(n: 1)], maxConcurrency: limit) })
        }
        #expect(
            [first.code, second.code, third.code] == [
                .invalidConfiguration, .invalidConfiguration, .invalidConfiguration,
            ])
        #expect(third.path == "chain[1]")
        #expect(second.message.contains("\(limit)"))
        #expect(transport.sent.isEmpty)
    }

    @Test(
        "Invariant 4: results stand at the index of their input, and the counts sum to the total",
        arguments: UInt64(0)..<20)
    func order(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let delays = (0..<40).map { _ in Int(generator.next() % 50) }
        let transport = ScriptedTransport { request, _ in
            let n = request.number ?? 0
            return n % 4 == 3
                ? .reply(.status(404), after: .milliseconds(delays[n]))
                : .reply(.item(for: request), after: .milliseconds(delays[n]))
        }
        let seen = Record<BatchProgress>()
        try await withVirtualTime(transport: transport, seed: seed) { client, _ in
            let run = client.start(Batch((0..<40).map(GetItem.init), maxConcurrency: 7))
            async let heard: Void = {
                for await progress in run.progress { if let batch = progress.batch { seen.add(batch) } }
            }()
            let report = try await run.value
            await heard
            for (index, outcome) in report.enumerated() {
                #expect(outcome.value?.n == (index % 4 == 3 ? nil : index))
            }
            #expect(report.failures.map(\.index) == (0..<40).filter { $0 % 4 == 3 })
        }
        for progress in seen.all {
            #expect(progress.total == 40)
            #expect(progress.pending + progress.running + progress.completed == 40)
        }
        #expect(zip(seen.all, seen.all.dropFirst()).allSatisfy { $0.completed <= $1.completed })
        #expect(seen.all.last?.completed == 40)
    }

    @Test("Invariant 5: every attempt is built from the original request")
    func original() async throws {
        let stamp = ClosureAdapter { request, context in
            request.target = "/v\(context.attempt)" + request.target
            request.fields.append("\(context.attempt)", for: "X-Attempt")
            request.body = .text("attempt \(context.attempt)")
        }
        let transport = ScriptedTransport { _, _ in .reply(.status(503)) }
        try await withVirtualTime(transport: transport, configure: { $0.interceptors = [stamp] }) { client, _ in
            _ = try await failure { try await client.run(Send(method: .put, body: .text("original"))) }
        }
        #expect(transport.sent.map(\.target) == ["/v1/things", "/v2/things", "/v3/things"])
        #expect(transport.sent.map { $0.fields.values(for: "X-Attempt") } == [["1"], ["2"], ["3"]])
        #expect(transport.sent.map { $0.body.bytes } == [1, 2, 3].map { Data("attempt \($0)".utf8) })
    }

    @Test("Invariant 7: 10,000 requests at a limit of 4 need no threads of their own")
    func threads() async throws {
        // In a process of its own, because other tests that run beside this one have threads too.
        await #expect(processExitsWith: .success) {
            let count = 10_000
            let transport = HeldTransport()
            let client = Client(baseURL: "http://h", transport: transport) { $0.maxConcurrency = 4 }
            let ended = Countdown(count)
            let before = Threads.count
            // Dispatch has a pool of up to 64 threads for the callbacks, and on a slow machine up to 128 workers come to
            // help those that seem stuck; one for each request would be far more.
            let runs = (0..<count).map { n in client.start(GetItem(n: n), on: .global()) { _ in ended() } }
            await transport.hasSent(4)
            if let before, let now = Threads.count { #expect(now < before + 200, "\(before), then \(now)") }
            for number in 0..<count {
                await transport.hasSent(number + 1)
                transport.reply(to: number)
            }
            #expect(await ended.gate.opens())
            if let before, let now = Threads.count { #expect(now < before + 200, "\(before), then \(now)") }
            #expect(transport.most == 4)
            #expect(Set(transport.sent.compactMap(\.number)) == Set(0..<count))
            #expect(client.engine.queue.counts == (0, 0))
            withExtendedLifetime(runs) {}
        }
    }

    @Test("Invariant 9: a backoff of 24 hours takes no real time, follows no wall clock and leaves no timer")
    func time() async throws {
        let transport = ScriptedTransport { request, n in n < 4 ? .fail(.cannotConnect) : .reply(.item(for: request)) }
        try await withVirtualTime(
            transport: transport,
            configure: { $0.retry = RetryPolicy(attempts: 10, backoff: .constant(.seconds(24 * 3_600))) }
        ) { client, clock in
            let date = clock.date
            _ = try await client.run(GetItem(n: 1))
            #expect(clock.elapsed == .seconds(3 * 24 * 3_600))
            #expect(clock.date.timeIntervalSince(date) == 3 * 24 * 3_600)
            #expect(clock.pendingTimers == 0)
        }
        #expect(transport.times == [0, 1, 2, 3].map { .seconds($0 * 24 * 3_600) })
    }

    @Test("Invariant 9: 1,000 fast successes leave no timer behind, though each attempt had a timeout")
    func noTimers() {
        let run = SeededRun(seed: 0, ScriptedTransport())
        let singles = (0..<500).map { run.client.counting(GetItem(n: $0)) }
        let batch = run.client.counting(Batch((0..<500).map(GetItem.init), maxConcurrency: 20))
        run.drive()
        #expect(singles.allSatisfy { $0.completions.count == 1 })
        #expect(batch.completions.count == 1)
        #expect(run.scheduler.timerCount == 0)
        // Nothing waited for a timeout either.
        #expect(run.scheduler.now < Instant(nanoseconds: 0).advanced(by: .seconds(1)))
    }
}
