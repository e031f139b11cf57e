import Baton
import BatonTesting
import Dispatch
import Foundation
import Testing

@Suite("A batch")
struct BatchTests {
    @Test("Y01: ten items at a time of three are never more than three in flight, and three are reached")
    func limit() async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        let run = client.start(Batch((0..<10).map(GetItem.init), maxConcurrency: 3))
        for number in 0..<10 {
            await transport.hasSent(min(10, number + 3))
            #expect(transport.sent.count == min(10, number + 3))
            transport.reply(to: number)
        }
        #expect(try await run.value.allSucceeded)
        #expect(transport.most == 3)
    }

    @Test("Y02: a started item is not sent again, in 1,000 orders of the replies (100 by default)")
    func sentOnce() {
        for seed in 0..<UInt64(Scale.count(1_000, everyday: 100)) {
            let transport = ScriptedTransport { request, _ in
                var generator = SeededGenerator(seed: seed &* 1_000 &+ UInt64(request.number ?? 0))
                return .reply(.item(for: request), after: .milliseconds(Int(generator.next() % 20)))
            }
            let run = SeededRun(seed: seed, transport)
            let counted = run.client.counting(Batch((0..<10).map(GetItem.init), maxConcurrency: 3))
            run.drive()
            #expect(transport.sent.count == 10, "seed \(seed)")
            #expect(transport.most <= 3, "seed \(seed)")
            #expect((try? counted.completions.all.first?.get().allSucceeded) == true, "seed \(seed)")
        }
    }

    @Test("Y03: the late reply to an attempt that timed out changes nothing, and its slot comes back once")
    func lateReply() async throws {
        let transport = ScriptedTransport { request, n in
            n == 1
                ? .reply(.item(99), after: .milliseconds(5_700), isDeaf: true)
                : .reply(.item(for: request), after: .milliseconds(300))
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.timeout = .seconds(5)
                $0.retry = RetryPolicy(backoff: .constant(.milliseconds(100)))
                $0.maxConcurrency = 1
            }
        ) { client, clock in
            let report = try await client.run(Batch([GetItem(n: 1), GetItem(n: 2)], maxConcurrency: 1))
            #expect(report.values.map { $0?.n } == [1, 2])
            #expect(report[0].attempts == 2)
            await clock.run()
            #expect(client.engine.queue.counts == (0, 0))
            #expect(clock.pendingTimers == 0)
        }
        #expect(transport.sent.count == 4)
    }

    @Test("Y04: 1,200 items that finish in reverse order stand in the order of the input")
    func reverse() async throws {
        let transport = ScriptedTransport { request, _ in
            .reply(.item(for: request), after: .milliseconds(2_000 - (request.number ?? 0)))
        }
        try await withVirtualTime(transport: transport, configure: { $0.maxConcurrency = 2_000 }) { client, _ in
            let report = try await client.run(Batch((0..<1_200).map(GetItem.init), maxConcurrency: 1_200))
            #expect(report.values.map { $0?.n } == (0..<1_200).map { $0 })
        }
        #expect(transport.most == 1_200)
    }

    @Test("Y05: a batch completes once, after the retry of its last item", arguments: [1, 3])
    func afterRetry(count: Int) async throws {
        let transport = ScriptedTransport { request, n in
            request.number == count - 1 && n == 1 ? .fail(.connectionLost) : .reply(.item(for: request))
        }
        try await withVirtualTime(transport: transport, seed: 3) { client, clock in
            let counted = client.counting(Batch((0..<count).map(GetItem.init)))
            _ = try await counted.run.value
            await clock.run()
            #expect(counted.completions.count == 1)
            let report = try #require(try counted.completions.all.first?.get())
            #expect(report.allSucceeded)
            #expect(report[count - 1].attempts == 2)
        }
    }

    @Test("Y06: every use of a request value has its own attempts")
    func ownAttempts() async throws {
        let transport = ScriptedTransport { _, _ in .reply(.status(500)) }
        let request = GetItem(n: 1)
        try await withVirtualTime(
            transport: transport, configure: { $0.retry = RetryPolicy(attempts: 2, backoff: .none) }
        ) { client, _ in
            let twice = Batch([request, request])
            let (first, second) = (client.start(twice), client.start(twice))
            let reports = [try await first.value, try await second.value]
            #expect(reports.flatMap { $0.failures.map(\.attempts) } == [2, 2, 2, 2])
        }
        #expect(transport.sent.count == 8)
    }

    @Test("Y07: an empty reply and a null keep their places in the results")
    func emptyValues() async throws {
        let client = Client(
            baseURL: "http://h",
            transport: InlineTransport { request in
                switch request.number {
                case 2: .status(204)
                case 3: .status(200, "null")
                default: .item(for: request)
                }
            })
        let optional = try await client.run(Batch((0..<5).map { Call("/items/\($0)", as: Item?.self) }))
        #expect(optional.count == 5)
        #expect(optional.allSucceeded)
        #expect(optional.map { $0.value??.n } == [0, 1, nil, nil, 4])
        let empty = try await client.run(Batch((0..<5).map { Call("/items/\($0)", as: EmptyResponse.self) }))
        #expect(empty.count == 5)
        #expect(empty.allSucceeded)
    }

    @Test("Y08: a batch completes for every method")
    func methods() async throws {
        let methods: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options]
        let transport = QueueTransport { _ in .status(200) }
        let client = Client(baseURL: "http://h", transport: transport)
        let report = try await client.run(Batch(methods.map { Send(method: $0) }))
        #expect(report.counts.succeeded == 7)
    }

    @Test("B42: an empty batch, and a chain without steps, complete once, later, on the queue that was named")
    func empty() async throws {
        let client = Client(baseURL: "http://h", transport: HeldTransport())
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "test.callbacks")
        queue.setSpecific(key: key, value: true)
        let record = Record<String>()
        let done = Gate()
        queue.sync {
            client.start(Batch([GetItem]()), on: queue) { result in
                record.add("outer \((try? result.get().count) ?? -1) \(DispatchQueue.getSpecific(key: key) == true)")
                client.start(Batch([GetItem]()), on: queue) { _ in
                    record.add("inner")
                    client.start(Chain.value(7), on: queue) { result in
                        record.add("value \((try? result.get()) ?? 0)")
                        done.open()
                    }
                    record.add("after inner")
                }
                record.add("after outer")
            }
            record.add("started")
        }
        #expect(await done.opens())
        #expect(record.all == ["started", "outer 0 true", "after outer", "inner", "after inner", "value 7"])
    }

    @Test("B42: the progress of an empty batch divides by nothing")
    func emptyProgress() async throws {
        let client = Client(baseURL: "http://h", transport: InlineTransport())
        let report = try await client.run(Batch([GetItem]()))
        #expect(report.counts.fraction == 1)
        #expect(report.isEmpty)
        #expect(report.allSucceeded)
        let lazy = try await client.run(Batch(Made(0) { GetItem(n: $0) }))
        #expect(lazy.isEmpty)
    }

    @Test(
        "B43: every item is told of, then the batch, each once; what their closures hold goes only after that",
        arguments: [nil, 2, 0])
    func tellingBeforeForgetting(failing: Int?) async throws {
        final class Held: Sendable {}
        struct Weak {
            weak var held: Held?
        }
        let weak = LockBox(Weak())
        let isAlive: @Sendable () -> Bool = { weak.withLock { $0.held != nil } }
        let told = Record<String>()
        let observer = RecordingObserver()
        let transport = ScriptedTransport { request, _ in
            request.number == failing ? .reply(.status(404)) : .reply(.item(for: request))
        }
        let done = Gate()
        let client = Client(baseURL: "http://h", transport: transport, retry: .none, observers: [observer])
        do {
            let object = Held()
            weak.withLock { $0.held = object }
            let batch = Batch((0..<3).map(GetItem.init), maxConcurrency: 1).onEach { index, outcome in
                told.add("\(index) \(outcome.error == nil)")
                withExtendedLifetime(object) {}
            }
            client.start(batch, on: .global()) { result in
                told.add("batch \((try? result.get())?.counts.failed ?? -1) \(isAlive())")
                withExtendedLifetime(object) {}
                done.open()
            }
        }
        #expect(await done.opens())
        #expect(
            told.all == (0..<3).map { "\($0) \($0 != failing)" } + ["batch \(failing == nil ? 0 : 1) true"])
        #expect(observer.events.count { if case .attemptStarted = $0 { true } else { false } } == 3)
        #expect(observer.events.count { if case .attemptEnded = $0 { true } else { false } } == 3)
        for _ in 0..<100_000 where isAlive() { await Task.yield() }
        #expect(!isAlive())
    }

    @Test("B44: results, failures and duplicates stand in the places of their requests")
    func places() async throws {
        let transport = ScriptedTransport { request, n in
            switch request.number {
            case 1: .reply(.status(404), after: .milliseconds(20))
            default: .reply(.item(for: request), after: .milliseconds(30 - 10 * n))
            }
        }
        let same = GetItem(n: 5)
        try await withVirtualTime(transport: transport) { client, _ in
            let report = try await client.run(Batch([GetItem(n: 0), GetItem(n: 1), same, same, GetItem(n: 0)]))
            #expect(report.values.map { $0?.n } == [0, nil, 5, 5, 0])
            #expect(report.failures.map(\.index) == [1])
        }
        #expect(transport.sent.count == 5)
    }

    @Test("B44: progress goes 1/3, 2/3, 3/3 and counts failures")
    func progress() async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        let run = client.start(Batch((0..<3).map(GetItem.init)))
        var progress = run.progress.makeAsyncIterator()
        await transport.hasSent(3)
        var seen: [Double] = []
        for number in [2, 0, 1] {
            transport.reply(to: number, with: number == 0 ? .status(404) : nil)
            let batch = try #require(await progress.next()?.batch)
            seen.append(try #require(batch.fraction))
            #expect(batch.pending + batch.running + batch.completed == 3)
        }
        let thirds: [Double] = [1.0 / 3.0, 2.0 / 3.0, 1.0]
        #expect(seen == thirds)
        #expect(await progress.next() == nil)
        #expect(try await run.value.counts.failed == 1)
    }

    @Test("The progress of a run is that of its outermost batch")
    func nestedProgress() async throws {
        let client = Client(baseURL: "http://h", transport: QueueTransport())
        let plan = Batch((0..<4).map { n in Batch((0..<10).map { GetItem(n: n * 10 + $0) }) }, maxConcurrency: 2)
        let run = client.start(plan)
        var totals: Set<Int?> = []
        for await progress in run.progress { totals.insert(progress.batch?.total) }
        #expect(totals.isSubset(of: [4]))
        #expect(try await run.value.allSucceeded)
    }

    @Test("A task that reads the progress ends when it is cancelled, and the run goes on")
    func cancelledReader() async throws {
        let transport = HeldTransport()
        let run = Client(baseURL: "http://h", transport: transport).start(GetItem(n: 1))
        let reader = Task { for await _ in run.progress {} }
        reader.cancel()
        await reader.value
        await transport.hasSent(1)
        transport.reply(to: 0)
        #expect(try await run.value == Item(n: 1))
    }

    @Test("B47: nested plans finish at a limit of 1", arguments: [true, false])
    func nested(isInline: Bool) async throws {
        let transport: any Transport = isInline ? InlineTransport() : QueueTransport()
        let client = Client(baseURL: "http://h", transport: transport) { $0.maxConcurrency = 1 }
        let plan = GetItem(n: 2)
            .then { item in Batch((0..<item.n).map { n in Batch((0..<3).map { GetItem(n: n * 3 + $0) }) }) }
            .then { report in
                // A run of the same client, from a step of this one.
                let numbers = report.successes.flatMap { $0.value.successes.map(\.value.n) }
                let more = try await client.run(Batch(numbers.map(GetItem.init), maxConcurrency: 4))
                return Chain.value(more.successes.map(\.value.n))
            }
        #expect(try await client.run(plan) == [0, 1, 2, 3, 4, 5])
    }

    @Test("B49: 10,000 items at four at a time are never more than four in flight (1,000 by default)")
    func manyItems() async throws {
        let count = Scale.count(10_000, everyday: 1_000)
        let inFlight = LockBox((now: 0, most: 0))
        let transport = QueueTransport(concurrent: true) { request in
            inFlight.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
            defer { inFlight.withLock { $0.now -= 1 } }
            return .item(for: request)
        }
        let client = Client(baseURL: "http://h", transport: transport)
        let report = try await client.run(Batch((0..<count).map(GetItem.init), maxConcurrency: 4))
        #expect(report.successes.map(\.value.n) == Array(0..<count))
        #expect(inFlight.withLock { $0.most } <= 4)
    }

    @Test("A lazy input is read one item at a time, no further than the limit, outside every lock")
    func lazyInput() async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        let (reads, atOnce) = (LockBox(0), LockBox((now: 0, most: 0)))
        let input = Made(9) { n in
            atOnce.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
            reads.withLock { $0 += 1 }
            atOnce.withLock { $0.now -= 1 }
            return GetItem(n: n)
        }
        let run = client.start(Batch(input, maxConcurrency: 2))
        for number in 0..<9 {
            await transport.hasSent(min(9, number + 2))
            #expect(reads.withLock { $0 } <= number + 3)
            transport.reply(to: number)
        }
        #expect(try await run.value.successes.map(\.value.n) == Array(0..<9))
        #expect(atOnce.withLock { $0.most } == 1)
    }

    @Test("onEach is told each index once, before the completion, whatever the limit", arguments: [1, 3, 100])
    func onEach(maxConcurrency: Int) async throws {
        let record = Record<String>()
        let done = Gate()
        let client = Client(
            baseURL: "http://h",
            transport: QueueTransport(concurrent: true) { $0.number == 7 ? .status(404) : .item(for: $0) })
        client.start(
            Batch((0..<40).map(GetItem.init), maxConcurrency: maxConcurrency)
                .onEach { index, outcome in record.add("\(index) \(outcome.isSuccess)") },
            on: .global()
        ) { _ in
            record.add("completed")
            done.open()
        }
        #expect(await done.opens())
        #expect(record.all.last == "completed")
        #expect(Set(record.all.dropLast()) == Set((0..<40).map { "\($0) \($0 != 7)" }))
        #expect(record.count == 41)
    }

    @Test("A cancel from inside onEach ends the batch as cancelled, with everything that was done", arguments: [0, 19])
    func cancelInOnEach(index: Int) async throws {
        let box = LockBox<Run<Report<Item>>?>(nil)
        let isThere = Gate()
        let client = Client(baseURL: "http://h", transport: InlineTransport())
        let run = client.start(
            Batch((0..<20).map(GetItem.init), maxConcurrency: 1).onEach { at, _ in
                isThere.blocks()
                if at == index { box.withLock { $0 }?.cancel() }
            })
        box.withLock { $0 = run }
        isThere.open()
        let error = try await failure { try await run.value }
        box.withLock { $0 = nil }
        #expect(error.isCancelled)
        let report = try #require(error.report(of: Item.self))
        #expect(report.counts.succeeded > index)
    }
}
