import Baton
import BatonTesting
import Dispatch
import Testing

/// The attempt's clock on real time, over the transport whose own timeouts are not to be trusted.
@Suite("The attempt's clock over URLSession")
struct AttemptTimeoutTests {
    @Test("O36: requests that wait for their turn do not use up their timeout", arguments: [1, 20])
    func clockStartsWithTheSlot(limit: Int) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        // Together they take four times as long as one attempt may.
        server.on(.get, "/slow", .status(204).delayed(by: .milliseconds(200)))
        let transport = URLSessionTransport()
        let client = Client(baseURL: server.baseURL, transport: transport, retry: .none) {
            $0.timeout = .seconds(limit == 1 ? 1 : 30)
            $0.maxConcurrency = limit
        }
        let report = try await client.run(
            Batch((0..<20).map { _ in Call("/slow", as: EmptyResponse.self) }, maxConcurrency: 20))
        #expect(report.allSucceeded)
        transport.shutdown()
    }

    @Test("O36: a request that was cancelled is over, and its timeout comes to nothing")
    func cancelThenTimeout() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.on(.get, "/never", .stall)
        let transport = URLSessionTransport()
        let ends = LockBox<[BatonError.Code?]>([])
        let client = Client(baseURL: server.baseURL, transport: transport, retry: .none) {
            $0.timeout = .seconds(6)
        }
        let first = Call("/never", as: EmptyResponse.self) { $0.options.timeout = .seconds(5) }
        let run = client.start(first, on: .global()) { result in
            let code: BatonError.Code? = if case .failure(let error) = result { error.code } else { nil }
            ends.withLock { $0.append(code) }
        }
        await server.waitForRequests(1)
        run.cancel()
        _ = try? await run.value
        // Another request that runs into its timeout begins after the cancel, so the first one's has passed as well.
        let error = await #expect(throws: BatonError.self) {
            try await client.run(Call("/never", as: EmptyResponse.self))
        }
        #expect(error?.code == .timedOut)
        #expect(ends.withLock { $0 } == [.cancelled])
        transport.shutdown()
    }
}
