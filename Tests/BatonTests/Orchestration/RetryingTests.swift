import Baton
import BatonTesting
import Testing

@Suite("Orchestration: retrying")
struct RetryingTests {
    private static func failing(_ status: Int = 503, times: Int = .max) -> ScriptedTransport {
        ScriptedTransport { request, n in n > times ? .reply(.item(for: request)) : .reply(.status(status)) }
    }

    private static func policy(_ attempts: Int) -> RetryPolicy {
        RetryPolicy(attempts: attempts, backoff: .constant(.seconds(1)))
    }

    /// Where a policy is written.
    struct Layers: Sendable {
        var request: Int?
        var inner: Int?
        var outer: Int?
    }

    @Test(
        "The nearest policy holds: client, outer plan, inner plan, request",
        arguments: [
            (Layers(), 2), (Layers(outer: 3), 3), (Layers(inner: 4, outer: 3), 4),
            (Layers(request: 5, inner: 4, outer: 3), 5), (Layers(request: 1, outer: 3), 1),
        ])
    func nearest(layers: Layers, attempts: Int) async throws {
        let transport = Self.failing()
        try await withVirtualTime(
            transport: transport, configure: { $0.retry = Self.policy(2) }
        ) { client, _ in
            let request = Send(
                method: .get, options: .with { $0.retry = layers.request.map { Self.policy($0) } })
            var plan: Chain<EmptyResponse> = request.chain
            if let inner = layers.inner { plan = plan.retry(Self.policy(inner)) }
            plan = Chain.value(()).then { [plan] in plan }
            if let outer = layers.outer { plan = plan.retry(Self.policy(outer)) }
            let error = try await failure { try await client.run(plan) }
            #expect(transport.sent.count == attempts)
            #expect(error.attempts == attempts)
        }
    }

