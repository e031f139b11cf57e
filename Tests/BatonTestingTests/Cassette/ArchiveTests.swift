import Baton
import BatonTesting
import Foundation
import Testing

@Suite("The archive format") struct ArchiveTests {
    let folder = Folder()

    @Test("An archive that Chrome saved replays")
    func chrome() async throws {
        try folder.write(BrowserArchives.chrome)
        let client = Client(try Cassette(file: folder.tape, mode: .none), base: "https://shop.example.com")
        let response = try await client.run(Call("/api/orders?sort=name&page=2", as: HTTPResponse.self))
        #expect(response.body == Data(#"{"total": 3}"#.utf8))
        #expect(response.fields.values(for: .setCookie) == ["a=1", "b=2"])
        #expect(!response.fields.contains(.contentEncoding) && !response.fields.contains(.contentLength))
        #expect(try await client.run(Call("/dot.gif", as: Data.self)) == Data("GIF89a".utf8))
        let down = Client(try Cassette(file: folder.tape, mode: .none), base: "https://down.example.com")
        #expect(await down.error(of: Call("/", as: Data.self))?.code == .connectionLost)
    }

    @Test("An archive that Firefox saved replays, and loses its secrets when it is written again")
    func firefox() async throws {
        try folder.write(BrowserArchives.firefox)
        let mock = MockTransport()
        mock.on(.get, "/new").reply(status: 204)
        let cassette = try Cassette(file: folder.tape, mode: .newEpisodes, around: mock)
        let client = Client(cassette, base: "https://shop.example.com")
        // The sign-in redirects to the page that was recorded next.
        let home = try await client.run(
            Call("/sign-in", method: .post, as: String.self) {
                $0.body = .form(["user": "ada b", "password": "another"])
            })
        #expect(home == "<p>hi</p>")
        _ = try await client.run(Call("/new", as: EmptyResponse.self))
        #expect(!folder.text.contains("S3CRET"))
        #expect(try Cassette(file: folder.tape, mode: .none).unplayed.map(\.target) == ["/sign-in", "/home", "/new"])
    }

    @Test(
        "A corrupt archive is an error that says where",
        arguments: [
            ("", "broken at line 1, column 1"),
            ("{\"log\": {\n  \"entries\": [\n    {]\n", "broken at line 3, column 6"),
            ("{\"log\": {\"entries\": [{\"req", "broken at line 1, column 27"),
            ("[1, 2] x", "broken at line 1, column 8"),
            ("{\"log\": {}}", "log.entries is missing"),
            ("{\"log\": {\"entries\": {}}}", "log.entries has the wrong type"),
            (
                #"{"log": {"entries": [{"request": {"method": "GET", "url": "https://h/"}, "response": {}}]}}"#,
                "log.entries[0].response.status is missing"
            ),
            (
                #"{"log": {"entries": [{"request": {"method": 7, "url": "https://h/"}}]}}"#,
                "log.entries[0].request.method has the wrong type"
            ),
        ])
    func corrupt(_ text: String, _ place: String) throws {
        try folder.write(text)
        let error = #expect(throws: BatonError.self) { try Cassette(file: folder.tape) }
        #expect(error?.code == .invalidConfiguration)
        #expect(error?.message.hasPrefix("tape.har is no HAR file: ") == true)
        #expect(error?.message.hasSuffix(place) == true, "\(error?.message ?? "")")
    }

    @Test("What is written has every field that HAR 1.2 requires, with times that it allows")
    func validity() async throws {
        let mock = MockTransport()
        mock.on(.post, "/a?x=1").reply(status: 200, fields: ["Location": "/b"], body: Data([0xFF]))
        let client = Client(try Cassette(file: folder.tape, around: mock))
        _ = try await client.run(Call("/a?x=1", method: .post, as: Data.self) { $0.body = .data(Data([0xFE])) })

        let root = try JSONSerialization.jsonObject(with: Data(contentsOf: folder.tape)) as? [String: Any]
        let log = try #require(root?["log"] as? [String: Any])
        #expect(log["version"] as? String == "1.2")
        let creator = try #require(log["creator"] as? [String: Any])
        #expect(creator["name"] is String && creator["version"] is String)
        let entry = try #require((log["entries"] as? [[String: Any]])?.first)
        #expect(entry["cache"] is [String: Any])
        let started = try #require(entry["startedDateTime"] as? String)
        #expect(started.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil)

        let request = try #require(entry["request"] as? [String: Any])
        for name in ["method", "url", "httpVersion"] { #expect(request[name] is String) }
        for name in ["cookies", "headers", "queryString"] { #expect(request[name] is [[String: Any]]) }
        #expect(request["headersSize"] as? Int == -1 && request["bodySize"] as? Int == 1)
        #expect((request["queryString"] as? [[String: String]]) == [["name": "x", "value": "1"]])
        let post = try #require(request["postData"] as? [String: Any])
        #expect(post["mimeType"] as? String == "application/octet-stream" && post["_encoding"] as? String == "base64")

        let response = try #require(entry["response"] as? [String: Any])
        for name in ["statusText", "httpVersion", "redirectURL"] { #expect(response[name] is String) }
        for name in ["cookies", "headers"] { #expect(response[name] is [[String: Any]]) }
        #expect(response["status"] as? Int == 200 && response["bodySize"] as? Int == 1)
        #expect(response["redirectURL"] as? String == "/b")
        let content = try #require(response["content"] as? [String: Any])
        #expect(content["size"] as? Int == 1 && content["mimeType"] is String)
        #expect(content["encoding"] as? String == "base64" && content["text"] as? String == "/w==")

        let timings = try #require(entry["timings"] as? [String: Double])
        for name in ["send", "wait", "receive"] { #expect((timings[name] ?? -1) >= 0) }
        for name in ["blocked", "dns", "connect", "ssl"] { #expect(timings[name] == -1) }
        let sum = timings.filter { $0.key != "ssl" && $0.value > 0 }.values.reduce(0, +)
        #expect(abs((entry["time"] as? Double ?? -1) - sum) < 0.001)
    }
}
