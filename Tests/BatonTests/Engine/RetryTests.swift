import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Attempts")
struct RetryTests {
    private static let fast = Backoff.constant(.milliseconds(10))

    @Test(
        "T29: methods that are not idempotent are sent once when the connection is lost, unless opted in",
        arguments: [
            (.post, .idempotent, 1), (.patch, .idempotent, 1), (.get, .idempotent, 4), (.head, .idempotent, 4),
            (.put, .idempotent, 4), (.delete, .idempotent, 4), (.options, .idempotent, 4), (.post, .all, 4),
            (.patch, .all, 4),
        ] as [(HTTPMethod, RetryPolicy.Methods, Int)])
    func idempotence(method: HTTPMethod, methods: RetryPolicy.Methods, attempts: Int) async throws {
        let transport = ScriptedTransport { _, _ in .fail(.connectionLost) }
        try await withVirtualTime(transport: transport) { client, _ in
            var request = Send(method: method)
            request.options.retry = RetryPolicy(attempts: 4, backoff: Self.fast, methods: methods)
            let error = try await failure { [request] in try await client.run(request) }
            #expect(error.code == .connectionLost)
            #expect(error.attempts == attempts)
        }
        #expect(transport.sent.count == attempts)
    }

    @Test(
        "T32: retries n are n + 1 attempts, whatever the status, with no wait after the last",
        arguments: [0, 1, 3], [500, 502, 503])
    func attempts(retries: Int, status: Int) async throws {
        let transport = ScriptedTransport { _, n in
            .reply(
                HTTPResponse(
                    status: status, fields: status == 503 ? ["Retry-After": "0"] : [:], body: .init("\(n)".utf8)))
        }
        let observer = RecordingObserver()
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.retry = RetryPolicy(attempts: retries + 1, backoff: .constant(.seconds(1)))
                $0.observers = [observer]
            }
        ) { client, clock in
            let error = try await failure { try await client.run(GetItem(n: 1)) }
            #expect(error.code == .unacceptableStatus)
            #expect(error.response?.status == status)
            #expect(error.response.map { String(decoding: $0.body, as: UTF8.self) } == "\(retries + 1)")
            #expect(error.attempts == retries + 1)
            #expect(clock.elapsed == .seconds(retries))
            #expect(clock.pendingTimers == 0)
        }
        #expect(transport.sent.count == retries + 1)
        #expect(
            observer.story.filter { $0.hasPrefix("retry") }
                == (0..<retries).map { "retry after attempt \($0 + 1) in \(Duration.seconds(1))" })
    }

    @Test("T32: less than one attempt is refused", arguments: [0, -1, Int.min])
    func tooFew(attempts: Int) async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport, retry: RetryPolicy(attempts: attempts))
        let error = try await failure { try await client.run(GetItem(n: 1)) }
        #expect(error.code == .invalidConfiguration)
        #expect(error.message.contains("\(attempts)"))
        #expect(transport.sent.isEmpty)
    }

    @Test(
        "What a request's options say wrongly is refused before it is sent",
        arguments: [
            (nil, RetryPolicy(attempts: 0)), (.zero, nil), (.seconds(-1), nil),
            (nil, RetryPolicy(backoff: .constant(.seconds(-1)))),
            (nil, RetryPolicy(backoff: .exponential(factor: .nan))),
        ] as [(Duration?, RetryPolicy?)])
    func wrongOptions(timeout: Duration?, retry: RetryPolicy?) async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        var request = Send(method: .get)
        request.options.timeout = timeout
        request.options.retry = retry
        let error = try await failure { [request] in try await client.run(request) }
        #expect(error.code == .invalidConfiguration)
        #expect(transport.sent.isEmpty)
    }

    @Test("T34: a slot is given back during a wait; what waits behind is sent meanwhile", arguments: UInt64(0)..<10)
    func slotDuringWait(seed: UInt64) async throws {
        let transport = ScriptedTransport { request, n in
            request.number == 1 && n == 1
                ? .reply(.status(503)) : .reply(.item(for: request), after: .seconds(request.number == 2 ? 7 : 1))
        }
        try await withVirtualTime(
            transport: transport, seed: seed,
            configure: {
                $0.maxConcurrency = 1
                $0.retry = RetryPolicy(backoff: .constant(.seconds(5)))
            }
        ) { client, clock in
            let a = client.start(GetItem(n: 1))
            try await clock.sleep(for: .milliseconds(1))
            let b = client.start(GetItem(n: 2))
            #expect(try await b.value == Item(n: 2))
            #expect(try await a.value == Item(n: 1))
            #expect(client.engine.queue.counts == (0, 0))
        }
        #expect(transport.sent.map(\.number) == [1, 2, 1])
        // A came back after 5 s, and waited until B gave its slot back.
        #expect(transport.times.last == .seconds(7) + .milliseconds(1))
        #expect(transport.most == 1)
    }

    @Test("Z05: a second reply to the same attempt is dropped", arguments: [true, false])
    func duplicate(endsInline: Bool) async throws {
        let held = HeldTransport()
        struct Twice: Transport {
            func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
                receiver.complete(.item(1))
                receiver.complete(.item(2))
                receiver.fail(BatonError(.connectionLost))
                receiver.end()
                return FinishedTransmission.shared
            }
        }
        let observer = RecordingObserver()
        let client = Client(
            baseURL: "http://h", transport: endsInline ? Twice() : held, retry: .none, observers: [observer]
        ) { $0.maxConcurrency = 2 }
        let counted = client.counting(GetItem(n: 7))
        if !endsInline {
            await held.hasSent(1)
            held[0].reply(.item(1))
            held[0].reply(.item(2))
            held[0].fail(.connectionLost)
        }
        #expect(try await counted.run.value == Item(n: 1))
        if !endsInline { held[0].reply(.item(3)) }
        await counted.ended.opens()
        #expect(counted.completions.count == 1)
        #expect(observer.story == ["run", "attempt 1 /items/7", "attempt 1 /items/7: 200", "run ended"])
        #expect(client.engine.queue.counts == (0, 0))
    }

    @Test("Z05: a reply after a cancel, and twice, gives the slot back once", arguments: [1, 2, 3])
    func afterCancel(replies: Int) async throws {
        let transport = HeldTransport(.deaf)
        let client = Client(baseURL: "http://h", transport: transport) { $0.maxConcurrency = 1 }
        let run = client.start(GetItem(n: 1))
        await transport.hasSent(1)
        run.cancel()
        #expect(try await failure { try await run.value }.isCancelled)
        #expect(client.engine.queue.counts == (1, 0))
        for _ in 0..<replies { transport[0].reply() }
        #expect(client.engine.queue.counts == (0, 0))
        // With a slot too many, two of these would travel at once.
        let more = (2...4).map { client.start(GetItem(n: $0)) }
        for number in 1...3 {
            await transport.hasSent(number + 1)
            #expect(transport.sent.count == number + 1)
            transport.reply(to: number)
        }
        for run in more { _ = try await run.value }
    }

    @Test("Z05: a transport that never ends a cancelled exchange forfeits its slot after a second, with an event")
    func forfeit() async throws {
        let transport = ScriptedTransport { request, _ in
            request.number == 1 ? .reply(.item(99), after: .seconds(500), isDeaf: true) : .reply(.item(for: request))
        }
        let observer = RecordingObserver()
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.maxConcurrency = 1
                $0.observers = [observer]
            }
        ) { client, clock in
            let first = client.start(GetItem(n: 1))
            try await clock.sleep(for: .seconds(1))
            let second = client.start(GetItem(n: 2))
            first.cancel()
            #expect(try await second.value == Item(n: 2))
            #expect(clock.elapsed == .seconds(2))
            // The late reply finds nothing: neither a run nor a slot.
            await clock.run()
            #expect(clock.elapsed == .seconds(500))
            #expect(client.engine.queue.counts == (0, 0))
        }
        #expect(observer.story.count { $0 == "slot forfeited" } == 1)
    }

    @Test("Z05: a transport that is given up while it is still in `send` is cancelled as soon as it returns")
    func slowSend() async throws {
        final class Slow: Transport {
            let (entered, leaves, cancelled) = (Gate(), Gate(), Gate())
            final class Handle: Transmission {
                let cancelled: Gate
                let receiver: TransportReceiver
                init(_ cancelled: Gate, _ receiver: TransportReceiver) {
                    self.cancelled = cancelled
                    self.receiver = receiver
                }
                func cancel() {
                    cancelled.open()
                    receiver.fail(BatonError(.cancelled))
                }
            }
            func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
                entered.open()
                leaves.blocks()
                return Handle(cancelled, receiver)
            }
        }
        let transport = Slow()
        let client = Client(baseURL: "http://h", transport: transport)
        let run = client.start(GetItem(n: 1))
        await transport.entered.opens()
        run.cancel()
        #expect(try await failure { try await run.value }.isCancelled)
        transport.leaves.open()
        #expect(await transport.cancelled.opens())
    }

    @Test("A reply in pieces is put together; pieces after the end are dropped")
    func pieces() async throws {
        struct Pieces: Transport {
            func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
                receiver.head(HTTPResponseHead(status: 200, fields: ["X-A": "1"]))
                receiver.chunk(.init("{\"n\":".utf8))
                receiver.chunk(.init(" 4}".utf8))
                receiver.sent(3, of: 3)
                receiver.end()
                receiver.chunk(.init("more".utf8))
                receiver.end()
                return FinishedTransmission.shared
            }
        }
        let client = Client(baseURL: "http://h", transport: Pieces())
        let report = try await client.run(
            Batch((0..<3).map { _ in Call("/x", as: HTTPResponse.self) }, maxConcurrency: 1))
        #expect(
            report.successes.map { String(decoding: $0.value.body, as: UTF8.self) }
                == Array(repeating: "{\"n\": 4}", count: 3))
        #expect(report.successes.allSatisfy { $0.value.fields["x-a"] == "1" })
    }

    @Test("An end without a head is an error")
    func headless() async throws {
        struct Headless: Transport {
            func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
                receiver.end()
                return FinishedTransmission.shared
            }
        }
        let error = try await failure {
            try await Client(baseURL: "http://h", transport: Headless()).run(GetItem(n: 1))
        }
        #expect(error.code == .invalidResponse)
    }

    @Test("A timeout is retried; what had been received by then is not part of the next attempt")
    func timeoutThenRetry() async throws {
        let transport = ScriptedTransport { request, n in
            n == 1 ? .silence : .reply(.item(for: request), after: .seconds(4))
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.timeout = .seconds(5)
                $0.retry = RetryPolicy(attempts: 2, backoff: .constant(.seconds(1)))
            }
        ) { client, clock in
            let item = try await client.run(GetItem(n: 1))
            #expect(item == Item(n: 1))
            #expect(clock.elapsed == .seconds(10))
        }
    }

    @Test("The timeout of an attempt runs from its slot, not from its place in the queue")
    func timeoutFromSlot() async throws {
        let transport = ScriptedTransport { request, _ in .reply(.item(for: request), after: .seconds(1)) }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.timeout = .seconds(3)
                $0.maxConcurrency = 1
            }
        ) { client, clock in
            let report = try await client.run(Batch((0..<20).map(GetItem.init), maxConcurrency: 20))
            #expect(report.allSucceeded)
            #expect(clock.elapsed == .seconds(20))
        }
    }

    @Test("A shorter timeout of one request holds, whatever the ones before it had", arguments: [1, 30, 300])
    func ownTimeout(seconds: Int) async throws {
        let transport = ScriptedTransport { request, _ in request.path == "/slow" ? .silence : .reply(.status(200)) }
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, clock in
            var slow = Send(method: .get, path: "/slow")
            slow.options.timeout = .seconds(seconds)
            let report = try await client.run(Batch([Send(), Send(), slow, Send()], maxConcurrency: 1))
            #expect(report[2].error?.code == .timedOut)
            #expect(report.counts.succeeded == 3)
            // The transport ends at once when it is cancelled.
            #expect(clock.elapsed == .seconds(seconds))
            #expect(clock.pendingTimers == 0)
        }
    }
}
