import Baton
import BatonTesting
import Testing

@Suite("Orchestration: streams and inputs")
struct StreamingTests {
    /// Plans that are counted as they are pulled.
    private static func counted(_ count: Int, _ pulled: Record<Int>) -> Made<GetItem> {
        Made(count) { n in
            pulled.add(n)
            return GetItem(n: n)
        }
    }

    /// Even items are slow.
    private static func transport() -> ScriptedTransport {
        ScriptedTransport { request, _ in
            let n = request.number ?? 0
            return .reply(.item(n), after: n % 2 == 0 ? .milliseconds(30) : .milliseconds(10))
        }
    }

    @Test("Items come in the order in which they end", arguments: 0..<10 as Range<UInt64>)
    func completionOrder(seed: UInt64) async throws {
        try await withVirtualTime(transport: Self.transport(), seed: seed) { client, _ in
            var order: [Int] = []
            for try await (index, outcome) in client.stream(Batch((0..<4).map(GetItem.init), maxConcurrency: 2)) {
                #expect(try outcome.get().n == index)
                order.append(index)
            }
            #expect(order.sorted() == [0, 1, 2, 3])
            #expect(order.first == 1)
        }
    }

    @Test(
        "Items come in the order of the input, begun at most a window ahead", arguments: 0..<10 as Range<UInt64>)
    func inputOrder(seed: UInt64) async throws {
        let pulled = Record<Int>()
        try await withVirtualTime(transport: Self.transport(), seed: seed) { client, clock in
            let batch = Batch(Self.counted(40, pulled), maxConcurrency: 8)
            var next = 0
            for try await (index, outcome) in client.stream(batch, order: .input(window: 6)) {
                #expect(index == next)
                #expect(outcome.value?.n == index)
                #expect(pulled.count <= index + 1 + 6)
                next += 1
            }
            #expect(next == 40)
        }
    }

    @Test("A slow reader holds the pulling up", arguments: [StreamOrder.completion, .input(window: 4)])
    func backpressure(order: StreamOrder) async throws {
        let pulled = Record<Int>()
        try await withVirtualTime(transport: Self.transport(), seed: 1) { client, clock in
            var read = 0
            for try await _ in client.stream(Batch(Self.counted(60, pulled), maxConcurrency: 4), order: order) {
                read += 1
                try await clock.sleep(for: .seconds(1))
                // What was read, what is kept for the reader, and what was under way when there was no more room.
                #expect(pulled.count <= read + 8)
            }
            #expect(read == 60)
        }
    }

    @Test("Leaving the loop cancels what is under way, and pulls no more")
    func breaking() async throws {
        let pulled = Record<Int>()
        let transport = Self.transport()
        try await withVirtualTime(transport: transport, seed: 1) { client, clock in
            for try await _ in client.stream(Batch(Self.counted(1_000, pulled), maxConcurrency: 4)) { break }
            await clock.settle()
            let (count, sent) = (pulled.count, transport.sent.count)
            #expect(client.counts.inFlight == 0)
            #expect(clock.pendingTimers == 0)
            await clock.run()
            #expect(pulled.count == count)
            #expect(transport.sent.count == sent)
            #expect(count <= 10)
        }
    }

    @Test("A task that is cancelled ends its loop as cancelled, and each loop over a stream is a run of its own")
    func cancelledLoop() async throws {
        let transport = ScriptedTransport { request, n in n == 1 ? .silence : .reply(.item(for: request)) }
        try await withVirtualTime(transport: transport) { client, clock in
            let stream = client.stream(Batch([GetItem(n: 1)]))
            let run = client.start(
                Chain { () async throws -> Int in
                    for try await _ in stream {}
                    return 0
                })
            await clock.settle()
            #expect(client.counts.inFlight == 1)
            run.cancel()
            try await fails(.cancelled) { try await run.value }
            await clock.settle()
            #expect(client.counts.inFlight == 0)
            var count = 0
            for try await (_, outcome) in stream where outcome.isSuccess { count += 1 }
            #expect(count == 1)
        }
    }

    @Test("What a stream yields is not kept: never more than a few items are alive")
    func memory() async throws {
        let alive = LockBox((now: 0, most: 0))
        final class Tracked: Sendable {
            let alive: LockBox<(now: Int, most: Int)>
            init(_ alive: LockBox<(now: Int, most: Int)>) {
                self.alive = alive
                alive.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            }
            deinit { alive.withLock { $0.now -= 1 } }
        }
        try await withVirtualTime(transport: ScriptedTransport.shop()) { client, _ in
            let plans = Made(300) { n in GetItem(n: n).map { _ in Tracked(alive) } }
            var read = 0
            for try await (_, outcome) in client.stream(Batch(plans, maxConcurrency: 5)) where outcome.isSuccess {
                read += 1
            }
            #expect(read == 300)
        }
        #expect(alive.withLock { $0.now } == 0)
        #expect(alive.withLock { $0.most } <= 16)
    }

