import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("What transports measure")
struct MetricsTests {
    #if os(Linux)
        @Test("Each attempt over curl says what was measured, in the trace")
        func curl() async throws {
            let server = try LoopbackServer()
            server.on(.put, "/x", [.status(503), .text("done")])
            let client = Client(
                baseURL: server.baseURL, transport: try WireTransport.curl.make(), retry: .quick)
            let run = client.start(Send(method: .put, path: "/x", body: .text("12345")))
            _ = try await run.value
            let step = try #require(run.trace.steps.first)
            #expect(step.records.count == 2)
            let (first, second) = (step.records.first?.metrics, step.records.last?.metrics)
            #expect(first?.connectionReused == false && second?.connectionReused == true)
            #expect(first?.connect != nil && second?.protocolName == "http/1.1")
            #expect(second?.bodyBytesSent == 5 && second?.bodyBytesReceived == 4)
            #expect(second?.remoteAddress == "127.0.0.1:\(server.port)")
            // No TLS was spoken, and no name looked up for a connection that was kept.
            #expect(first?.secureConnect == nil && second?.secureConnect == nil)
            #expect(step.metrics == second)
        }

        @Test("An attempt over curl that failed says as much as was measured, and nothing of what did not come about")
        func failedOverCurl() async throws {
            let server = try LoopbackServer()
            server.on(
                .get, "/file",
                [
                    .text("fine"), .pattern(length: 5_000).broken(.close, at: .bodyByte(1_000)), .broken(.close),
                    .text("done"),
                ])
            let client = Client(
                baseURL: server.baseURL, transport: try WireTransport.curl.make(),
                retry: RetryPolicy(attempts: 4, backoff: .constant(.milliseconds(10))))
            _ = try await client.run(GetFile())
            let run = client.start(GetFile())
            _ = try await run.value
            let records = try #require(run.trace.steps.first?.records)
            #expect(records.map(\.code) == [.connectionLost, .connectionLost, nil])
            // It had a connection, an answer and a part of its body.
            let partial = try #require(records.first?.metrics)
            #expect(partial.connectionReused == true && partial.protocolName == "http/1.1")
            #expect(partial.wait != nil && partial.receive != nil && partial.bodyBytesReceived == 1_000)
            // A new connection was made, and nothing came over it.
            let silent = try #require(records.dropFirst().first?.metrics)
            #expect(silent.connectionReused == false && silent.connect ?? .zero > .zero)
            #expect(silent.wait == nil && silent.receive == nil && silent.secureConnect == nil)
            #expect(silent.remoteAddress == "127.0.0.1:\(server.port)")
        }

