import Baton
import BatonTesting
import Testing

private struct FetchOrder: Request {
    struct Output: Codable, Response, Equatable { let total: Int }
    let id: Int
    var path: String { "/orders/\(id)" }
}

@Suite("The samples of the page about testing")
struct TestingSamples {
    @Test("An order that is unavailable at first is fetched again")
    func unavailableOrder() async throws {
        let mock = MockTransport()
        mock.on(.get, "/orders/7").fail(.connectionLost).then.reply(status: 200, json: #"{"total": 3}"#)
        try await withVirtualTime(transport: mock) { client, clock in
            let order = try await client.run(FetchOrder(id: 7))
            #expect(order.total == 3)
            #expect(clock.elapsed <= .seconds(1))
        }
        try mock.verify()
    }

    @Test("A cancel during the wait between two attempts ends the request at once")
    func cancelWhileWaiting() async throws {
        let mock = MockTransport()
        mock.on(.get, "/orders/7").reply(status: 503)
        try await withVirtualTime(
            transport: mock, time: .manual, configure: { $0.retry = RetryPolicy(backoff: .constant(.seconds(10))) }
        ) { client, clock in
            let run = client.start(FetchOrder(id: 7))
            await clock.advance(by: .seconds(1))
            run.cancel()
            await clock.settle()
            #expect(mock.calls.count == 1)
            #expect(clock.elapsed == .seconds(1))
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test("A batch keeps its rules in every order of replies", arguments: UInt64(0)..<50)
    func everyOrder(seed: UInt64) async throws {
        let mock = MockTransport()
        mock.on(.get, "/orders/*").reply(status: 200, json: #"{"total": 1}"#, after: .milliseconds(10))
        let audit = Audit()
        try await withVirtualTime(transport: mock, seed: seed, audit: audit) { client, _ in
            let report = try await client.run(Batch((1...10).map(FetchOrder.init), maxConcurrency: 3))
            #expect(report.allSucceeded)
        }
        try audit.verify()
    }

    @Test("A reply that is held arrives when it is released")
    func heldReply() async throws {
        let mock = MockTransport()
        let held = mock.on(.get, "/orders/7").hold()
        try await withVirtualTime(transport: mock, time: .manual) { client, clock in
            let run = client.start(FetchOrder(id: 7))
            await clock.settle()
            #expect(held.waiting == 1)
            held.release(status: 200, json: #"{"total": 3}"#)
            let order = try await run.value
            #expect(order.total == 3)
        }
    }

    @Test("A connection that breaks in the middle of the body is an error, not half a value")
    func brokenConnection() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.on(.get, "/orders/7", .json(#"{"total": 3}"#).broken(.close, at: .midBody))
        let client = Client(baseURL: server.baseURL, retry: .none)
        let error = await #expect(throws: BatonError.self) { try await client.run(FetchOrder(id: 7)) }
        #expect(error?.code == .connectionLost)
    }

}
