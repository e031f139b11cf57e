import Baton
import BatonTesting
import Foundation
import Testing

@Suite("What an error says")
struct ErrorTests {
    private struct Problem: Codable, Equatable { let code: Int }

    @Test("Invariant 11: a failure keeps the response, the attempts, the place and what was done before")
    func everything() async throws {
        let transport = ScriptedTransport { request, _ in
            request.number == 17
                ? .reply(HTTPResponse(status: 422, fields: ["X-Id": "9"], body: Data("{\"code\":12}".utf8)))
                : .reply(.item(for: request))
        }
        try await withVirtualTime(transport: transport) { client, _ in
            let report = try await client.run(
                GetItem(n: 1).then { GetItem(n: $0.n + 1) }.then { _ in Batch((0..<20).map(GetItem.init)) })
            let error = try #require(report[17].error)
            #expect(error.path == "chain[2].batch[17]")
            #expect(error.code == .unacceptableStatus)
            #expect(error.phase == .validate)
            #expect(error.attempts == 1)
            #expect(error.response?.status == 422)
            #expect(error.response?.fields["x-id"] == "9")
            #expect(error.decode(Problem.self) == Problem(code: 12))
            #expect(error.request == "GET http://mock/items/17")
        }
    }

    @Test("The place is told through every level, and the prefix is that of the chain that failed")
    func levels() async throws {
        let client = Client(
            baseURL: "http://h", transport: InlineTransport { $0.number == 5 ? .status(500) : .item(for: $0) },
            retry: .none)
        let plan = GetItem(n: 1).then { item in
            Batch([
                Batch([GetItem(n: 3).chain, GetItem(n: 4).then { GetItem(n: $0.n + 1) }])
            ])
        }
        let report = try await client.run(plan)
        let inner = try #require(report[0].value)
        let error = try #require(inner[1].error)
        #expect(error.path == "chain[1].batch[0].batch[1].chain[1]")
        #expect(error.completed.compactMap { ($0 as? Item)?.n } == [4])
    }

    @Test("A failure of the network keeps the attempts and says when it happened")
    func network() async throws {
        let transport = ScriptedTransport { _, _ in .fail(.cannotConnect) }
        try await withVirtualTime(transport: transport) { client, _ in
            let error = try await failure { try await client.run(Chain.value(1).then { _ in GetItem(n: 1) }) }
            #expect(error.code == .cannotConnect)
            #expect(error.attempts == 3)
            #expect(error.phase == .send)
            #expect(error.path == "chain[1]")
            #expect(error.description.contains("after 3 attempts"))
        }
    }

    @Test("A body that does not fit keeps the response and says where it does not fit")
    func decoding() async throws {
        let client = Client(
            baseURL: "http://h", transport: InlineTransport { _ in .status(200, "{\"n\": \"secret\"}") })
        let error = try await failure { try await client.run(Batch([GetItem(n: 1)]).map { try $0[0].get() }) }
        #expect(error.code == .decodingFailed)
        #expect(error.phase == .decode)
        #expect(error.response?.status == 200)
        #expect(error.message.contains(".n"))
        #expect(!error.description.contains("secret"))
        #expect(!String(reflecting: error).contains("secret"))
    }

    @Test("An empty body where there must be one has a code of its own", arguments: [200, 204, 205])
    func emptyBody(status: Int) async throws {
        let client = Client(baseURL: "http://h", transport: InlineTransport { _ in .status(status) })
        let error = try await failure { try await client.run(GetItem(n: 1)) }
        #expect(error.code == .emptyBody)
        #expect(error.response?.status == status)
    }

    @Test("Neither the short nor the full text of an error holds a secret, and the short one is one line")
    func secrets() async throws {
        let client = Client(
            baseURL: "http://h",
            transport: InlineTransport { _ in
                HTTPResponse(
                    status: 500, fields: ["Set-Cookie": "sid=hush", "WWW-Authenticate": "hush"],
                    body: Data("hush\nhush".utf8))
            }, retry: .none)
        let request = Call("/login?token=hush", method: .post, as: EmptyResponse.self) {
            $0.query = ["password": "hush"]
            $0.fields = ["Authorization": "Bearer hush", "Cookie": "hush"]
            $0.body = .json(["password": "hush"])
        }
        let error = try await failure { try await client.run(request.then { _ in request }) }
        for text in [error.description, String(reflecting: error), "\(error)", error.message] {
            #expect(!text.contains("hush"), "\(text)")
        }
        #expect(error.description.split(whereSeparator: \.isNewline).count == 1)
        #expect(error.request == "POST http://h/login")
        // The caller gets at it, by asking.
        #expect(error.response?.fields["Set-Cookie"] == "sid=hush")
    }
}
