import Baton
import BatonTesting
import Foundation
import Testing

@Suite("What every request of a client has") struct RequestDefaultsTests {
    private func sent(
        _ request: Call<EmptyResponse>, configure: (inout Client.Configuration) -> Void
    ) async throws -> MockCall {
        let mock = MockTransport()
        mock.on { _ in true }.reply(status: 204)
        return try await withVirtualTime(transport: mock, configure: configure) { [mock] client, _ in
            _ = try await client.run(request)
            return try #require(mock.calls.last)
        }
    }

    @Test("A client says who asks and what is wanted; each of it can be removed or replaced")
    func standard() async throws {
        let call = Call("/x", as: EmptyResponse.self)
        let fields = try await sent(call) { _ in }.fields
        #expect(
            fields[.userAgent]?.hasSuffix("Baton") == true && fields[.accept]?.hasPrefix("application/json") == true)
        #expect(fields.contains(.acceptLanguage) && !fields.contains(.acceptEncoding) && fields.count == 3)
        let removed = try await sent(call) { $0.fields[.userAgent] = nil }.fields
        #expect(!removed.contains(.userAgent) && removed.count == 2)
        #expect(try await sent(call) { $0.fields = [:] }.fields.isEmpty)
        let own = Call("/x", as: EmptyResponse.self) { $0.fields = ["accept": "text/plain"] }
        #expect(try await sent(own) { _ in }.fields.values(for: .accept) == ["text/plain"])
    }

    @Test("H10 A request's field replaces its client's, whatever their case", arguments: Carrier.allCases)
    func fieldNames(_ carrier: Carrier) async throws {
        let hosts = try HostPair(carrier, configure: { $0.fields["authorization"] = "A" }) { _ in
            HTTPResponse(
                status: 200, fields: ["retry-after": "1", "content-type": "application/json", "location": "/y"])
        }
        let call = Call("/x", as: HTTPResponse.self) { $0.fields = ["Authorization": "B"] }
        let fields = try await hosts.client.run(call).fields
        #expect(hosts.asked[0].fields.values(for: .authorization) == ["B"])
        #expect(fields[.retryAfter] == "1" && fields[.contentType] == "application/json" && fields[.location] == "/y")
    }

    @Test("What is advertised is decoded", arguments: [Carrier.curl, .urlSession])
    func encodings(_ carrier: Carrier) async throws {
        let zipped = Data(base64Encoded: "H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA==") ?? Data()
        let server = try LoopbackServer()
        defer { server.stop() }
        server.on(.get, "/x", .data(zipped, contentType: "text/plain", fields: [.contentEncoding: "gzip"]))
        #if os(Linux)
            let curl: any Transport = try CurlTransport()
        #else
            let curl: any Transport = URLSessionTransport()
        #endif
        let transport = carrier == .curl ? curl : URLSessionTransport()
        defer { transport.shutdown() }
        let client = Client(baseURL: server.baseURL, transport: transport)
        #expect(try await client.run(Call("/x", as: String.self)) == "hello")
        #expect(server.requests[0].fields[.acceptEncoding]?.contains("gzip") == true)
    }

    @Test("Common parameters come last, and not where the request has one of that name")
    func query() async throws {
        func target(_ path: String, _ query: QueryParameters = [:]) async throws -> String {
            let call = Call("/x\(path)", as: EmptyResponse.self) { $0.query = query }
            let sent = try await sent(call) {
                $0.baseURL = "http://mock/v1"
                $0.query = ["key": "a b", "page": 1]
            }
            return String(sent.url.dropFirst("http://mock".count))
        }
        #expect(try await target("") == "/v1/x?key=a%20b&page=1")
        #expect(try await target("?q=1", ["page": 2]) == "/v1/x?q=1&page=2&key=a%20b")
        #expect(try await target("?") == "/v1/x?key=a%20b&page=1")
    }

    @Test("Computed defaults are computed for each attempt, and yield to what the request says")
    func computed() async throws {
        let mock = MockTransport()
        mock.on { _ in true }.reply(status: 503, times: 1).reply(status: 204)
        let defaults = Defaults(
            fields: { context in ["X-Number": "\(context.attempt)", "X-Own": "default"] },
            query: { context in ["try": .int(context.attempt), "own": "default"] })
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.interceptors = [defaults]
                $0.retry = RetryPolicy(backoff: .none)
            }
        ) { [mock] client, _ in
            _ = try await client.run(
                Call("/x", as: EmptyResponse.self) {
                    $0.fields = ["x-own": "mine"]
                    $0.query = ["own": "mine"]
                })
            #expect(mock.calls.map { $0.fields["X-Number"] } == ["1", "2"])
            #expect(mock.calls.map(\.query) == ["own=mine&try=1", "own=mine&try=2"])
            #expect(mock.calls.allSatisfy { $0.fields.values(for: "X-Own") == ["mine"] })
        }
    }

    @Test("The attempt's number is told where that is asked for, and no signature covers it")
    func attemptField() async throws {
        let mock = MockTransport()
        mock.on { _ in true }.reply(status: 503, times: 1).reply(status: 204)
        let signed = Record<[String]>()
        let signing = Signing(fields: ["X-Attempt"]) { request in
            signed.add(request.fields)
            return [:]
        }
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.attemptField = "X-Attempt"
                $0.interceptors = [signing]
                $0.retry = RetryPolicy(backoff: .none)
            }
        ) { [mock] client, _ in
            _ = try await client.run(Call("/x", as: EmptyResponse.self))
            #expect(mock.calls.map { $0.fields["X-Attempt"] } == ["1", "2"])
            #expect(signed.all == [[], []])
        }
    }

    @Test("Credentials are written as their RFCs have them")
    func credentials() {
        #expect(HTTPFields.basic(user: "test", password: "123£")[.authorization] == "Basic dGVzdDoxMjPCow==")
        #expect(HTTPFields.bearer("t")[.authorization] == "Bearer t")
    }

    @Test("A default field that may not be sent fails every request before it is sent")
    func invalidDefault() async throws {
        let error = try await failure {
            try await sent(Call("/x")) { $0.fields["X-A"] = "v\r\nX-Evil: 1" }
        }
        #expect(error.code == .invalidRequest && error.message.contains("X-A"))
    }

    #if os(Linux)
        @Test(
            "Networks that are to be avoided are refused where they cannot be told apart",
            arguments: [Carrier.curl, .urlSession])
        func networks(_ carrier: Carrier) async throws {
            let hosts = try HostPair(carrier, configure: { $0.avoidedNetworks = .cellular }) { _ in .status(204) }
            let error = try await failure { try await hosts.client.run(Call("/x", as: Data.self)) }
            #expect(error.code == .unsupported && hosts.asked.isEmpty)
            let call = Call("/x", as: Data.self) { $0.options.avoidedNetworks = [] }
            _ = try await hosts.client.run(call)
            let constrained = Call("/x", as: Data.self).avoidedNetworks(.constrained)
            #expect(try await failure { try await hosts.client.run(constrained) }.code == .unsupported)
        }
    #endif
}
