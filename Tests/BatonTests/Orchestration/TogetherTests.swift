import Baton
import BatonTesting
import Testing

@Suite("Orchestration: zip and shared parts")
struct TogetherTests {
    @Test("zip yields two, three and five outputs with their types, and they run at the same time")
    func zips() async throws {
        let transport = ScriptedTransport.shop(after: .seconds(1))
        try await withVirtualTime(transport: transport, seed: 2) { client, clock in
            let two = try await client.run(zip(GetItem(n: 1), GetItem(n: 2).map { "\($0.n)" }))
            #expect(two.0 == Item(n: 1) && two.1 == "2")
            #expect(clock.elapsed == .seconds(1))
            let three = try await client.run(zip(GetItem(n: 1), Chain { 2.5 }, GetItem(n: 3)))
            #expect(three.0.n == 1 && three.1 == 2.5 && three.2.n == 3)
            let five = try await client.run(
                zip(GetItem(n: 1), GetItem(n: 2), GetItem(n: 3), GetItem(n: 4), Batch([5, 6].map(GetItem.init))))
            #expect([five.0, five.1, five.2, five.3].map(\.n) == [1, 2, 3, 4])
            #expect(five.4.successes.map(\.value.n) == [5, 6])
            #expect(clock.elapsed == .seconds(3))
        }
    }

    @Test(
        "The first failure of a zip is the error itself, and the rest is cancelled", arguments: 0..<20 as Range<UInt64>)
    func firstFailure(seed: UInt64) async throws {
        let transport = ScriptedTransport { request, _ in
            request.number == 2
                ? .reply(.status(404), after: .seconds(1)) : .reply(.item(for: request), after: .seconds(9))
        }
        try await withVirtualTime(transport: transport, seed: seed) { client, clock in
            let later = Record<Int>()
            let plan = zip(
                GetItem(n: 1).then { _ in
                    later.add(1)
                    return GetItem(n: 7)
                }, GetItem(n: 2), GetItem(n: 3))
            let error = try await failure { try await client.run(plan) }
            #expect(error.code == .unacceptableStatus)
            #expect(error.response?.status == 404)
            #expect(error.path == "zip[1]")
            #expect(clock.elapsed == .seconds(1))
            #expect(later.count == 0)
            await clock.run()
            #expect(transport.sent.count == 3)
            #expect(client.counts.inFlight == 0)
        }
    }

    @Test("A zip of collected plans waits for all of them, whatever they do")
    func collected() async throws {
        let transport = ScriptedTransport.shop(after: .seconds(1))
        try await withVirtualTime(transport: transport) { client, _ in
            let (good, bad) = try await client.run(zip(GetItem(n: 1).collected(), GetItem(n: 404).collected()))
            #expect(try good.get() == Item(n: 1))
            #expect(throws: BatonError.self) { try bad.get() }
        }
    }

    @Test("A shared part of a diamond runs once in a run, and once more in another", arguments: 0..<20 as Range<UInt64>)
    func diamond(seed: UInt64) async throws {
        let transport = ScriptedTransport.shop(after: .seconds(1))
        let root = GetItem(n: 1).shared()
        let left = root.then { GetItem(n: $0.n + 1) }.shared()
        let right = root.then { GetItem(n: $0.n + 2) }
        let plan = zip(left, right, zip(left, root)).map { l, r, both in l.n + r.n + both.0.n + both.1.n }
        try await withVirtualTime(transport: transport, seed: seed) { client, clock in
            check(try await client.run(plan) == 2 + 3 + 2 + 1)
            #expect(transport.numbers.sorted() == [1, 2, 3])
            #expect(clock.elapsed == .seconds(2))
            check(try await client.run(plan) == 8)
            #expect(transport.numbers.sorted() == [1, 1, 2, 2, 3, 3])
        }
    }

    @Test("A shared part's failure reaches those who wait, and is forgotten")
    func sharedFailure() async throws {
        let transport = ScriptedTransport { request, n in
            .reply(n == 1 ? .status(404) : .item(for: request), after: .seconds(1))
        }
        let root = GetItem(n: 1).shared()
        let plan = zip(root.collected(), root.collected()).then { pair in root.map { (pair, $0) } }
        try await withVirtualTime(transport: transport) { client, _ in
            let ((first, second), third) = try await client.run(plan)
            #expect(throws: BatonError.self) { try first.get() }
            #expect(throws: BatonError.self) { try second.get() }
            #expect(third == Item(n: 1))
            #expect(transport.sent.count == 2)
        }
    }

    @Test("A dependent that is cancelled leaves the shared part to the others", arguments: 0..<10 as Range<UInt64>)
    func dependentCancelled(seed: UInt64) async throws {
        let transport = ScriptedTransport.shop(after: .seconds(5))
        let root = GetItem(n: 1).shared()
        let plan = zip(root.deadline(.seconds(1)).collected(), root.then { GetItem(n: $0.n + 1) })
        try await withVirtualTime(transport: transport, seed: seed) { client, _ in
            let (early, late) = try await client.run(plan)
            guard case .failure(let error) = early else { return #expect(Bool(false), "the first one got a value") }
            #expect(error.code == .deadlineExceeded)
            #expect(late == Item(n: 2))
            #expect(transport.numbers == [1, 2])
        }
    }

    @Test(
        "A cancel of the run cancels its shared parts, and nothing is sent after it", arguments: 0..<60 as Range<UInt64>
    )
    func runCancelled(seed: UInt64) {
        let transport = ScriptedTransport.shop(after: .milliseconds(10))
        let run = SeededRun(seed: seed, transport)
        let root = GetItem(n: 1).then { _ in GetItem(n: 2) }.shared()
        let handle = run.client.start(zip(root, GetItem(n: 3).then { _ in root }, root.then { _ in GetItem(n: 4) }))
        let sent = Record<Int>()
        run.at(.milliseconds(Int(seed) % 3 * 10)) {
            handle.cancel()
            sent.add(transport.sent.count)
        }
        run.drive()
        #expect(sent.all == [transport.sent.count])
        #expect(run.client.counts.inFlight == 0)
        #expect(run.scheduler.timerCount == 0)
    }

    @Test("What is left of a shared part that nobody waits for ends with the run")
    func leftOver() async throws {
        let transport = ScriptedTransport { request, _ in
            request.number == 1 ? .silence : .reply(.item(for: request), after: .seconds(2))
        }
        let root = GetItem(n: 1).shared()
        try await withVirtualTime(transport: transport) { client, clock in
            _ = try await client.run(zip(root.deadline(.seconds(1)).collected(), GetItem(n: 2)))
            await clock.settle()
            #expect(client.counts.inFlight == 0)
            #expect(clock.pendingTimers == 0)
        }
    }
}
