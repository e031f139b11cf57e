import Baton
import BatonTesting
import Testing

@Suite("Reconnecting a batch")
struct ReconnectTests {
    /// The first reply to every third item is a 503; item 6 is always a 404.
    private static func transport() -> ScriptedTransport {
        ScriptedTransport { request, n in
            let number = request.number ?? 0
            if number == 6 { return .reply(.status(404), after: .milliseconds(1)) }
            return number % 3 == 0 && n == 1
                ? .reply(.status(503), after: .milliseconds(number))
                : .reply(.item(for: request), after: .milliseconds(5))
        }
    }

    @Test(
        "It is asked when all items have landed, with the round and its failures, and only what it names is sent again")
    func rounds() async throws {
        let transport = Self.transport()
        let asked = Record<(number: Int, failures: [Int], attempts: [Int], sent: Int)>()
        try await withVirtualTime(transport: transport, seed: 5, configure: { $0.retry = .none }) { client, clock in
            let report = try await client.run(
                Batch((0..<10).map(GetItem.init), maxConcurrency: 4).reconnect { round in
                    asked.add(
                        (
                            round.number, round.failures.map(\.index), round.failures.map(\.attempts),
                            transport.sent.count
                        ))
                    return round.number < 3 ? .retry([9, 3, 3, 4, 77, 6], after: .seconds(10)) : .accept
                })
            #expect(report.failures.map(\.index) == [0, 6])
            #expect(report.failures.map(\.attempts) == [1, 3])
            #expect(report[3].attempts == 2)
            #expect(clock.elapsed >= .seconds(20))
            #expect(clock.elapsed < .seconds(21))
            #expect(clock.pendingTimers == 0)
        }
        #expect(asked.all.map(\.number) == [1, 2, 3])
        #expect(asked.all.map(\.failures) == [[0, 3, 6, 9], [6], [6]])
        #expect(asked.all.map(\.attempts) == [[1, 1, 1, 1], [2], [3]])
        #expect(asked.all.map(\.sent) == [10, 13, 14])
        #expect(transport.sent.dropFirst(10).prefix(3).compactMap(\.number).sorted() == [3, 6, 9])
    }

    @Test("It is not asked when nothing failed, nor for an empty batch", arguments: [0, 5])
    func notAsked(count: Int) async throws {
        let asked = Record<Int>()
        let client = Client(baseURL: "http://h", transport: InlineTransport())
        let plan = Batch((0..<count).map(GetItem.init)).reconnect { round in
            asked.add(round.number)
            return .accept
        }
        #expect(try await client.run(plan).allSucceeded)
        #expect(asked.count == 0)
    }

    @Test(
        "What names nothing that failed accepts the failures",
        arguments: [.accept, .retry([]), .retry([1, 2]), .retry([-1, 1_000])] as [Reconnection])
    func accepts(answer: Reconnection) async throws {
        let transport = ScriptedTransport { request, _ in
            .reply(request.number == 0 ? .status(404) : .item(for: request))
        }
        try await withVirtualTime(transport: transport) { client, _ in
            let report = try await client.run(Batch((0..<3).map(GetItem.init)).reconnect { _ in answer })
            #expect(report.failures.map(\.index) == [0])
        }
        #expect(transport.sent.count == 3)
    }

