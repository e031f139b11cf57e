import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Orchestration: places that are lent")
struct LendingTests {
    @Test("An item in backoff lends its place, and comes back before items that were not begun")
    func lends() async throws {
        let transport = ScriptedTransport { request, n in
            request.number == 0 && n == 1
                ? .reply(.status(503)) : .reply(.item(for: request), after: .seconds(1))
        }
        try await withVirtualTime(
            transport: transport, configure: { $0.retry = RetryPolicy(backoff: .constant(.milliseconds(1_500))) }
        ) { client, clock in
            let report = try await client.run(Batch((0..<5).map(GetItem.init), maxConcurrency: 1))
            #expect(report.allSucceeded)
            // 0 fails at once; 1 and 2 go in its place; it is back before 3.
            #expect(transport.numbers == [0, 1, 2, 0, 3, 4])
            #expect(transport.most == 1)
            #expect(clock.elapsed == .seconds(5))
        }
    }

    @Test(
        "A redirect that runs out of time while it waits for its place gives up that place, and is retried in its time",
        arguments: [20, 34, 36, 60])
    func timedOutOnItsWayBack(secondEndsAt end: Int) async throws {
        let transport = ScriptedTransport { request, n in
            switch request.number {
            case 0: .reply(HTTPResponse(status: 302, fields: [.location: "http://b/items/10"]))
            case 1: .reply(.item(1), after: .seconds(end))
            case 9: .reply(.item(9), after: .seconds(5))
            default: .reply(.item(for: request))
            }
        }
        try await withVirtualTime(
            transport: transport, baseURL: nil,
            configure: {
                $0.maxConcurrencyPerHost = 1
                $0.timeout = .seconds(10)
                $0.retry = RetryPolicy(backoff: .constant(.seconds(25)))
            }
        ) { client, clock in
            let busy = client.start(Call("http://b/items/9", as: Item.self))
            let report = try await client.run(
                Batch(
                    [
                        Call("http://a/items/0", as: Item.self).chain,
                        Call("http://c/items/1", as: Item.self).timeout(.seconds(100)),
                    ], maxConcurrency: 1))
            _ = try await busy.value
            #expect(report.allSucceeded)
            let again = zip(transport.numbers, transport.times).filter { $0.0 == 0 }.map(\.1)
            // The timeout at 10 s, and 25 s of backoff; then the place has to be free.
            #expect(again == [.zero, .seconds(max(35, end))])
            #expect(client.counts == (0, 0))
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test(
        "A part that is out of time while its place is lent leaves the place to what recovers it",
        arguments: [4, 9, 12, 30, 50])
    func recoveredWhileLent(secondEndsAt end: Int) async throws {
        // The part fails and backs off for 3 s; its deadline is at 10 s, while 1 may have its place.
        let transport = ScriptedTransport { request, n in
            switch request.number {
            case 0: .reply(.status(503))
            case 7: n == 1 ? .reply(.status(503), after: .seconds(1)) : .reply(.item(7), after: .seconds(1))
            default: .reply(.item(for: request), after: .seconds(end))
            }
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.timeout = .seconds(100)
                $0.retry = RetryPolicy(attempts: 9, backoff: .constant(.seconds(3)))
                $0.pacing = nil
                $0.retryBudget = nil
            }
        ) { client, clock in
            let part = GetItem(n: 0).deadline(.seconds(10)).recover { _ in GetItem(n: 7) }
            let report = try await client.run(
                Batch([part, GetItem(n: 1).chain, GetItem(n: 2).chain], maxConcurrency: 1))
            #expect(report.values.compactMap { $0?.n } == [7, 1, 2])
            #expect(transport.most == 1)
            #expect(client.counts == (0, 0))
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test("A part that is out of time while it waits for a full host, too", arguments: [11, 40])
    func recoveredWhileParked(secondEndsAt end: Int) async throws {
        let transport = ScriptedTransport { request, _ in
            .reply(.item(for: request), after: .seconds(request.number == 9 ? 60 : request.number == 1 ? end : 1))
        }
        try await withVirtualTime(
            transport: transport, baseURL: nil,
            configure: {
                $0.maxConcurrencyPerHost = 1
                $0.timeout = .seconds(100)
            }
        ) { client, _ in
            let busy = client.start(Call("http://b/items/9", as: Item.self))
            let part = Call("http://b/items/0", as: Item.self).deadline(.seconds(10))
                .recover { _ in Call("http://a/items/7", as: Item.self) }
            let report = try await client.run(
                Batch([part, Call("http://c/items/1", as: Item.self).chain], maxConcurrency: 1))
            #expect(report.values.compactMap { $0?.n } == [7, 1])
            // The other run's request, and one of the batch.
            #expect(transport.most == 2)
            let recovered = zip(transport.numbers, transport.times).first { $0.0 == 7 }?.1
            #expect(recovered == .seconds(max(10, end)))
            _ = try await busy.value
        }
    }

    @Test("Lent places never make more than the limit, whatever the items are", arguments: 0..<30 as Range<UInt64>)
    func lending(seed: UInt64) async throws {
        let transport = ScriptedTransport { request, n in
            let number = request.number ?? 0
            return .reply(
                n <= number % 3 ? .status(503) : .item(number), after: .milliseconds((number &+ Int(seed)) % 4 * 5))
        }
        try await withVirtualTime(
            transport: transport, seed: seed,
            configure: {
                $0.retryBudget = nil
                $0.maxConcurrencyPerHost = seed % 2 == 0 ? 2 : nil
            }
        ) { client, clock in
            let plans = (0..<40).map { n in n % 4 == 0 ? GetItem(n: n).then { GetItem(n: $0.n) } : GetItem(n: n).chain }
            let report = try await client.run(Batch(plans, maxConcurrency: 3))
            #expect(report.allSucceeded)
            #expect(transport.most <= (seed % 2 == 0 ? 2 : 3))
            #expect(client.counts.inFlight == 0)
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test("A cancel in the middle of lending ends everything", arguments: 0..<40 as Range<UInt64>)
    func cancelLending(seed: UInt64) {
        let transport = ScriptedTransport { request, n in
            .reply(n == 1 ? .status(503) : .item(for: request), after: .milliseconds(10))
        }
        let run = SeededRun(seed: seed, transport) {
            $0.retry = RetryPolicy(backoff: .constant(.milliseconds(15)))
            $0.retryBudget = nil
            $0.maxConcurrencyPerHost = seed % 2 == 0 ? 1 : nil
        }
        let ends = Record<Bool>()
        let handle = run.client.start(
            Batch((0..<20).map(GetItem.init), maxConcurrency: 2), on: .global()
        ) { result in
            if case .failure(let error) = result { ends.add(error.isCancelled) } else { ends.add(true) }
        }
        run.at(.milliseconds(Int(seed) * 3)) { handle.cancel() }
        run.drive()
        #expect(ends.all == [true])
        #expect(run.client.counts == (0, 0))
        #expect(run.scheduler.timerCount == 0)
    }

    @Test("Items that wait for a full host are not open, so that it does not hold up others; 4 K may so wait")
    func fullHost() async throws {
        let transport = ScriptedTransport { request, _ in
            request.origin.host == "stalled" ? .silence : .reply(.item(for: request), after: .seconds(1))
        }
        let pulled = Record<Int>()
        try await withVirtualTime(
            transport: transport, baseURL: nil,
            configure: {
                $0.maxConcurrencyPerHost = 2
                $0.timeout = .seconds(10_000)
            }
        ) { client, clock in
            // The first ten go to a host that takes two and never answers, and the next ten to one that works.
            let batch = Batch(
                Made(200) { n in
                    pulled.add(n)
                    return Call("http://\(n < 10 || n > 20 ? "stalled" : "fine")/items/\(n)", as: Item.self)
                }, maxConcurrency: 4)
            let run = client.start(batch)
            try await clock.sleep(for: .seconds(60))
            let fine = transport.sent.filter { $0.origin.host == "fine" }
            #expect(fine.count == 11)
            // 11 are done, 2 are open at the stalled host, and 4 times 4 wait for it.
            #expect(pulled.count == 11 + 2 + 16)
            run.cancel()
            try await fails(.cancelled) { try await run.value }
            #expect(client.counts == (0, 0))
        }
    }
}
