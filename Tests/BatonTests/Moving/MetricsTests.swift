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
    #endif

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
