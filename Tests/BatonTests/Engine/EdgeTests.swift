import Baton
import Foundation
import Testing

@Suite("At the edges")
struct EdgeTests {
    private struct Unencodable: Encodable, Sendable {
        func encode(to encoder: any Encoder) throws {
            throw EncodingError.invalidValue(1, .init(codingPath: [], debugDescription: "no"))
        }
    }

    /// Runs a request that must be refused, and checks that nothing was sent and no slot was lost.
    private func refusal<R: Request>(_ request: R, baseURL: String? = "http://h") async throws -> BatonError {
        let transport = HeldTransport()
        let client = Client(baseURL: baseURL, transport: transport) { $0.maxConcurrency = 1 }
        let error = try await failure { try await client.run(request) }
        #expect(transport.sent.isEmpty)
        #expect(client.engine.queue.counts == (0, 0))
        #expect(client.engine.activeRuns.isEmpty)
        return error
    }

    @Test(
        "H12: a field that would break out of its line is refused before sending, by name",
        arguments: [
            ("X-A", "v\r\nX-Evil: 1"), ("X-A", "v\rX"), ("X-A", "v\nX"), ("X-A", "v\0"), ("X-A", "\r\n"), ("X Y", "v"),
            ("X-A:", "v"), ("X\r\nY", "v"), ("", "v"), ("Ä", "v"),
        ])
    func fields(name: String, value: String) async throws {
        let fields = HTTPFields([.init(name: HTTPFieldName(name), value: value)])
        let error = try await refusal(Send(fields: fields))
        #expect(error.code == .invalidRequest)
        #expect(error.phase == .encode)
        #expect(error.message.contains(name.isEmpty ? "empty name" : name))
        #expect(!error.description.contains("Evil"))
        #expect(error.description.split(whereSeparator: \.isNewline).count == 1)
    }

    @Test("H12: a client's own fields are looked at too")
    func clientFields() async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport) { $0.fields = ["X-A": "a\nb"] }
        let error = try await failure { try await client.run(GetItem(n: 1)) }
        #expect(error.message.contains("X-A"))
        #expect(transport.sent.isEmpty)
    }

    @Test("A method that is no token is refused", arguments: ["", "GE T", "GET\r\nX: 1", "G/T"])
    func methods(method: String) async throws {
        let error = try await refusal(Send(method: HTTPMethod(rawValue: method)))
        #expect(error.code == .invalidRequest)
        #expect(error.message.contains("method"))
    }

    @Test("A body that may not go with its method is refused", arguments: [.get, .head, .trace] as [HTTPMethod])
    func bodyOfGet(method: HTTPMethod) async throws {
        let error = try await refusal(Send(method: method, body: .json(["a": 1])))
        #expect(error.code == .invalidRequest)
        #expect(error.message.contains("body"))
    }

    @Test(
        "A body that cannot be encoded fails before sending, alone and in a batch", arguments: [true, false])
    func encoding(isAlone: Bool) async throws {
        if isAlone {
            let error = try await refusal(Send(body: .json(Unencodable())))
            #expect(error.code == .encodingFailed)
            #expect(error.phase == .encode)
            #expect(error.underlying is EncodingError)
            #expect(error.request == "POST http://h/things")
            return
        }
        let transport = InlineTransport()
        let client = Client(baseURL: "http://h", transport: transport) { $0.maxConcurrency = 1 }
        let requests = (0..<6).map { n in
            Send(path: "/things/\(n)", body: n % 2 == 0 ? .json(Unencodable()) : .json(n))
        }
        let report = try await client.run(Batch(requests, maxConcurrency: 2))
        #expect(report.failures.map(\.index) == [0, 2, 4])
        #expect(report.failures.allSatisfy { $0.error.code == .encodingFailed && $0.attempts == 0 })
        #expect(report[2].error?.path == "batch[2]")
        #expect(client.engine.queue.counts == (0, 0))
    }

    @Test("A relative path without a base URL is refused, naming both")
    func noBase() async throws {
        let error = try await refusal(GetItem(n: 1), baseURL: nil)
        #expect(error.code == .invalidRequest)
        #expect(error.message.contains("base URL"))
    }

    @Test(
        "A URL that is neither http nor https is refused, as a base and as a path",
        arguments: ["ftp://h/x", "file:///etc/passwd", "ws://h", "http://", "https:///x", "http://u:p@h/"])
    func schemes(url: String) async throws {
        let asPath = try await refusal(Send(path: url), baseURL: nil)
        #expect(asPath.code == .invalidRequest)
        let asBase = try await refusal(GetItem(n: 1), baseURL: url)
        #expect([.invalidRequest, .invalidConfiguration].contains(asBase.code))
        #expect(!asPath.description.contains("u:p"))
        #expect(!asBase.description.contains("u:p"))
    }

    @Test("A path without a base URL may be a whole URL")
    func wholeURL() async throws {
        let client = Client(transport: InlineTransport { .status(200, $0.urlString) })
        #expect(
            try await client.run(Call("https://other.example/a?b=1", as: String.self)) == "https://other.example/a?b=1")
    }

    @Test("What is wrong with a configuration is told by each run, and by a completion", arguments: [true, false])
    func configuration(isAsync: Bool) async throws {
        let client = Client(baseURL: "http://h", transport: HeldTransport()) { $0.timeout = .zero }
        if isAsync {
            #expect(try await failure { try await client.run(GetItem(n: 1)) }.code == .invalidConfiguration)
        } else {
            let counted = client.counting(GetItem(n: 1).then { GetItem(n: $0.n) })
            #expect(await counted.ended.opens())
            #expect(try await failure { try counted.completions.all[0].get() }.code == .invalidConfiguration)
        }
    }
}
