import Baton
import BatonTesting
import Foundation
import Testing

@Suite("The limit of a response in memory") struct ResponseLimitTests {
    @Test("A response that is or says to be larger is refused; one that fits is not", arguments: Carrier.allCases)
    func limits(_ carrier: Carrier) async throws {
        let hosts = try HostPair(carrier, configure: { $0.maxResponseBytes = 10 }) { asked in
            .status(200, String(repeating: "x", count: Int(asked.target.dropFirst()) ?? 0))
        }
        #expect(try await hosts.client.run(Call("/10", as: Data.self)).count == 10)
        let error = try await failure { try await hosts.client.run(Call("/11", as: Data.self)) }
        #expect(error.code == .responseTooLarge && error.phase == .receive)
        let own = Call("/11", as: Data.self) { $0.options.maxResponseBytes = 11 }
        #expect(try await hosts.client.run(own).count == 11)
        // The request's own word is nearer than the plan's.
        #expect(try await hosts.client.run(own.maxResponseBytes(3)).count == 11)
    }

    @Test(
        "Nothing more is taken than the limit, also where no length is announced",
        arguments: [Carrier.curl, .urlSession])
    func endless(_ carrier: Carrier) async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.on(.get, "/chunks", .chunks(Array(repeating: String(repeating: "x", count: 1_000), count: 400)))
        // No longer than that: while one response comes as fast as it can, Foundation's sessions do nothing else.
        server.on(.get, "/long", .pattern(length: 20_000_000))
        server.on(.head, "/long", .pattern(length: 20_000_000))
        #if os(Linux)
            let curl: any Transport = try CurlTransport()
        #else
            let curl: any Transport = URLSessionTransport()
        #endif
        let transport = carrier == .curl ? curl : URLSessionTransport()
        let client = Client(baseURL: server.baseURL, transport: transport, retry: .none) {
            $0.maxResponseBytes = 50_000
        }
        for path in ["/chunks", "/long"] {
            #expect(try await failure { try await client.run(Call(path, as: Data.self)) }.code == .responseTooLarge)
        }
        _ = try await client.run(Call("/long", method: .head, as: Data.self))
        transport.shutdown()
    }

    @Test("Limits below nothing are refused as configuration")
    func faults() async throws {
        let client = Client(baseURL: "http://h", transport: MockTransport()) { $0.maxResponseBytes = -1 }
        #expect(try await failure { try await client.run(Call("/", as: Data.self)) }.code == .invalidConfiguration)
        let redirects = Call("/", as: Data.self) { $0.options.redirects = Redirects(limit: -1) }
        let other = Client(baseURL: "http://h", transport: MockTransport())
        #expect(try await failure { try await other.run(redirects) }.code == .invalidConfiguration)
    }
}
