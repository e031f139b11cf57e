import Baton
import BatonTesting
import Dispatch
import Testing

@Suite("Orchestration: control of a batch")
struct BatchControlTests {
    @Test("The counts sum to the total at every report, whatever happens", arguments: 0..<40 as Range<UInt64>)
    func sums(seed: UInt64) async throws {
        let transport = ScriptedTransport { request, n in
            let number = request.number ?? 0
            let fails = (number &* 7 &+ n &* 3 &+ Int(seed)) % 4 == 0
            return .reply(fails ? .status(503) : .item(number), after: .milliseconds(number % 5))
        }
        try await withVirtualTime(transport: transport, seed: seed, configure: { $0.retry = .none }) { client, _ in
            let batch = Batch((0..<30).map(GetItem.init), maxConcurrency: 4)
                .retryFailed(seed % 2 == 0 ? .atOnce : .afterOthers)
                .reconnect { $0.number < 3 ? .retry($0.failures.dropFirst().map(\.index)) : .accept }
            let run = client.start(batch)
            let reports = Record<BatchProgress>()
            for await progress in run.progress {
                if let batch = progress.batch { reports.add(batch) }
                if reports.count == 3 {
                    run.cancelItem(20)
                    run.setMaxConcurrency(9)
                }
            }
            let report = try await run.value
            #expect(report.counts.total == 30)
            for progress in reports.all {
                let sum =
                    progress.pending + progress.running + progress.succeeded + progress.failed + progress.cancelled
                #expect(sum == 30)
                #expect(progress.pending >= 0 && progress.running >= 0)
            }
            #expect(reports.all.last.map(\.completed) == 30)
        }
    }

    @Test("Of a sequence, the counts sum to the total once it is known", arguments: 0..<20 as Range<UInt64>)
    func unsizedSums(seed: UInt64) async throws {
        let transport = ScriptedTransport { request, n in
            .reply(n == 1 && (request.number ?? 0) % 2 == 0 ? .status(503) : .item(for: request))
        }
        try await withVirtualTime(transport: transport, seed: seed, configure: { $0.retry = .none }) { client, _ in
            let run = client.start(Batch(Made(15) { GetItem(n: $0) }, maxConcurrency: 3).retryFailed(.afterOthers))
            for await progress in run.progress {
                guard let batch = progress.batch, let total = batch.total else { continue }
                #expect(batch.pending + batch.running + batch.completed == total)
            }
            check(try await run.value.allSucceeded)
        }
    }

    @Test("Paused, what is in flight finishes and nothing new is sent; resumed, it goes on")
    func pause() async throws {
        let transport = ScriptedTransport.shop(after: .seconds(1))
        try await withVirtualTime(transport: transport) { client, clock in
            let run = client.start(Batch((0..<10).map(GetItem.init), maxConcurrency: 2))
            try await clock.sleep(for: .milliseconds(500))
            run.pause()
            try await clock.sleep(for: .seconds(60))
            #expect(transport.sent.count == 2)
            #expect(client.counts.inFlight == 0)
            _ = try await client.run(GetItem(n: 77))
            run.resume()
            check(try await run.value.allSucceeded)
        }
    }

    @Test("A raise begins more at once, and a cut drains")
    func limits() async throws {
        let transport = ScriptedTransport.shop(after: .seconds(1))
        try await withVirtualTime(transport: transport, seed: 2) { client, clock in
            let run = client.start(Batch((0..<40).map(GetItem.init), maxConcurrency: 2))
            try await clock.sleep(for: .milliseconds(100))
            #expect(client.counts.inFlight == 2)
            run.setMaxConcurrency(7)
            await clock.settle()
            #expect(client.counts.inFlight == 7)
            run.setMaxConcurrency(1)
            await clock.settle()
            #expect(client.counts.inFlight == 7)
            try await clock.sleep(for: .milliseconds(1_500))
            #expect(client.counts.inFlight == 1)
            check(try await run.value.allSucceeded)
            #expect(transport.most == 7)
        }
    }