    @Test("It may be async, and wait on the client's time")
    func async() async throws {
        let transport = Self.transport()
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, clock in
            let plan = Batch((0..<10).map(GetItem.init)).reconnect { round async -> Reconnection in
                try? await clock.sleep(for: .seconds(60))
                return round.number == 1 ? .retry(round.failures.map(\.index)) : .accept
            }
            let report = try await client.run(plan)
            #expect(report.failures.map(\.index) == [6])
            #expect(clock.elapsed >= .seconds(120))
        }
    }

    @Test("onEach is told an item once, when its outcome is final", arguments: UInt64(0)..<20)
    func onEach(seed: UInt64) async throws {
        let told = Record<(index: Int, isSuccess: Bool)>()
        try await withVirtualTime(transport: Self.transport(), seed: seed, configure: { $0.retry = .none }) {
            client, _ in
            let plan = Batch((0..<10).map(GetItem.init), maxConcurrency: 3)
                .reconnect { round in round.number == 1 ? .retry([3, 6, 9]) : .accept }
                .onEach { index, outcome in told.add((index, outcome.isSuccess)) }
            _ = try await client.run(plan)
            // Before the completion, and so before this.
            #expect(told.all.map(\.index).sorted() == Array(0..<10))
        }
        #expect(told.all.filter { !$0.isSuccess }.map(\.index).sorted() == [0, 6])
    }

    /// When a batch is cancelled around its callback.
    enum Moment: CaseIterable, Sendable {
        case asking, askingLater, pausing, secondRound
    }

    @Test(
        "A cancel while it is asked, while it pauses or in a later round ends the batch at once",
        arguments: Moment.allCases)
    func cancel(moment: Moment) async throws {
        let transport = ScriptedTransport { request, n in
            request.number == 0
                ? .reply(.status(503), after: n == 1 ? .zero : .seconds(5)) : .reply(.item(for: request))
        }
        let told = Record<Int>()
        let box = LockBox<Run<Report<Item>>?>(nil)
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, clock in
            let batch = Batch((0..<4).map(GetItem.init)).onEach { index, _ in told.add(index) }
            let plan =
                switch moment {
                case .asking:
                    batch.reconnect { _ in
                        box.withLock { $0 }?.cancel()
                        return .retry([0])
                    }
                case .askingLater:
                    batch.reconnect { _ async -> Reconnection in
                        try? await clock.sleep(for: .seconds(1_000))
                        return .retry([0])
                    }
                case .pausing: batch.reconnect { _ in .retry([0], after: .seconds(1_000)) }
                case .secondRound: batch.reconnect { _ in .retry([0]) }
                }
            let counted = client.counting(plan)
            box.withLock { $0 = counted.run }
            try await clock.sleep(for: .seconds(1))
            counted.run.cancel()
            let error = try await failure { try await counted.run.value }
            #expect(error.isCancelled)
            #expect(clock.elapsed == .seconds(1))
            let report = try #require(error.report(of: Item.self))
            #expect(report.counts.succeeded == 3)
            await clock.run()
            #expect(counted.completions.count == 1)
            #expect(told.all.sorted() == [0, 1, 2, 3])
            #expect(clock.pendingTimers == 0)
            #expect(client.engine.queue.counts == (0, 0))
        }
        box.withLock { $0 = nil }
        #expect(transport.sent.count == (moment == .secondRound ? 5 : 4))
    }

    @Test("Items that ended as cancelled by their own doing may be asked for again, and the counts stay right")
    func ownCancel() async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport, retry: .none)
        let run = client.start(
            Batch((0..<2).map(GetItem.init)).reconnect { round in
                round.number == 1 ? .retry(round.failures.map(\.index)) : .accept
            })
        var progress = run.progress.makeAsyncIterator()
        await transport.hasSent(2)
        transport[0].fail(.cancelled)
        #expect(await progress.next()?.batch?.cancelled == 1)
        transport[1].fail(.connectionLost)
        await transport.hasSent(4)
        transport.reply(to: 2)
        transport.reply(to: 3)
        var last: BatchProgress?
        while let next = await progress.next() {
            last = next.batch
            #expect(last.map { $0.pending + $0.running + $0.completed } == 2)
        }
        #expect(last?.succeeded == 2)
        #expect(last?.cancelled == 0)
        #expect(try await run.value.allSucceeded)
    }

    @Test("Chains and batches as items are sent again as wholes")
    func nested() async throws {
        let transport = ScriptedTransport { request, n in
            request.number == 2 && n == 1 ? .reply(.status(500)) : .reply(.item(for: request))
        }
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, _ in
            let report = try await client.run(
                Batch((0..<3).map { n in GetItem(n: n * 10).then { GetItem(n: $0.n / 10) } })
                    .reconnect { round in .retry(round.failures.map(\.index)) })
            #expect(report.values.map { $0?.n } == [0, 1, 2])
        }
        #expect(transport.sent.count == 8)
    }
}
