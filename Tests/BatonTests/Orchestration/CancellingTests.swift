import Baton
import BatonTesting
import Dispatch
import Foundation
import Testing

@Suite("Orchestration: cancelling and the queue")
struct CancellingTests {
    /// The ways in which a run can be cancelled.
    enum Means: CaseIterable, Sendable {
        case handle, scopeReleased, scopeCancelled, all, tag
    }

    @Test(
        "However it is cancelled, a run completes at once and once, and nothing is sent after it",
        arguments: Means.allCases, [false, true])
    func means(means: Means, isBefore: Bool) async throws {
        let transport = ScriptedTransport.shop(after: .seconds(5))
        try await withVirtualTime(transport: transport, seed: 1) { client, clock in
            let completions = Record<Bool>()
            var scope: CancellationScope? = CancellationScope()
            let plan = GetItem(n: 1).then { GetItem(n: $0.n + 1) }.tag("mine")
            if isBefore, means == .scopeCancelled { scope?.cancel() }
            let run = client.start(plan, on: .global(), in: scope) { completions.add($0.isCancelled) }
            if !isBefore { try await clock.sleep(for: .seconds(1)) }
            switch means {
            case .handle: run.cancel()
            case .scopeReleased: scope = nil
            case .scopeCancelled: scope?.cancel()
            case .all: client.cancelAll()
            case .tag:
                // A plan has its tag once it has begun.
                if isBefore { await clock.settle() }
                client.cancel(tag: "mine")
            }
            #expect(await run.outcome.isCancelled)
            #expect(clock.elapsed == (isBefore ? .zero : .seconds(1)))
            run.cancel()
            await clock.run()
            #expect(completions.all == [true])
            #expect(transport.sent.count <= 1)
            #expect(client.counts == (0, 0))
            #expect(clock.pendingTimers == 0)
            withExtendedLifetime(scope) {}
        }
    }

    @Test("Cancelling a Swift task cancels the run it waits for")
    func task() async throws {
        let transport = ScriptedTransport { _, _ in .silence }
        try await withVirtualTime(transport: transport) { client, clock in
            let outer = client.start(Chain { () async throws -> Item in try await client.run(GetItem(n: 1)) })
            await clock.settle()
            #expect(client.counts.inFlight == 1)
            outer.cancel()
            #expect(await outer.outcome.isCancelled)
            await clock.settle()
            #expect(client.counts.inFlight == 0)
        }
    }

    @Test("A tag cancels what has it, in every run of the family, and leaves the rest alone")
    func tags() async throws {
        let transport = ScriptedTransport.shop(after: .seconds(5))
        try await withVirtualTime(transport: transport) { client, clock in
            let other = client.with { $0.timeout = .seconds(50) }
            let tagged = Send(path: "/a", options: .with { $0.tag = "images" })
            let report = client.start(Batch([tagged.map { _ in 1 }, Send(path: "/b").map { _ in 2 }]))
            let single = other.start(tagged)
            try await clock.sleep(for: .seconds(1))
            client.cancel(tag: "images")
            #expect(await single.outcome.isCancelled)
            #expect(clock.elapsed == .seconds(1))
            let counts = try await report.value.counts
            #expect((counts.cancelled, counts.succeeded) == (1, 1))
            client.cancel(tag: "nobody")
        }
    }

    @Test("A scope lets go of runs that are over, and does not cancel what was started elsewhere")
    func scope() async throws {
        try await withVirtualTime(transport: ScriptedTransport.shop(after: .seconds(1))) { client, _ in
            weak var core: RunCore?
            let scope = CancellationScope()
            do {
                let run = client.start(GetItem(n: 1), in: scope)
                _ = try await run.value
                core = run.core
            }
            #expect(core == nil)
            let outside = client.start(GetItem(n: 2))
            scope.cancel()
            check(try await outside.value == Item(n: 2))
        }
    }

    // MARK: The queue