        @Test("Of a server that cannot be reached, and of a host that is not there, curl tells no times of an exchange")
        func unreachable() async throws {
            let server = try LoopbackServer()
            let closed = server.baseURL
            server.stop()
            let client = Client(transport: try WireTransport.curl.make(), retry: .none)
            for url in ["\(closed)/x", "http://no-such-host.invalid/x"] {
                let error = try await failure { try await client.run(Call(url, as: Data.self)) }
                let metrics = error.records.first?.metrics
                #expect(metrics == error.metrics)
                #expect(
                    metrics?.connect == nil && metrics?.send == nil && metrics?.wait == nil,
                    "\(String(describing: metrics))")
                #expect(metrics?.receive == nil && metrics?.connectionReused != true)
                #expect(metrics?.bodyBytesSent == nil && metrics?.bodyBytesReceived == nil)
            }
        }
    #endif

    @Test("A failure over URLSession says no zero where nothing was counted")
    func failedOverURLSession() async throws {
        let server = try LoopbackServer()
        server.on(.put, "/up", .broken(.close))
        let client = Client(baseURL: server.baseURL, transport: URLSessionTransport(), retry: .none)
        let error = try await failure {
            try await client.run(Send(method: .put, path: "/up", body: .text("12345")))
        }
        #expect(error.metrics?.bodyBytesReceived == nil && error.metrics?.bodyBytesSent != 0)
    }

    @Test("Each attempt says how long it waited for its slot: zero where one was free, nil where it got none")
    func queued() async throws {
        let transport = ScriptedTransport { request, count in
            let wait = Duration.seconds(2)
            return request.number == 2 && count == 1
                ? .reply(.status(503), after: wait) : .reply(.item(for: request), after: wait)
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.maxConcurrency = 1
                $0.retry = RetryPolicy(attempts: 2, backoff: .constant(.seconds(1)))
            }
        ) { client, _ in
            let first = client.start(GetItem(n: 1))
            let second = client.start(GetItem(n: 2))
            let third = client.start(GetItem(n: 3))
            for run in [first, second, third] { _ = try await run.value }
            #expect(first.trace.steps.map(\.queued) == [.zero])
            // It waits for the first; after its failure and the wait that follows, for the third.
            #expect(second.trace.steps.first?.records.map(\.queued) == [.seconds(2), .seconds(1)])
            #expect(second.trace.steps.map(\.queued) == [.seconds(1)])
            #expect(third.trace.steps.map(\.queued) == [.seconds(4)])
        }
    }

    @Test("What one request of a chain waited is not added to what the next one did")
    func queuedInARow() async throws {
        let transport = ScriptedTransport { request, _ in .reply(.item(for: request), after: .seconds(5)) }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.maxConcurrency = 1
                $0.interceptors = [CountingInterceptor(.call)]
            }
        ) { client, _ in
            let first = client.start(GetItem(n: 1))
            let chain = client.start(GetItem(n: 2).then { GetItem(n: $0.n + 1) })
            _ = try await (first.value, chain.value)
            #expect(chain.trace.steps.map(\.queued) == [.seconds(5), .zero])
        }
    }

    @Test("An attempt that interceptors or copies stand around says how long it waited, too", arguments: [false, true])
    func queuedWithin(isHedged: Bool) async throws {
        struct Passing: Interceptor {
            func intercept(
                _ request: HTTPRequest, context: AttemptContext, next: Next
            ) async throws -> HTTPResponse { try await next(request) }
        }
        let transport = ScriptedTransport { request, _ in .reply(.item(for: request), after: .seconds(2)) }
        try await withVirtualTime(
            transport: transport, seed: 1,
            configure: {
                $0.maxConcurrency = 1
                if isHedged {
                    $0.hedging = Hedging(delay: .after(.seconds(60)))
                } else {
                    $0.interceptors = [Passing()]
                }
            }
        ) { client, clock in
            let first = client.start(GetItem(n: 1))
            while transport.sent.isEmpty { try await clock.sleep(for: .milliseconds(1)) }
            let second = client.start(GetItem(n: 2))
            for run in [first, second] { _ = try await run.value }
            #expect(first.trace.steps.map(\.queued) == [.zero])
            let waited = try #require(second.trace.steps.first?.queued)
            #expect(waited > .seconds(1) && waited <= .seconds(2))
        }
    }

    @Test("Of an attempt that never got as far as the queue, no wait is known")
    func endedBeforeTheQueue() async throws {
        struct Refusing: Interceptor {
            func intercept(
                _ request: HTTPRequest, context: AttemptContext, next: Next
            ) async throws -> HTTPResponse { throw BatonError(.signInNeeded) }
        }
        try await withVirtualTime(
            transport: ScriptedTransport(), seed: 1, configure: { $0.interceptors = [Refusing()] }
        ) { client, _ in
            let error = try await failure { try await client.run(GetItem(n: 1)) }
            #expect(error.code == .signInNeeded && error.records.map(\.queued) == [nil])
        }
    }

    @Test("What a transport does not measure is nil")
    func nothing() async throws {
        let mock = MockTransport()
        mock.on(.get, "/file").reply(status: 200)
        try await withVirtualTime(transport: mock, seed: 1) { client, _ in
            let run = client.start(GetFile())
            _ = try await run.value
            #expect(run.trace.steps.first?.metrics == nil)
        }
    }
}
