import Baton
import BatonTesting
import Testing

@Suite("Orchestration: hosts")
struct HostTests {
    private static func get(_ host: String, _ n: Int = 0) -> Call<EmptyResponse> {
        Call("http://\(host)/items/\(n)", as: EmptyResponse.self)
    }

    private static func times(_ host: String, _ transport: ScriptedTransport) -> [Duration] {
        zip(transport.sent, transport.times).filter { $0.0.origin.host == host }.map(\.1)
    }

    // MARK: Pacing

    @Test("429 and 503 with Retry-After pause that host for everybody, and no other", arguments: [429, 503])
    func pacing(status: Int) async throws {
        let transport = ScriptedTransport { request, n in
            .reply(request.path == "/items/0" && n == 1 ? .busy(status, retryAfter: "10") : .status(200))
        }
        let observer = RecordingObserver()
        try await withVirtualTime(
            transport: transport, baseURL: nil,
            configure: {
                $0.observers = [observer]
                $0.retry = .none
                $0.pacing = ServerPacing(jitter: 0)
            }
        ) { client, clock in
            _ = await client.start(Self.get("busy")).outcome
            let others = (1...20).map { client.start(Self.get("busy", $0)) }
            _ = try await client.run(Self.get("free"))
            #expect(clock.elapsed == .zero)
            for other in others { _ = try await other.value }
            let times = Self.times("busy", transport).dropFirst()
            #expect(times.first == .seconds(10))
            #expect(clock.pendingTimers == 0 || client.counts == (0, 0))
        }
        #expect(observer.story.contains { $0.hasPrefix("http://busy paused for 10") })
    }

    @Test("After a pause requests leave a few at a time")
    func staggered() async throws {
        let transport = ScriptedTransport { request, n in
            request.path == "/items/0" && n == 1
                ? .reply(.busy(503, retryAfter: "10")) : .reply(.status(200), after: .seconds(60))
        }
        try await withVirtualTime(
            transport: transport, baseURL: nil,
            configure: {
                $0.retry = .none
                $0.pacing = ServerPacing(jitter: 0)
                $0.timeout = .seconds(600)
            }
        ) { client, clock in
            _ = await client.start(Self.get("busy")).outcome
            let others = (1...12).map { client.start(Self.get("busy", $0)) }
            for other in others { _ = try await other.value }
            let waits = Self.times("busy", transport).dropFirst().map { $0 - .seconds(10) }
            let expected = [0] + [250] + [500, 500] + [750, 750, 750, 750] + [1_000, 1_000, 1_000, 1_000]
            #expect(waits == expected.map { .milliseconds($0) })
        }
    }