    @Test("A full queue rejects with a typed error, and takes requests again when there is room")
    func queueFull() async throws {
        let transport = ScriptedTransport.shop(after: .seconds(1))
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.maxConcurrency = 1
                $0.maxWaiting = 2
            }
        ) { client, clock in
            let runs = (0..<3).map { client.start(GetItem(n: $0)) }
            await clock.settle()
            #expect(client.counts == (1, 2))
            let error = try await failure { try await client.run(GetItem(n: 9)) }
            #expect(error.code == .queueFull)
            #expect(error.phase == .queue)
            for run in runs { _ = try await run.value }
            check(try await client.run(GetItem(n: 9)) == Item(n: 9))
        }
    }

    @Test("Suspended, a client sends nothing new; resumed, it goes on; deadlines run on")
    func suspend() async throws {
        let transport = ScriptedTransport.shop(after: .seconds(1))
        try await withVirtualTime(transport: transport) { client, clock in
            let first = client.start(GetItem(n: 1))
            await clock.settle()
            client.suspend()
            let second = client.start(GetItem(n: 2))
            _ = try await first.value
            try await fails(.deadlineExceeded) { try await client.run(GetItem(n: 3).deadline(.seconds(9))) }
            #expect(transport.numbers == [1])
            client.resume()
            check(try await second.value == Item(n: 2))
        }
    }

    @Test("High priority goes first, and low one is passed over at most eight times in a row")
    func priorities() async throws {
        let transport = ScriptedTransport.shop(after: .seconds(1))
        try await withVirtualTime(
            transport: transport, configure: { $0.maxConcurrency = 1 }
        ) { client, clock in
            let blocker = client.start(GetItem(n: 0))
            await clock.settle()
            let low = (100..<103).map { client.start(GetItem(n: $0).priority(.low)) }
            let high = (200..<230).map { client.start(GetItem(n: $0).priority(.high)) }
            _ = try await blocker.value
            for run in low + high { _ = try await run.value }
            let order = Array(transport.numbers.dropFirst())
            #expect(order.first == 200)
            let places = order.indices.filter { order[$0] < 200 }
            #expect(places.count == 3)
            for (place, next) in zip([-1] + places, places) { #expect(next - place <= 9) }
        }
    }

    @Test("Runs take turns: a large batch does not keep a small one waiting for its end")
    func fairness() async throws {
        let transport = ScriptedTransport.shop(after: .seconds(1))
        try await withVirtualTime(transport: transport, configure: { $0.maxConcurrency = 2 }) { client, clock in
            let large = client.start(Batch((0..<60).map(GetItem.init), maxConcurrency: 20))
            try await clock.sleep(for: .seconds(1))
            _ = try await client.run(Batch((100..<104).map(GetItem.init), maxConcurrency: 4))
            // Four of the small one within about as many turns of the large one.
            #expect(clock.elapsed <= .seconds(8))
            large.cancel()
            _ = await large.outcome
        }
    }

    // MARK: The trace

    @Test("A run's trace has every request of the chain: path, status, attempts and times")
    func trace() async throws {
        let transport = ScriptedTransport { request, n in
            request.number == 2 && n == 1
                ? .reply(.status(503), after: .seconds(1)) : .reply(.item(for: request), after: .seconds(1))
        }
        try await withVirtualTime(
            transport: transport, configure: { $0.retry = RetryPolicy(backoff: .constant(.seconds(3))) }
        ) { client, _ in
            let plan = GetItem(n: 1).then { _ in GetItem(n: 2).deadline(.seconds(60)) }
                .then { _ in Batch([GetItem(n: 3)]) }.then { _ in GetItem(n: 4).then { _ in Send(path: "/x") } }
            let run = client.start(plan)
            _ = try await run.value
            let steps = run.trace.steps
            #expect(steps.map(\.path) == ["chain[0]", "chain[1]", "chain[3].chain[0]", "chain[3].chain[1]"])
            #expect(steps.map(\.status) == [200, 200, 200, 200])
            #expect(steps.map(\.attempts) == [1, 2, 1, 1])
            #expect(steps.map(\.duration) == [.seconds(1), .seconds(5), .seconds(1), .seconds(1)])
            #expect(steps.map(\.started) == [.zero, .seconds(1), .seconds(7), .seconds(8)])
            #expect(steps[1].records.map(\.status) == [503, 200])
            #expect(steps[1].records.first?.wait == .seconds(3))
            #expect(run.trace.omitted == 0)
        }
    }

    @Test("A trace keeps the failure too, and no more than 10,000 steps")
    func traceBounds() async throws {
        try await withVirtualTime(transport: ScriptedTransport.shop(), configure: { $0.retry = .none }) { client, _ in
            let run = client.start(GetItem(n: 1).then { _ in GetItem(n: 404) })
            _ = await run.outcome
            #expect(run.trace.steps.map(\.status) == [200, 404])
            #expect(run.trace.steps.last?.code == .unacceptableStatus)
        }
        var trace = RunTrace()
        let step = RunTrace.Step(
            path: "", request: "GET /", status: 200, code: nil, attempts: 1, started: .zero, duration: .zero,
            records: [])
        for _ in 0..<(RunTrace.limit + 3) { trace.add(step) }
        #expect(trace.steps.count == 10_000)
        #expect(trace.omitted == 3)
    }

    @Test("Progress is there as Foundation's too, as a snapshot")
    func foundation() {
        var progress = BatchProgress()
        #expect(progress.foundation.isIndeterminate)
        progress.total = 4
        (progress.succeeded, progress.failed, progress.running) = (1, 1, 2)
        #expect(progress.foundation.totalUnitCount == 4)
        #expect(progress.foundation.completedUnitCount == 2)
        #expect(progress.foundation.fractionCompleted == 0.5)
    }
}