    @Test("A stream retries, repeats and reconnects like any batch, and yields each item once")
    func retries() async throws {
        let transport = ScriptedTransport { request, n in
            n < 3 ? .reply(.status(503)) : .reply(.item(for: request))
        }
        try await withVirtualTime(transport: transport, seed: 3, configure: { $0.retry = .none }) { client, _ in
            let batch = Batch(Made(9) { GetItem(n: $0) }, maxConcurrency: 3).retryFailed(.afterOthers)
                .reconnect { .retry($0.failures.map(\.index)) }
            var seen: [Int] = []
            for try await (index, outcome) in client.stream(batch) {
                #expect(outcome.isSuccess)
                #expect(outcome.attempts == 3)
                seen.append(index)
            }
            #expect(seen.sorted() == Array(0..<9))
        }
    }

    @Test("A stream whose batch does not meet its policy throws after what was final")
    func policy() async throws {
        try await withVirtualTime(transport: ScriptedTransport.shop(), configure: { $0.retry = .none }) { client, _ in
            let batch = Batch([1, 2, 404, 3].map(GetItem.init), maxConcurrency: 1).failurePolicy(.failFast)
            let seen = Record<Int>()
            let error = try await failure {
                for try await (index, _) in client.stream(batch) { seen.add(index) }
            }
            #expect(error.code == .batchFailed)
            #expect(seen.all == [0, 1, 2])
        }
    }

    // MARK: Inputs

    @Test("A lazy collection is read as it is begun, and again when the batch is run again")
    func lazyCollection() async throws {
        let built = Record<Int>()
        let plans = LazyPlans(count: 8, built: built)
        try await withVirtualTime(transport: ScriptedTransport.shop()) { client, _ in
            let batch = Batch(plans, maxConcurrency: 2)
            #expect(built.count == 0)
            check(try await client.run(batch).allSucceeded)
            check(try await client.run(batch).allSucceeded)
            #expect(built.all == Array(0..<8) + Array(0..<8))
        }
    }

    @Test("A batch over a sequence runs once, by run or by stream")
    func consumed() async throws {
        try await withVirtualTime(transport: ScriptedTransport.shop()) { client, _ in
            let batch = Batch(Made(3) { GetItem(n: $0) })
            let report = try await client.run(batch)
            #expect(report.count == 3)
            try await fails(.inputConsumed) { try await client.run(batch) }
            try await fails(.inputConsumed) { for try await _ in client.stream(batch) {} }
            try await fails(.inputConsumed) { try await client.run(batch.redrive(report)) }
        }
    }

    /// Plans that somebody else produces; counts what was asked for, and by how many iterators.
    struct Produced: AsyncSequence, Sendable {
        let count: Int
        var failsAt: Int?
        let asked = Record<Int>()
        let iterators = Record<Int>()
        let clock: VirtualClock

        struct AsyncIterator: AsyncIteratorProtocol {
            let input: Produced
            var index = 0

            mutating func next() async throws -> GetItem? {
                input.asked.add(index)
                if index == input.failsAt { throw BatonError(.connectionLost, "said the test") }
                try await input.clock.sleep(for: .milliseconds(1))
                defer { index += 1 }
                return index < input.count ? GetItem(n: index) : nil
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            iterators.add(1)
            return AsyncIterator(input: self)
        }
    }

    @Test(
        "An asynchronous sequence is read by one task, only when an item can begin", arguments: 0..<8 as Range<UInt64>)
    func asynchronous(seed: UInt64) async throws {
        let transport = ScriptedTransport.shop(after: .seconds(1))
        try await withVirtualTime(transport: transport, seed: seed) { client, clock in
            let input = Produced(count: 12, clock: clock)
            let run = client.start(Batch(input, maxConcurrency: 3))
            try await clock.sleep(for: .milliseconds(500))
            #expect(input.asked.count == 3)
            #expect(transport.sent.count == 3)
            let report = try await run.value
            #expect(report.values.compactMap { $0?.n } == Array(0..<12))
            #expect(input.asked.count == 13)
            #expect(input.iterators.count == 1)
            #expect(transport.most == 3)
        }
    }

    @Test("An asynchronous sequence that throws fails the batch, with a report of what was done")
    func asynchronousFailure() async throws {
        try await withVirtualTime(transport: ScriptedTransport.shop(after: .seconds(1))) { client, clock in
            let input = Produced(count: 9, failsAt: 4, clock: clock)
            let error = try await failure { try await client.run(Batch(input, maxConcurrency: 2)) }
            #expect(error.code == .connectionLost || error.code == .inputFailed)
            let report = try #require(error.report(of: Item.self))
            #expect(report.count == 4)
            #expect(report.allSucceeded)
        }
    }

    @Test("A cancel does not wait for an asynchronous sequence")
    func asynchronousCancel() async throws {
        try await withVirtualTime(transport: ScriptedTransport.shop()) { client, clock in
            let run = client.start(Batch(StalledSequence(count: 2, clock: clock)))
            try await clock.sleep(for: .seconds(3))
            run.cancel()
            try await fails(.cancelled) { try await run.value }
            #expect(clock.elapsed == .seconds(3))
            await clock.settle()
            #expect(clock.pendingTimers == 0)
        }
    }
}
