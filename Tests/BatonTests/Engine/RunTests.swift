import Baton
import Foundation
import Testing

@Suite("A run")
struct RunTests {
    private let client = Client(baseURL: "http://h", transport: InlineTransport())

    @Test("A request yields its output")
    func request() async throws {
        #expect(try await client.run(GetItem(n: 3)) == Item(n: 3))
    }

    @Test("Each step of a chain gets what the one before yielded")
    func chain() async throws {
        let value = try await client.run(
            GetItem(n: 3).then { GetItem(n: $0.n + 1) }.then { GetItem(n: $0.n * 2) }.map(\.n))
        #expect(value == 8)
    }

    @Test("A batch reports every item at its index", arguments: [1, 4, 64, 2_000])
    func batch(maxConcurrency: Int) async throws {
        let report = try await client.run(Batch((0..<500).map(GetItem.init), maxConcurrency: maxConcurrency))
        #expect(report.successes.map(\.value.n) == Array(0..<500))
    }

    @Test("A batch over a lazy sequence reports every item at its index")
    func lazyBatch() async throws {
        let report = try await client.run(Batch(Made(500) { GetItem(n: $0) }, maxConcurrency: 4))
        #expect(report.successes.map(\.value.n) == Array(0..<500))
    }

    @Test("Any number of callers can wait for one run, before and after its end")
    func manyWaiters() async throws {
        let transport = HeldTransport()
        let run = Client(baseURL: "http://h", transport: transport).start(GetItem(n: 3))
        await transport.hasSent(1)
        async let first = run.value
        async let second = run.value
        transport.reply(to: 0)
        let values = try await [first, second]
        #expect(values == [Item(n: 3), Item(n: 3)])
        #expect(try await run.value == Item(n: 3))
    }

    @Test("A completion comes on the queue that was named")
    func namedQueue() async {
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "test.named")
        queue.setSpecific(key: key, value: "named")
        let name = Record<String?>()
        let done = Gate()
        client.start(GetItem(n: 1), on: queue) { _ in
            name.add(DispatchQueue.getSpecific(key: key))
            done.open()
        }
        await done.opens()
        #expect(name.all == ["named"])
    }

    @Test("The same plan run twice is two independent executions")
    func twice() async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        let calls = Record<Int>()
        let plan = GetItem(n: 1).then { item in
            calls.add(item.n)
            return GetItem(n: item.n + 1)
        }
        let first = client.start(plan)
        let second = client.start(plan)
        await transport.hasSent(2)
        first.cancel()
        #expect(try await failure { try await first.value }.isCancelled)
        // The transport does not say which of the first two was whose.
        let open = Set([0, 1]).subtracting(transport.cancelled)
        for number in open { transport.reply(to: number) }
        await transport.hasSent(3)
        transport.reply(to: 2)
        #expect(try await second.value == Item(n: 2))
        #expect(calls.all == [1])
    }
}