    /// Where the item is that is cancelled.
    enum Stage: CaseIterable, Sendable {
        case running, waiting, notBegun, backingOff, toBeRepeated
    }

    @Test("Cancelling one item ends it as cancelled and leaves the others alone", arguments: Stage.allCases)
    func cancelItem(stage: Stage) async throws {
        let transport = ScriptedTransport { request, n in
            let number = request.number ?? 0
            if number == 3, n == 1, stage == .backingOff || stage == .toBeRepeated { return .reply(.status(503)) }
            return .reply(.item(number), after: .seconds(1))
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.retry =
                    stage == .backingOff ? RetryPolicy(backoff: .constant(.seconds(30))) : .none
                $0.maxConcurrency = stage == .waiting ? 1 : 64
            }
        ) { client, clock in
            let width = stage == .notBegun ? 2 : 4
            let run = client.start(
                Batch((0..<8).map(GetItem.init), maxConcurrency: width)
                    .retryFailed(stage == .toBeRepeated ? .afterOthers : .whenAsked))
            try await clock.sleep(for: .milliseconds(500))
            run.cancelItem(3)
            let report = try await run.value
            guard case .cancelled = report[3].result else {
                return #expect(Bool(false), "item 3 is not cancelled: \(report[3])")
            }
            #expect(report.successes.count == 7)
            let expected = stage == .notBegun || stage == .waiting ? 0 : 1
            #expect(transport.numbers.filter { $0 == 3 }.count == expected)
            #expect(clock.elapsed < .seconds(10))
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test("Items that are cancelled at any moment take nobody with them", arguments: 0..<60 as Range<UInt64>)
    func cancelAnyItem(seed: UInt64) {
        let transport = ScriptedTransport.shop(after: .milliseconds(10))
        let run = SeededRun(seed: seed, transport)
        let reports = Record<Report<Item>>()
        let handle = run.client.start(
            Batch((0..<20).map(GetItem.init), maxConcurrency: 3), on: .global()
        ) { result in
            if case .success(let report) = result { reports.add(report) }
        }
        let victims = (0..<5).map { Int(seed) &* 7 % 20 + $0 * 3 }.filter { $0 < 20 }
        for (place, index) in victims.enumerated() {
            run.at(.milliseconds(place * 10 + Int(seed % 2) * 5)) { handle.cancelItem(index) }
        }
        run.drive()
        guard let report = reports.all.first else { return #expect(Bool(false), "no report") }
        #expect(reports.count == 1)
        #expect(report.counts.failed == 0)
        for index in 0..<20 where !victims.contains(index) { #expect(report[index].value?.n == index) }
        #expect(run.client.counts.inFlight == 0)
        #expect(run.scheduler.timerCount == 0)
    }

    @Test(
        "A failed item is sent again at once, or after the others, or when asked",
        arguments: [
            (RetryTiming.atOnce, [1, 1, 2, 3]), (.afterOthers, [1, 2, 3, 1]), (.whenAsked, [1, 2, 3]),
        ])
    func timing(timing: RetryTiming, order: [Int]) async throws {
        let transport = ScriptedTransport { request, n in
            request.number == 1 && n == 1 ? .reply(.status(404)) : .reply(.item(for: request))
        }
        try await withVirtualTime(transport: transport) { client, _ in
            let report = try await client.run(
                Batch([1, 2, 3].map(GetItem.init), maxConcurrency: 1).retryFailed(timing))
            #expect(transport.numbers == order)
            #expect(report[0].attempts == order.filter { $0 == 1 }.count)
        }
    }

    // MARK: Redriving

    @Test("A redrive runs what is unfinished, takes over the rest, and attempts add up", arguments: [true, false])
    func redrive(isLazy: Bool) async throws {
        let isRepaired = LockBox(false)
        let transport = ScriptedTransport { request, _ in
            let number = request.number ?? 0
            let fails = number % 3 == 0 && !isRepaired.withLock { $0 }
            return .reply(fails ? .status(500) : .item(number), after: .milliseconds(number))
        }
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, _ in
            let batch =
                isLazy
                ? Batch(LazyPlans(count: 10), maxConcurrency: 3)
                : Batch((0..<10).map(GetItem.init), maxConcurrency: 3)
            let first = try await client.run(batch)
            #expect(first.failures.map(\.index) == [0, 3, 6, 9])
            isRepaired.withLock { $0 = true }
            let second = try await client.run(batch.redrive(first))
            #expect(second.allSucceeded)
            #expect(second.values.compactMap { $0?.n } == Array(0..<10))
            #expect(transport.numbers.dropFirst(10).sorted() == [0, 3, 6, 9])
            #expect(second.map(\.attempts) == [2, 1, 1, 2, 1, 1, 2, 1, 1, 2])
            let third = try await client.run(batch.redrive(second))
            #expect(third.allSucceeded)
            #expect(transport.sent.count == 14)
        }
    }

    @Test(
        "Redriven requests go under the idempotency keys that they had, also after a cancel or a fail fast",
        arguments: [0, 1, 2])
    func keys(variant: Int) async throws {
        struct Pay: Request {
            typealias Output = EmptyResponse
            let n: Int
            var method: HTTPMethod { .post }
            var path: String { "/payments/\(n)" }
            var options: RequestOptions {
                var options = RequestOptions()
                options.idempotency = .keyed()
                return options
            }
        }
        let isRepaired = LockBox(false)
        let transport = ScriptedTransport { request, _ in
            if isRepaired.withLock({ $0 }) { return .reply(.status(200)) }
            return request.number == 1 ? .reply(.status(400), after: .seconds(1)) : .silence
        }
        try await withVirtualTime(transport: transport) { client, clock in
            let batch = Batch((0..<3).map(Pay.init), maxConcurrency: 3).failurePolicy(
                variant == 0 ? .failFast : .collectAll)
            let run = client.start(batch)
            try await clock.sleep(for: .seconds(2))
            if variant == 1 { run.cancel() }
            if variant == 2 {
                run.cancelItem(0)
                run.cancelItem(2)
            }
            let result = await run.outcome
            let report: Report<EmptyResponse>
            switch result {
            case .success(let value): report = value
            case .failure(let error): report = try #require(error.report(of: EmptyResponse.self))
            }
            isRepaired.withLock { $0 = true }
            check(try await client.run(batch.redrive(report)).allSucceeded)
            let keys = Dictionary(grouping: transport.sent, by: \.number).mapValues { requests in
                Set(requests.map { $0.fields[.idempotencyKey] ?? "none" })
            }
            #expect(transport.sent.count == 6)
            #expect(keys.values.allSatisfy { $0.count == 1 && !$0.contains("none") })
            #expect(Set(keys.values).count == 3)
        }
    }

    // MARK: What items may be

    @Test("Items may be chains, batches and parts with options, in batches of batches of batches")
    func items() async throws {
        let transport = ScriptedTransport.shop(after: .milliseconds(10))
        try await withVirtualTime(transport: transport, seed: 3, configure: { $0.maxConcurrency = 2 }) { client, _ in
            let cube = Batch(
                (0..<3).map { i in
                    Batch(
                        (0..<3).map { j in
                            Batch((0..<3).map { GetItem(n: i * 9 + j * 3 + $0) }, maxConcurrency: 2)
                        }, maxConcurrency: 2)
                }, maxConcurrency: 2)
            let report = try await client.run(cube)
            let numbers = report.values.flatMap { $0?.values ?? [] }.flatMap { $0?.values ?? [] }.compactMap { $0?.n }
            #expect(numbers == Array(0..<27))
            #expect(transport.most == 2)
            let mixed: [any Plan<Item>] = [
                GetItem(n: 1), GetItem(n: 2).then { GetItem(n: $0.n) }, GetItem(n: 3).deadline(.seconds(9)),
                GetItem(n: 404).fallback(to: Item(n: 4)), GetItem(n: 5).shared(),
            ]
            let second = try await client.run(Batch(mixed.map { plan in Chain.value(()).then { plan } }))
            #expect(second.values.compactMap { $0?.n } == [1, 2, 3, 4, 5])
        }
    }
}
