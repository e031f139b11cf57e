import Baton
import BatonTesting
import Foundation
import Testing

@Suite("What a stub fits") struct MatchingTests {
    let mock = MockTransport()
    var client: Client { Client(mock) }

    @Test("S59 A stub for a path answers that path, method and no query, and everything else fails at once")
    func exactMatch() async throws {
        mock.on(.get, "/user").reply(status: 200, json: #"{"total": 1}"#)
        #expect(try await client.run(Call("/user", as: Order.self)).total == 1)

        for call in [
            Call("/user/1", as: Order.self), Call("/user", method: .post, as: Order.self),
            Call("/user?x=1", as: Order.self),
        ] {
            let error = try #require(await client.error(of: call))
            #expect(error.code == .unmatchedRequest)
            #expect(error.message.contains("\(call.method) \(call.path.prefix { $0 != "?" })"))
            #expect(error.message.contains("GET /user (MatchingTests.swift:"))
        }
        #expect(mock.calls.map(\.isUnmatched) == [false, true, true, true])
        #expect(mock.problems.count == 3)
    }

    @Test("S59 Once-replies come in their order, and then the default")
    func sequence() async throws {
        mock.on(.get, "/a").reply(status: 200, json: #"{"total": 1}"#)
            .then.reply(status: 200, json: #"{"total": 2}"#)
            .then.reply(status: 200, json: #"{"total": 3}"#)
        var totals: [Int] = []
        for _ in 0..<4 { totals.append(try await client.run(Call("/a", as: Order.self)).total) }
        #expect(totals == [1, 2, 3, 3])
    }

    @Test("S59 A stub for some requests stands in front of one for all, until it is used up")
    func precedence() async throws {
        mock.on(.get, "/a").reply(status: 200, json: #"{"total": 0}"#)
        mock.on(.get, "/a").reply(status: 200, json: #"{"total": 1}"#, times: 2)
        var totals: [Int] = []
        for _ in 0..<3 { totals.append(try await client.run(Call("/a", as: Order.self)).total) }
        #expect(totals == [1, 1, 0])
    }

    @Test("A failure and then a reply: the retry gets the reply")
    func failThenReply() async throws {
        mock.on(.get, "/orders/7").fail(.connectionLost).then.reply(status: 200, json: #"{"total": 3}"#)
        let client = Client(mock, attempts: 2)
        #expect(try await client.run(GetOrder(id: 7)) == Order(total: 3))
        #expect(mock.calls.count == 2)
    }

    @Test("A request is known by its type, and the value goes through the real decoding")
    func byType() async throws {
        mock.on(SignIn.self).reply(SignIn.Output(token: "t"))
        #expect(try await client.run(SignIn()) == SignIn.Output(token: "t"))
        #expect(mock.calls(of: SignIn.self).count == 1)
        #expect(try mock.calls[0].json(as: [String: String].self) == ["user": "ada"])
    }

    @Test(
        "Patterns",
        arguments: [
            ("/orders/*", "/orders/7", true), ("/orders/*", "/orders", false), ("/orders/*", "/orders/7/items", false),
            ("/orders/*/items", "/orders/7/items", true), ("/files/*.json", "/files/a.json", true),
            ("/files/*.json", "/files/a.xml", false), ("/a/**", "/a/b/c", true), ("/a/**/z", "/a/z", true),
            ("/a b", "/a%20b", true), ("/a/*", "/a/", false),
        ])
    func patterns(_ pattern: String, _ path: String, _ fits: Bool) async throws {
        mock.on(pattern: pattern).reply(status: 204)
        let error = await client.error(of: Call(path, as: EmptyResponse.self))
        #expect((error == nil) == fits)
    }

    @Test("A stub's path is what follows the base URL, or the whole path, or an absolute URL")
    func basePaths() async throws {
        let client = Client(mock, base: "https://api.example.com/v1")
        for path in ["/a", "/v1/a", "https://api.example.com/v1/a"] {
            mock.reset()
            mock.on(.get, path).reply(status: 204)
            _ = try await client.run(Call("/a", as: EmptyResponse.self))
        }
        mock.reset()
        mock.on(.get, "https://other.example.com/v1/a").reply(status: 204)
        #expect(await client.error(of: Call("/a", as: EmptyResponse.self))?.code == .unmatchedRequest)
    }

    @Test("Queries fit in any order, by value, whole")
    func queries() async throws {
        mock.on(.get, "/a").query(["x": "1 2", "y": 2]).reply(status: 204)
        mock.on(.get, "/b?y=2&x=1").reply(status: 204)
        mock.on(.get, "/c").anyQuery().reply(status: 204)
        for path in ["/a?y=2&x=1%202", "/b?x=1&y=2", "/c", "/c?z=1"] {
            _ = try await client.run(Call(path, as: EmptyResponse.self))
        }
        for path in ["/a", "/a?x=1%202", "/b?x=1&y=3", "/b?x=1&y=2&z=3"] {
            #expect(await client.error(of: Call(path, as: EmptyResponse.self))?.code == .unmatchedRequest)
        }
    }

    @Test("Bodies, fields and conditions fit or do not")
    func bodiesAndFields() async throws {
        mock.on(.post, "/json").body(json: #"{"b": 2, "a": [1]}"#).reply(status: 204)
        mock.on(.post, "/data").body(Data("abc".utf8)).reply(status: 204)
        mock.on { $0.fields.contains(.authorization) }.reply(status: 204)
        func send(_ path: String, _ body: String, _ fields: HTTPFields = [:]) async -> BatonError? {
            await client.error(
                of: Call(path, method: .post, as: EmptyResponse.self) {
                    $0.body = .text(body)
                    $0.fields = fields
                })
        }
        #expect(await send("/json", #"{"a":[1],"b":2}"#) == nil)
        #expect(await send("/json", #"{"a":[2],"b":2}"#)?.code == .unmatchedRequest)
        #expect(await send("/data", "abc") == nil)
        #expect(await send("/data", "abd")?.code == .unmatchedRequest)
        #expect(await send("/any", "", ["authorization": "x"]) == nil)
    }

    @Test("The complaint names the nearest stubs and why they do not fit, and holds no value of the query")
    func nearest() async throws {
        mock.on(.get, "/users").reply(status: 204)
        mock.on(.get, "/orders?key=S3CRET").reply(status: 204)
        mock.on(.get, "/orders").reply(status: 204, times: 1)
        _ = try await client.run(Call("/orders", as: EmptyResponse.self))
        let error = try #require(await client.error(of: Call("/orders?token=S3CRET", as: EmptyResponse.self)))
        #expect(error.message.contains("it wants no query"))
        #expect(error.message.contains("another path"))
        #expect(!error.description.contains("S3CRET"))
        let exhausted = try #require(await client.error(of: Call("/orders", as: EmptyResponse.self)))
        #expect(exhausted.message.contains("used up after 1"))
    }
}
