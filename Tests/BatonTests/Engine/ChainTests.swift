import Baton
import BatonTesting
import Dispatch
import Testing

@Suite("A chain")
struct ChainTests {
    private struct Broken: Error {}

    @Test("Y09: after a failure no later closure is called, and the error names the step", arguments: [0, 1, 2])
    func afterFailure(step: Int) async throws {
        let called = Record<Int>()
        let client = Client(
            baseURL: "http://h", transport: InlineTransport { $0.number == step ? .status(404) : .item(for: $0) })
        let plan = GetItem(n: 0)
            .then { item in
                called.add(1)
                return GetItem(n: item.n + 1)
            }
            .then { item in
                called.add(2)
                return GetItem(n: item.n + 1)
            }
        let error = try await failure { try await client.run(plan) }
        #expect(error.path == "chain[\(step)]")
        #expect(called.all == Array([1, 2].prefix(step)))
        #expect(error.completed.compactMap { ($0 as? Item)?.n } == Array(0..<step))
    }

    @Test("Y10: starting returns at once, and one chain does not wait for another")
    @MainActor
    func independent() async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        let first = client.start(GetItem(n: 1).then { GetItem(n: $0.n) })
        await transport.hasSent(1)
        let second = client.start(GetItem(n: 2).then { GetItem(n: $0.n + 1) })
        await transport.hasSent(2)
        transport.reply(to: 1)
        await transport.hasSent(3)
        transport.reply(to: 2)
        #expect(try await second.value == Item(n: 3))
        first.cancel()
        #expect(try await failure { try await first.value }.isCancelled)
    }

    @Test(
        "N51: observers and interceptors see the requests of a chain as they see single ones; a failure comes once, on its queue"
    )
    func sameWay() async throws {
        let observer = RecordingObserver()
        let (call, attempt) = (CountingInterceptor(.call), CountingInterceptor(.attempt))
        let client = Client(
            baseURL: "http://h", transport: InlineTransport { $0.number == 2 ? .status(500) : .item(for: $0) },
            retry: .none, interceptors: [call, attempt], observers: [observer])
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "test.callbacks")
        queue.setSpecific(key: key, value: true)
        let results = Record<(BatonError?, Bool)>()
        let done = Gate()
        client.start(
            GetItem(n: 1).then { GetItem(n: $0.n + 1) }.then { GetItem(n: $0.n + 1) }, on: queue
        ) { result in
            let error: BatonError? = if case .failure(let error) = result { error } else { nil }
            results.add((error, DispatchQueue.getSpecific(key: key) == true))
            done.open()
        }
        #expect(await done.opens())
        let error = try #require(results.all.first?.0)
        #expect(results.count == 1)
        #expect(results.all[0].1)
        #expect(error.path == "chain[1]")
        #expect(error.response?.status == 500)
        #expect(error.completed.compactMap { $0 as? Item } == [Item(n: 1)])
        #expect(call.paths == ["/items/1", "/items/2"])
        #expect(attempt.paths == ["/items/1", "/items/2"])
        #expect(
            observer.story == [
                "run", "attempt 1 /items/1", "attempt 1 /items/1: 200", "attempt 1 /items/2",
                "attempt 1 /items/2: unacceptableStatus", "run ended: unacceptableStatus",
            ])
    }

    @Test("N51: a cancel between two steps ends the chain as cancelled")
    func cancelBetween() async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        let (reached, goesOn) = (Gate(), Gate())
        let counted = client.counting(
            GetItem(n: 1).then { item in
                reached.open()
                goesOn.blocks()
                return GetItem(n: item.n + 1)
            })
        await transport.hasSent(1)
        transport.reply(to: 0)
        await reached.opens()
        counted.run.cancel()
        goesOn.open()
        #expect(try await failure { try await counted.run.value }.isCancelled)
        #expect(transport.sent.count == 1)
    }

    @Test("A closure that throws fails the chain at its step", arguments: [true, false])
    func throwing(isAsync: Bool) async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        let later = Record<Int>()
        @Sendable func derive(_ value: Int) throws -> Chain<Int> { throw Broken() }
        @Sendable func deriveLater(_ value: Int) async throws -> Chain<Int> { throw Broken() }
        let step = isAsync ? Chain.value(1).then(deriveLater) : Chain.value(1).then(derive)
        let error = try await failure {
            try await client.run(
                step.then { value in
                    later.add(value)
                    return GetItem(n: value)
                })
        }
        #expect(error.code == .deriveFailed)
        #expect(error.phase == .derive)
        #expect(error.path == "chain[1]")
        #expect(error.underlying is Broken)
        #expect(error.completed.compactMap { $0 as? Int } == [1])
        #expect(later.count == 0)
        #expect(transport.sent.isEmpty)
    }

    @Test("A transform that throws fails the step before it")
    func throwingMap() async throws {
        let client = Client(baseURL: "http://h", transport: InlineTransport())
        let error = try await failure {
            try await client.run(
                GetItem(n: 1).then { GetItem(n: $0.n) }.map { _ -> Int in throw Broken() }.then { GetItem(n: $0) })
        }
        #expect(error.path == "chain[1]")
        #expect(error.code == .deriveFailed)
    }

    @Test("An async closure that does not heed its cancellation does not hold up the end", arguments: UInt64(0)..<10)
    func deafClosure(seed: UInt64) async throws {
        try await withVirtualTime(transport: ScriptedTransport(), seed: seed) { client, clock in
            let begun = Record<Int>()
            let run = client.start(
                Chain.value(1).then { value in
                    begun.add(value)
                    for _ in 0..<10 { try? await clock.sleep(for: .seconds(10)) }
                    return GetItem(n: value)
                })
            try await clock.sleep(for: .seconds(1))
            run.cancel()
            let error = try await failure { try await run.value }
            #expect(error.isCancelled)
            #expect(clock.elapsed == .seconds(1))
        }
    }

    @Test(
        "A cancel before an async closure began keeps it from beginning, or cancels its task", arguments: UInt64(0)..<20
    )
    func cancelBeforeAsync(seed: UInt64) async throws {
        let transport = ScriptedTransport()
        try await withVirtualTime(transport: transport, seed: seed) { client, clock in
            let (called, isCancelled) = (Record<Bool>(), Record<Bool>())
            let run = client.start(
                Chain.value(1).then { value in
                    called.add(isCancelled.count > 0)
                    try await clock.sleep(for: .seconds(1))
                    return GetItem(n: value)
                })
            await Task.yield()
            isCancelled.add(true)
            run.cancel()
            let error = try await failure { try await run.value }
            #expect(error.isCancelled)
            await clock.run()
            #expect(!called.all.contains(true))
        }
        #expect(transport.sent.isEmpty)
    }

    @Test("nil ends an optional step without sending anything")
    func optional() async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        let value = try await client.run(
            Chain.value(1).then { value -> GetItem? in
                guard value > 1 else { return nil }
                return GetItem(n: value)
            })
        #expect(value == nil)
        #expect(transport.sent.isEmpty)
    }
}
