import Baton
import BatonTesting
import Dispatch
import Testing

@testable import Baton

@Suite("Cancelling")
struct CancellationTests {
    @Test(
        "C37: a cancel during the wait for another attempt ends the run at once, without a second send",
        arguments: UInt64(0)..<20)
    func duringBackoff(seed: UInt64) async throws {
        let transport = ScriptedTransport { _, _ in .reply(.status(500)) }
        try await withVirtualTime(
            transport: transport, seed: seed, time: .manual,
            configure: { $0.retry = RetryPolicy(backoff: .constant(.seconds(2))) }
        ) { client, clock in
            let counted = client.counting(GetItem(n: 1))
            let (run, completions) = (counted.run, counted.completions)
            await clock.advance(by: .seconds(1))
            run.cancel()
            await clock.settle()
            #expect(clock.elapsed == .seconds(1))
            #expect(completions.count == 1)
            let error = try await failure { try await run.value }
            #expect(error.isCancelled)
            await clock.run()
            #expect(clock.pendingTimers == 0)
            #expect(clock.elapsed == .seconds(60) || clock.elapsed == .seconds(1))
            #expect(completions.count == 1)
        }
        #expect(transport.sent.count == 1)
    }

    @Test(
        "C38: a cancelled request is never offered for another attempt, and later cancels do nothing",
        arguments: [HeldTransport.Manners.prompt, .deaf])
    func inFlight(manners: HeldTransport.Manners) async throws {
        let transport = HeldTransport(manners)
        let observer = RecordingObserver()
        let always = RetryPolicy(attempts: 100, backoff: .none, methods: .all)
        let client = Client(baseURL: "http://h", transport: transport, retry: always, observers: [observer])
        let completions = Record<Bool>()
        let ended = Gate()
        let box = LockBox<Run<Item>?>(nil)
        let run = client.start(GetItem(n: 1), on: .global()) { result in
            if case .failure(let error) = result { completions.add(error.isCancelled) }
            box.withLock { $0 }?.cancel()
            ended.open()
        }
        box.withLock { $0 = run }
        await transport.hasSent(1)
        run.cancel()
        await ended.opens()
        run.cancel()
        transport[0].fail(.connectionLost)
        #expect(try await failure { try await run.value }.isCancelled)
        #expect(completions.all == [true])
        #expect(transport.sent.count == 1)
        #expect(transport.cancelled == [0])
        #expect(
            observer.story.filter { $0 != "slot forfeited" } == [
                "run", "attempt 1 /items/1", "attempt 1 /items/1: cancelled", "run ended: cancelled",
            ])
        box.withLock { $0 = nil }
    }

    @Test("C39: a cancel of what is queued, of all, and of what depends on it")
    func queued() async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport) { $0.maxConcurrency = 1 }
        let a = client.counting(GetItem(n: 1))
        await transport.hasSent(1)
        let b = client.counting(GetItem(n: 2))
        let dependent = client.counting(
            Chain.value(0).then { _ in
                try await b.run.value.n == 0 ? GetItem(n: 8) : GetItem(n: 9)
            })
        b.run.cancel()
        #expect(await b.ended.opens())
        #expect(try await failure { try await b.run.value }.isCancelled)
        // What waited for the cancelled one hears the same, at once.
        #expect(await dependent.ended.opens())
        #expect(try await failure { try await dependent.run.value }.isCancelled)
        let c = client.counting(GetItem(n: 3))
        a.run.cancel()
        b.run.cancel()
        #expect(await a.ended.opens())
        await transport.hasSent(2)
        transport.reply(to: 1)
        #expect(try await c.run.value == Item(n: 3))
        #expect(transport.sent.map(\.number) == [1, 3])
        #expect(client.engine.queue.counts == (0, 0))
    }

    @Test("C39: a run in a task that is cancelled already sends nothing")
    func cancelledBefore() async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        let gate = Gate()
        let task = Task {
            await gate.opens()
            return try await failure { try await client.run(GetItem(n: 1)) }
        }
        task.cancel()
        gate.open()
        #expect(try await task.value.isCancelled)
        #expect(transport.sent.isEmpty)
    }

    @Test("C41: a client that is released at once still answers", arguments: [true, false])
    func releasedClient(isBatch: Bool) async {
        let transport = HeldTransport()
        let ended = Gate()
        func begin() {
            let client = Client(baseURL: "http://h", transport: transport)
            if isBatch {
                client.start(Batch([GetItem(n: 1)]), on: .global()) { _ in ended.open() }
            } else {
                client.start(GetItem(n: 1).then { GetItem(n: $0.n) }.map(\.n), on: .global()) { _ in ended.open() }
            }
        }
        begin()
        await transport.hasSent(1)
        transport.reply(to: 0)
        if !isBatch {
            await transport.hasSent(2)
            transport.reply(to: 1)
        }
        #expect(await ended.opens())
    }

    @Test(
        "Invariant 2: after a cancel nothing is sent and no closure is called, in any interleaving",
        arguments: UInt64(0)..<50)
    func nothingAfter(seed: UInt64) async throws {
        let transport = ScriptedTransport { request, n in
            .reply(n == 1 ? .status(503) : .item(for: request), after: .milliseconds(request.number ?? 0))
        }
        let calls = Record<Int>()
        try await withVirtualTime(
            transport: transport, seed: seed,
            configure: { $0.retry = RetryPolicy(backoff: .constant(.milliseconds(3))) }
        ) { client, clock in
            let plan = Batch(
                (0..<12).map { n in
                    GetItem(n: n).then { item in
                        calls.add(item.n)
                        return GetItem(n: item.n + 100)
                    }
                }, maxConcurrency: 4)
            let run = client.start(plan)
            try await clock.sleep(for: .milliseconds(Int(seed) % 20))
            run.cancel()
            let (sent, called) = (transport.sent.count, calls.count)
            let error = try await failure { try await run.value }
            #expect(error.isCancelled)
            await clock.run()
            #expect(transport.sent.count == sent)
            #expect(calls.count == called)
            let report = try #require(error.report(of: Item.self))
            #expect(report.counts.running == 0)
            #expect(client.engine.queue.counts == (0, 0))
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test("Invariant 2: a cancel from inside a closure of the chain is the last thing that the chain does")
    func fromInside() async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        let box = LockBox<Run<Item>?>(nil)
        let isThere = Gate()
        let calls = Record<Int>()
        var plan = Chain.value(0)
        for step in 1...1_000 {
            plan = plan.map { value in
                isThere.blocks()
                calls.add(step)
                if step == 500 { box.withLock { $0 }?.cancel() }
                return value
            }
        }
        let run = client.start(plan.then { _ in GetItem(n: 1) })
        box.withLock { $0 = run }
        isThere.open()
        #expect(try await failure { try await run.value }.isCancelled)
        box.withLock { $0 = nil }
        #expect(calls.all == Array(1...500))
        #expect(transport.sent.isEmpty)
    }

    @Test("A request whose task is cancelled while it is built is not sent", arguments: [true, false])
    func whileBuilt(inAdapter: Bool) async throws {
        struct Cancelling: RequestAdapter {
            func adapt(_ request: inout HTTPRequest, context: AttemptContext) throws {
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        struct CancellingRequest: Request {
            typealias Output = EmptyResponse
            var path: String {
                withUnsafeCurrentTask { $0?.cancel() }
                return "/x"
            }
        }
        let sent = Record<String>()
        let transport = InlineTransport { request in
            sent.add(request.target)
            return .status(200)
        }
        let client = Client(baseURL: "http://h", transport: transport, retry: .none) {
            if inAdapter { $0.interceptors = [Cancelling()] }
        }
        let task = Task {
            try await failure {
                if inAdapter {
                    _ = try await client.run(Call("/x", as: EmptyResponse.self))
                } else {
                    _ = try await client.run(CancellingRequest())
                }
            }
        }
        #expect(try await task.value.isCancelled)
        #expect(sent.all.isEmpty)
    }

    @Test("Cancelling one item of a batch leaves the items alone that its lane runs after it", arguments: [1, 2])
    func oneItem(maxConcurrency: Int) async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport, retry: .none)
        let run = client.start(Batch((0..<4).map(GetItem.init), maxConcurrency: maxConcurrency))
        await transport.hasSent(maxConcurrency)
        // The one that has not begun first: the other makes room for it.
        run.cancelItem(2)
        run.cancelItem(0)
        for number in 1...2 {
            await transport.hasSent(number + 1)
            transport.reply(to: number)
        }
        let report = try await run.value
        #expect(report.counts.cancelled == 2)
        #expect(report.values.map { $0?.n } == [nil, 1, nil, 3])
        #expect(transport.sent.map(\.number) == [0, 1, 3])
    }

    @Test(
        "What has a tag or a deadline and is cancelled before it begins leaves neither name nor timer",
        arguments: UInt64(0)..<30)
    func tagged(seed: UInt64) {
        let run = SeededRun(seed: seed, ScriptedTransport())
        let part = GetItem(n: 2).tag("t").deadline(.seconds(100))
        let counted = run.client.counting(GetItem(n: 1).then { _ in Batch([part, part, part]) }.tag("outer"))
        for _ in 0..<3 { run.at(.zero) {} }
        run.at(.zero) { counted.run.cancel() }
        run.drive()
        #expect(counted.completions.count == 1)
        #expect(run.client.engine.tags.jobs("t").isEmpty)
        #expect(run.client.engine.tags.jobs("outer").isEmpty)
        #expect(run.scheduler.timerCount == 0)
    }

    @Test("A shared part that is joined while its run is cancelled sends nothing more", arguments: UInt64(0)..<30)
    func sharedPart(seed: UInt64) {
        let transport = ScriptedTransport()
        let run = SeededRun(seed: seed, transport)
        let shared = GetItem(n: 1).then { GetItem(n: $0.n + 1) }.shared()
        let counted = run.client.counting(zip(shared.then { GetItem(n: $0.n) }, shared.map(\.n)))
        let after = LockBox(0)
        run.at(.zero) {
            counted.run.cancel()
            after.withLock { $0 = transport.sent.count }
        }
        run.drive()
        #expect(counted.completions.count == 1)
        #expect(
            transport.sent.count == after.withLock { $0 } || counted.completions.all.contains { (try? $0.get()) != nil }
        )
        #expect(run.client.engine.queue.counts == (0, 0))
    }
}