    @Test("A request that waits for a paused host can be cancelled, and a deadline ends it")
    func pausedWaits() async throws {
        let transport = ScriptedTransport { _, n in .reply(.busy(503, retryAfter: "50")) }
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, clock in
            _ = await client.start(GetItem(n: 0)).outcome
            let run = client.start(GetItem(n: 1))
            try await fails(.deadlineExceeded) { try await client.run(GetItem(n: 2).deadline(.seconds(3))) }
            #expect(clock.elapsed == .seconds(3))
            run.cancel()
            try await fails(.cancelled) { try await run.value }
            #expect(clock.elapsed == .seconds(3))
            #expect(client.counts == (0, 0))
        }
    }

    // MARK: The breaker

    private static func breaker(_ configuration: inout Client.Configuration) {
        configuration.breaker = CircuitBreaker(minimumCalls: 4, openDuration: .seconds(10), jitter: 0)
        configuration.retry = .none
    }

    @Test("The breaker opens, refuses without sending, lets a probe through, and closes; other hosts are not concerned")
    func breaker() async throws {
        let isUp = LockBox(false)
        let transport = ScriptedTransport { request, _ in
            .reply(.status(request.origin.host == "bad" && !isUp.withLock { $0 } ? 500 : 200))
        }
        let observer = RecordingObserver()
        try await withVirtualTime(
            transport: transport, baseURL: nil,
            configure: {
                Self.breaker(&$0)
                $0.observers = [observer]
            }
        ) { client, clock in
            for _ in 0..<4 { _ = await client.start(Self.get("bad")).outcome }
            let refused = try await failure { try await client.run(Self.get("bad")) }
            #expect(refused.code == .circuitOpen)
            #expect(refused.retryAfter == .seconds(10))
            #expect(Self.times("bad", transport).count == 4)
            _ = try await client.run(Self.get("good"))
            try await clock.sleep(for: .seconds(10))
            _ = await client.start(Self.get("bad")).outcome
            #expect(Self.times("bad", transport).count == 5)
            try await fails(.circuitOpen) { try await client.run(Self.get("bad")) }
            isUp.withLock { $0 = true }
            try await clock.sleep(for: .seconds(10))
            _ = try await client.run(Self.get("bad"))
            _ = try await client.run(Self.get("bad"))
        }
        let phases = observer.story.filter { $0.hasPrefix("breaker") }.compactMap { $0.split(separator: " ").last }
        #expect(phases.first == "open")
        #expect(phases.last == "closed")
    }

    @Test("A probe that is cancelled gives its place to the next one", arguments: ["queue", "flight"])
    func cancelledProbe(place: String) async throws {
        let isUp = LockBox(false)
        let transport = ScriptedTransport { _, _ in
            isUp.withLock { $0 } ? .reply(.status(200), after: .seconds(1)) : .reply(.status(500))
        }
        try await withVirtualTime(
            transport: transport, baseURL: nil, configure: { Self.breaker(&$0) }
        ) { client, clock in
            for _ in 0..<4 { _ = await client.start(Self.get("bad")).outcome }
            try await clock.sleep(for: .seconds(10))
            isUp.withLock { $0 = true }
            if place == "queue" { client.suspend() }
            let probe = client.start(Self.get("bad"))
            await clock.settle()
            try await fails(.circuitOpen) { try await client.run(Self.get("bad")) }
            probe.cancel()
            try await fails(.cancelled) { try await probe.value }
            client.resume()
            _ = try await client.run(Self.get("bad"))
            _ = try await client.run(Self.get("bad"))
        }
    }

    // MARK: Hedging

    @Test("A second copy is sent after the delay; the first success wins, and the loser is cancelled and no failure")
    func hedging() async throws {
        let transport = ScriptedTransport { request, n in
            n == 1 ? .reply(.item(1), after: .seconds(30)) : .reply(.item(2), after: .seconds(1))
        }
        let observer = RecordingObserver()
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.hedging = Hedging(delay: .after(.seconds(2)))
                $0.breaker = CircuitBreaker(failureShare: 0.1, minimumCalls: 1)
                $0.observers = [observer]
            }
        ) { client, clock in
            let run = client.start(GetItem(n: 5))
            #expect(try await run.value == Item(n: 2))
            #expect(clock.elapsed == .seconds(3))
            #expect(transport.times == [.zero, .seconds(2)])
            await clock.settle()
            #expect(client.counts == (0, 0))
            #expect(clock.pendingTimers == 0)
            _ = try await client.run(GetItem(n: 6))
        }
        #expect(observer.story.filter { $0.contains("cancelled") }.count >= 1)
    }

    @Test(
        "The loser of one item's hedge says nothing about the item that comes after it",
        arguments: 1...20 as ClosedRange<UInt64>)
    func hedgesInARow(seed: UInt64) async throws {
        let transport = ScriptedTransport { request, n in
            .reply(.item(for: request), after: .seconds(request.number == 1 && n == 1 ? 30 : 1))
        }
        try await withVirtualTime(
            transport: transport, seed: seed,
            configure: { $0.hedging = Hedging(delay: .after(.seconds(2))) }
        ) { client, clock in
            let report = try await client.run(Batch((1...4).map { GetItem(n: $0) }, maxConcurrency: 1))
            #expect(report.counts.succeeded == 4)
            #expect(client.counts == (0, 0))
            await clock.settle()
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test("Nor about the request that an interceptor sends next", arguments: 1...50 as ClosedRange<UInt64>)
    func hedgesOfAnInterceptor(seed: UInt64) async throws {
        let twice = ClosureInterceptor { request, _, next in
            _ = try await next(request)
            return try await next.replay(request)
        }
        let transport = ScriptedTransport { request, n in
            .reply(.item(for: request), after: .seconds(n == 1 ? 30 : 1))
        }
        try await withVirtualTime(
            transport: transport, seed: seed,
            configure: {
                $0.hedging = Hedging(delay: .after(.seconds(2)))
                $0.interceptors = [twice]
            }
        ) { client, _ in
            let item = try await client.run(GetItem(n: 1))
            #expect(item == Item(n: 1))
        }
    }

    @Test("A first copy that fails lets the second go at once; a POST has one copy; a budget bounds them")
    func hedgingRules() async throws {
        let transport = ScriptedTransport { request, n in
            if request.method == .post { return .reply(.status(200), after: .seconds(30)) }
            return n == 1 ? .fail(.connectionLost, after: .milliseconds(10)) : .reply(.item(for: request))
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.hedging = Hedging(delay: .after(.seconds(2)))
                $0.retryBudget = RetryBudget(share: 0, reserve: 1)
                $0.retry = .none
            }
        ) { client, clock in
            _ = try await client.run(GetItem(n: 1))
            #expect(clock.elapsed == .milliseconds(10))
            try await fails(.connectionLost) { try await client.run(GetItem(n: 2)) }
            _ = try await client.run(Send())
            #expect(transport.sent.count == 4)
        }
    }

    @Test("By percentile, nothing is hedged until enough is known, also where nothing else is noted of the host")
    func percentile() async throws {
        let transport = ScriptedTransport { request, n in
            .reply(.item(for: request), after: request.number == 99 && n == 1 ? .seconds(50) : .milliseconds(100))
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.hedging = Hedging(delay: .percentile(minimum: .milliseconds(200)))
                $0.retryBudget = nil
                $0.pacing = nil
            }
        ) { client, clock in
            for n in 0..<25 { _ = try await client.run(GetItem(n: n)) }
            let before = clock.elapsed
            _ = try await client.run(GetItem(n: 99))
            #expect(clock.elapsed - before < .seconds(1))
            #expect(transport.sent.count == 27)
        }
    }

    // MARK: Coalescing

    @Test("Identical requests under way are one exchange; each caller can leave, and the last one ends it")
    func coalescing() async throws {
        let transport = ScriptedTransport.shop(after: .seconds(5))
        try await withVirtualTime(transport: transport, configure: { $0.coalescing = Coalescing() }) { client, clock in
            let runs = (0..<3).map { _ in client.start(GetItem(n: 1)) }
            await clock.settle()
            #expect(transport.sent.count == 1)
            runs[0].cancel()
            try await fails(.cancelled) { try await runs[0].value }
            #expect(client.counts.inFlight == 1)
            check(try await runs[1].value == Item(n: 1))
            check(try await runs[2].value == Item(n: 1))
            #expect(clock.elapsed == .seconds(5))
            let others = (0..<2).map { _ in client.start(GetItem(n: 2)) }
            await clock.settle()
            for other in others { other.cancel() }
            for other in others { try await fails(.cancelled) { try await other.value } }
            await clock.settle()
            #expect(client.counts.inFlight == 0)
            #expect(transport.sent.count == 2)
        }
    }

    @Test("One who comes right after the last has left gets an exchange of its own", arguments: 0..<30 as Range<UInt64>)
    func rejoining(seed: UInt64) async throws {
        let transport = ScriptedTransport.shop(after: .seconds(5))
        try await withVirtualTime(
            transport: transport, seed: seed, configure: { $0.coalescing = Coalescing() }
        ) { client, clock in
            let first = client.start(GetItem(n: 1))
            try await clock.sleep(for: .seconds(1))
            first.cancel()
            check(try await client.run(GetItem(n: 1)) == Item(n: 1))
        }
    }

    @Test("A failure is shared once and not kept; a plan's options hold for what is shared; POST is not")
    func coalescingFailure() async throws {
        let transport = ScriptedTransport { request, n in
            .reply(n == 1 ? .status(503) : .item(for: request), after: .seconds(1))
        }
        try await withVirtualTime(transport: transport) { client, _ in
            let plan = GetItem(n: 1).coalescing(Coalescing()).retry(.none)
            let (first, second) = try await client.run(zip(plan.collected(), plan.collected()))
            #expect(throws: BatonError.self) { try first.get() }
            #expect(throws: BatonError.self) { try second.get() }
            #expect(transport.sent.count == 1)
            _ = try await client.run(plan)
            #expect(transport.sent.count == 2)
            let send = Send().coalescing(Coalescing()).retry(.none)
            _ = await client.start(zip(send.collected(), send.collected())).outcome
            #expect(transport.sent.count == 4)
        }
    }

    @Test("Duplicates in a batch are each their own, unless coalescing is asked for", arguments: [false, true])
    func duplicates(isCoalesced: Bool) async throws {
        let transport = ScriptedTransport.shop(after: .seconds(1))
        try await withVirtualTime(
            transport: transport, configure: { $0.coalescing = isCoalesced ? Coalescing() : nil }
        ) { client, _ in
            let report = try await client.run(Batch([1, 1, 1].map(GetItem.init)))
            #expect(report.values.compactMap { $0?.n } == [1, 1, 1])
            #expect(transport.sent.count == (isCoalesced ? 1 : 3))
        }
    }

    // MARK: Adaptive limits

    @Test("An adaptive limit grows with success and shrinks with drops, within the configured one, and says so")
    func adaptive() async throws {
        let isDown = LockBox(false)
        let transport = ScriptedTransport { request, _ in
            .reply(.status(isDown.withLock { $0 } ? 503 : 200), after: .milliseconds(10))
        }
        let observer = RecordingObserver()
        try await withVirtualTime(
            transport: transport, baseURL: nil,
            configure: {
                $0.adaptiveConcurrency = AdaptiveConcurrency(initial: 2)
                $0.maxConcurrencyPerHost = 6
                $0.retry = .none
                $0.observers = [observer]
            }
        ) { client, clock in
            let batch = Batch((0..<200).map { Self.get("h", $0) }, maxConcurrency: 50)
            check(try await client.run(batch).allSucceeded)
            #expect(transport.most == 6)
            client.setMaxConcurrencyPerHost(3)
            let run = client.start(batch)
            try await clock.sleep(for: .milliseconds(5))
            #expect(client.counts.inFlight == 3)
            _ = try await run.value
            isDown.withLock { $0 = true }
            _ = try await client.run(batch)
        }
        let limits = observer.events.compactMap { event -> Int? in
            if case .limitChanged(_, let limit, _) = event { limit } else { nil }
        }
        #expect(limits.contains(6))
        #expect(limits.last == 1)
        #expect(limits.allSatisfy { (1...6).contains($0) })
    }

    // MARK: Limits for hosts

    @Test("Z02: hosts that never answer do not keep the twelfth one waiting")
    func silentHosts() async throws {
        let transport = ScriptedTransport { request, _ in
            request.origin.host.hasPrefix("silent") ? .silence : .reply(.status(200), after: .seconds(1))
        }
        try await withVirtualTime(
            transport: transport, baseURL: nil,
            configure: {
                $0.maxConcurrency = 64
                $0.maxConcurrencyPerHost = 6
                $0.timeout = .seconds(100_000)
            }
        ) { client, clock in
            let runs = (0..<11).flatMap { host in (0..<20).map { client.start(Self.get("silent\(host)", $0)) } }
            await clock.settle()
            _ = try await client.run(Self.get("twelfth"))
            #expect(clock.elapsed == .seconds(1))
            client.cancelAll()
            for run in runs { #expect(await run.outcome.isCancelled) }
            #expect(client.counts == (0, 0))
        }
    }

    @Test("A stalled host never delays another, within one batch either")
    func stalledHost() async throws {
        let transport = ScriptedTransport { request, _ in
            request.origin.host == "stalled" ? .silence : .reply(.status(200), after: .seconds(1))
        }
        try await withVirtualTime(
            transport: transport, baseURL: nil,
            configure: {
                $0.maxConcurrencyPerHost = 2
                $0.retry = .none
            }
        ) { client, clock in
            let batch = Batch((0..<12).map { Self.get($0 < 6 ? "stalled" : "fine", $0) }, maxConcurrency: 4)
            let run = client.start(batch)
            try await clock.sleep(for: .seconds(10))
            #expect(Self.times("fine", transport).count == 6)
            run.cancel()
            #expect(await run.outcome.isCancelled)
        }
    }
}

extension Result where Failure == BatonError {
    var isCancelled: Bool {
        if case .failure(let error) = self { error.isCancelled } else { false }
    }
}
