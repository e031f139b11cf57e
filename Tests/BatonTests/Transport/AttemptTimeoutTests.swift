import Baton
import BatonTesting
import Testing

/// The attempt's clock on real time, over the transport whose own timeouts are not to be trusted.
@Suite("The attempt's clock over URLSession")
struct AttemptTimeoutTests {
    @Test("O36: requests that wait for their turn do not use up their timeout", arguments: [1, 20])
    func clockStartsWithTheSlot(limit: Int) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        // One after the other they take longer than one attempt may.
        server.on(.get, "/slow", .status(204).delayed(by: .milliseconds(250)))
        let transport = URLSessionTransport()
        let client = Client(baseURL: server.baseURL, transport: transport, retry: .none) {
            $0.timeout = .seconds(limit == 1 ? 3 : 60)
            $0.maxConcurrency = limit
        }
        let report = try await client.run(
            Batch((0..<20).map { _ in Call("/slow", as: EmptyResponse.self) }, maxConcurrency: 20))
        #expect(report.allSucceeded)
        transport.shutdown()
    }
}