    @Test("Options reach requests within batches, zips and shared parts")
    func reach() async throws {
        let transport = Self.failing()
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, _ in
            let plan = zip(Batch([GetItem(n: 1)]), GetItem(n: 2).collected(), GetItem(n: 3).shared().collected())
            _ = try await client.run(plan.retry(Self.policy(2)))
            #expect(transport.numbers.sorted() == [1, 1, 2, 2, 3, 3])
        }
    }

    @Test(
        "Each attempt's cause, delay and decision is on the record, and the last failure is the error, without a wait after it"
    )
    func records() async throws {
        let transport = ScriptedTransport { _, n in
            n == 1 ? .fail(.connectionLost, after: .seconds(2)) : .reply(.status(500 + n), after: .seconds(1))
        }
        try await withVirtualTime(
            transport: transport, configure: { $0.retry = Self.policy(3) }
        ) { client, clock in
            let error = try await failure { try await client.run(GetItem(n: 1)) }
            #expect(error.response?.status == 503)
            #expect(clock.elapsed == .seconds(6))
            #expect(error.records.map(\.number) == [1, 2, 3])
            #expect(error.records.map(\.code) == [.connectionLost, .unacceptableStatus, .unacceptableStatus])
            #expect(error.records.map(\.status) == [nil, 502, 503])
            #expect(error.records.map(\.wait) == [.seconds(1), .seconds(1), nil])
            #expect(error.records.map(\.duration) == [.seconds(2), .seconds(1), .seconds(1)])
            #expect(error.records.map(\.started) == [.zero, .seconds(3), .seconds(5)])
            #expect(error.records.last?.decision == "not sent again: that was the last attempt")
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test("Retry-After is honoured in both forms, and beyond the limit the request fails now and shows the hint")
    func retryAfter() async throws {
        let transport = ScriptedTransport { request, n in
            let number = request.number ?? 0
            guard n == 1 else { return .reply(.item(number)) }
            switch number {
            case 1: return .reply(.busy(503, retryAfter: "30"))
            case 2:
                var response = HTTPResponse.busy(429, retryAfter: "Wed, 21 Oct 2015 07:28:40 GMT")
                response.fields[.date] = "Wed, 21 Oct 2015 07:28:00 GMT"
                return .reply(response)
            default: return .reply(.busy(503, retryAfter: "61"))
            }
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.pacing = nil
                $0.retry = RetryPolicy(backoff: .none)
            }
        ) { client, clock in
            _ = try await client.run(GetItem(n: 1))
            #expect(clock.elapsed == .seconds(30))
            _ = try await client.run(GetItem(n: 2))
            #expect(clock.elapsed == .seconds(70))
            let error = try await failure { try await client.run(GetItem(n: 3)) }
            #expect(error.response?.status == 503)
            #expect(error.retryAfter == .seconds(61))
            #expect(error.retryNote != nil)
            #expect(clock.elapsed == .seconds(70))
        }
    }

    @Test("The elapsed limit holds from the first attempt, wherever the policy is written", arguments: [true, false])
    func elapsed(isClients: Bool) async throws {
        let transport = Self.failing()
        let policy = RetryPolicy(attempts: 99, backoff: .constant(.seconds(2)), maxElapsed: .seconds(5))
        try await withVirtualTime(
            transport: transport, configure: { $0.retry = isClients ? policy : .none }
        ) { client, clock in
            let plan = isClients ? GetItem(n: 1).chain : GetItem(n: 1).retry(policy)
            let error = try await failure { try await client.run(plan) }
            #expect(transport.sent.count == 3)
            #expect(clock.elapsed == .seconds(4))
            #expect(error.retryNote?.contains("elapsed") == true)
        }
    }

    @Test("Closures decide, sync and async, and no slot is held while the latter thinks")
    func closures() async throws {
        let transport = ScriptedTransport { request, n in
            n == 1 && request.number != 9 ? .reply(.status(418)) : .reply(.item(for: request))
        }
        try await withVirtualTime(transport: transport, configure: { $0.maxConcurrency = 1 }) { client, clock in
            let sync = RetryPolicy(retryable: { context in
                context.error.response?.status == 418 ? .retry(after: .seconds(7)) : nil
            })
            _ = try await client.run(GetItem(n: 1).retry(sync))
            #expect(clock.elapsed == .seconds(7))
            let slow = RetryPolicy(retryableAsync: { _ in
                try? await clock.sleep(for: .seconds(20))
                return .retry(after: .zero)
            })
            let run = client.start(GetItem(n: 2).retry(slow))
            await clock.settle()
            _ = try await client.run(GetItem(n: 9))
            #expect(clock.elapsed == .seconds(7))
            _ = try await run.value
            #expect(clock.elapsed == .seconds(27))
        }
    }

    @Test(
        "T29: what is not idempotent is sent once, unless that is chosen",
        arguments: [
            (HTTPMethod.get, Idempotency?.none, 4), (.put, nil, 4), (.delete, nil, 4), (.post, nil, 1),
            (.patch, nil, 1),
            (.post, .marked, 4), (.post, .keyed(), 4), (.patch, .keyed("k"), 4),
        ])
    func idempotency(method: HTTPMethod, idempotency: Idempotency?, attempts: Int) async throws {
        let transport = ScriptedTransport { _, _ in .fail(.connectionLost) }
        try await withVirtualTime(transport: transport, configure: { $0.retry = Self.policy(4) }) { client, _ in
            let send = Send(method: method, options: .with { $0.idempotency = idempotency })
            _ = try await failure { try await client.run(send) }
            #expect(transport.sent.count == attempts)
            let keys = Set(transport.sent.map { $0.fields[.idempotencyKey] })
            #expect(keys.count == 1)
            if case .keyed = idempotency { #expect(keys.first != .some(nil)) }
        }
    }

    @Test("T34: a slot is free during a backoff, and never more are in flight when the request returns")
    func backoff() async throws {
        let transport = ScriptedTransport { request, n in
            request.number == 1 && n == 1
                ? .reply(.status(503), after: .seconds(1)) : .reply(.item(for: request), after: .seconds(4))
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.maxConcurrency = 1
                $0.retry = RetryPolicy(backoff: .constant(.seconds(5)))
            }
        ) { client, _ in
            _ = try await client.run(zip(GetItem(n: 1), GetItem(n: 2)))
            #expect(transport.times == [.zero, .seconds(1), .seconds(6)])
            #expect(transport.most == 1)
        }
    }

    @Test(
        "In a total outage the extra load stays within 20 % and 10 for each 10 s, at each host",
        arguments: [1, 20, 100])
    func budget(perSecond: Int) async throws {
        let transport = ScriptedTransport { _, _ in .reply(.status(503)) }
        let seconds = 20
        try await withVirtualTime(
            transport: transport, seed: 4, baseURL: nil,
            configure: {
                $0.retry = RetryPolicy(attempts: 3, backoff: .exponential(base: .milliseconds(10)))
                $0.maxConcurrency = 10_000
            }
        ) { client, clock in
            let hosts = ["a", "b"]
            for _ in 0..<seconds {
                for n in 0..<perSecond {
                    for host in hosts { client.start(Call("http://\(host)/\(n)", as: EmptyResponse.self)) }
                }
                try await clock.sleep(for: .seconds(1))
            }
            await clock.run()
            for host in hosts {
                let sent = transport.sent.filter { $0.origin.host == host }.count
                let requests = perSecond * seconds
                let extra = sent - requests
                let windows = seconds / 10 + 1
                #expect(Double(extra) <= 0.2 * Double(requests) + Double(10 * windows))
                #expect(extra >= min(requests, 10))
            }
        }
    }

    @Test("A budget that is used up fails a request now, and says so")
    func usedUp() async throws {
        let transport = Self.failing()
        try await withVirtualTime(
            transport: transport, configure: { $0.retryBudget = RetryBudget(share: 0, reserve: 2) }
        ) { client, clock in
            _ = try await failure { try await client.run(GetItem(n: 1)) }
            let error = try await failure { try await client.run(GetItem(n: 2)) }
            #expect(transport.numbers == [1, 1, 1, 2])
            #expect(error.retryNote?.contains("budget") == true)
            #expect(error.response?.status == 503)
        }
    }

    // MARK: Time

    @Test("A deadline covers queueing, attempts and waits, is inherited, and the earliest holds")
    func deadline() async throws {
        let transport = ScriptedTransport { request, _ in
            request.number == 1 ? .silence : .reply(.item(for: request), after: .seconds(2))
        }
        try await withVirtualTime(transport: transport, configure: { $0.maxConcurrency = 1 }) { client, clock in
            let blocker = client.start(GetItem(n: 1).timeout(.seconds(1_000)))
            await clock.settle()
            let queued = GetItem(n: 2).deadline(.seconds(50)).then { GetItem(n: $0.n) }.deadline(.seconds(5))
            let error = try await failure { try await client.run(queued) }
            #expect(error.code == .deadlineExceeded)
            #expect(clock.elapsed == .seconds(5))
            #expect(transport.sent.count == 1)
            blocker.cancel()
            let chain = GetItem(n: 2).then { _ in Batch([3, 4].map(GetItem.init), maxConcurrency: 1) }
            let late = try await failure { try await client.run(chain.deadline(.seconds(5))) }
            #expect(late.code == .deadlineExceeded)
            #expect(clock.elapsed == .seconds(10))
            #expect(client.counts == (0, 0))
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test("A wait that cannot fit before the deadline fails now, and says so")
    func doesNotFit() async throws {
        let transport = ScriptedTransport { _, _ in .reply(.status(503), after: .seconds(1)) }
        try await withVirtualTime(
            transport: transport, configure: { $0.retry = Self.policy(9) }
        ) { client, clock in
            let error = try await failure {
                try await client.run(GetItem(n: 1).deadline(.milliseconds(3_500)))
            }
            #expect(error.code == .deadlineExceeded)
            #expect(error.message.contains("does not fit"))
            #expect(error.response?.status == 503)
            #expect(clock.elapsed == .seconds(3))
        }
    }

    @Test("An attempt's timeout runs from its slot and is retried; a deadline is final")
    func timeouts() async throws {
        let transport = ScriptedTransport { request, n in
            n == 1 ? .silence : .reply(.item(for: request), after: .seconds(2))
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.maxConcurrency = 1
                $0.timeout = .seconds(3)
                $0.retry = RetryPolicy(backoff: .none)
            }
        ) { client, clock in
            let report = try await client.run(Batch((0..<3).map(GetItem.init), maxConcurrency: 3))
            #expect(report.allSucceeded)
            let error = try await failure {
                try await client.run(Send(method: .get, path: "/silent").deadline(.seconds(2)))
            }
            #expect(error.code == .deadlineExceeded)
            #expect(error.attempts <= 1)
        }
    }

    @Test("O36: the attempt's clock starts with its slot, so twenty in a row of a second each fit a timeout of three")
    func attemptClock() async throws {
        let transport = ScriptedTransport.shop(after: .seconds(1))
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.maxConcurrency = 1
                $0.timeout = .seconds(3)
                $0.retry = .none
            }
        ) { client, clock in
            let report = try await client.run(Batch((0..<20).map(GetItem.init), maxConcurrency: 20))
            #expect(report.allSucceeded)
            #expect(clock.elapsed == .seconds(20))
        }
    }

    @Test("Values that cannot take effect are refused, in options and in a derived client")
    func refused() async throws {
        try await withVirtualTime(transport: Self.failing()) { client, _ in
            let plans: [Chain<Item>] = [
                GetItem(n: 1).timeout(.zero), GetItem(n: 1).deadline(.zero),
                GetItem(n: 1).retry(RetryPolicy(attempts: 0)), GetItem(n: 1).hedging(Hedging(copies: 0)),
            ]
            for plan in plans {
                try await fails(.invalidConfiguration) { try await client.run(plan) }
            }
            let send = Send(options: .with { $0.timeout = .seconds(-1) })
            try await fails(.invalidConfiguration) { try await client.run(send) }
            let derived = [
                client.with { $0.maxConcurrency = 2 }, client.with { $0.maxConcurrencyPerHost = 2 },
                client.with { $0.maxWaiting = 2 }, client.with { $0.transport = InlineTransport() },
                client.with { $0.retryBudget = nil }, client.with { $0.pacing = nil },
                client.with { $0.breaker = CircuitBreaker() },
                client.with { $0.adaptiveConcurrency = AdaptiveConcurrency() },
            ]
            for client in derived {
                try await fails(.invalidConfiguration) { try await client.run(GetItem(n: 1)) }
            }
        }
    }

    @Test("A derived client has options of its own and shares the queue")
    func derived() async throws {
        let transport = ScriptedTransport { request, _ in
            request.number == 1 ? .silence : .reply(request.number == 3 ? .status(503) : .item(for: request))
        }
        try await withVirtualTime(transport: transport, configure: { $0.maxConcurrency = 1 }) { client, clock in
            let other = client.with {
                $0.retry = .none
                $0.timeout = .seconds(2)
                $0.fields = ["X-Other": "1"]
            }
            let blocker = other.start(GetItem(n: 1))
            await clock.settle()
            _ = try await client.run(GetItem(n: 2))
            #expect(clock.elapsed == .seconds(2))
            try await fails(.timedOut) { try await blocker.value }
            _ = try await failure { try await other.run(GetItem(n: 3)) }
            #expect(transport.numbers == [1, 2, 3])
            #expect(transport.sent.map { $0.fields["X-Other"] } == ["1", nil, "1"])
        }
    }
}
