import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Decoding") struct DecodingTests {
    private struct Answer: Codable, Response, Equatable {
        let n: Int
    }

    @Test(
        "D13 An empty body is right for some outputs, and an error of its own for the others",
        arguments: Carrier.allCases)
    func emptyBodies(_ carrier: Carrier) async throws {
        let hosts = try HostPair(carrier) { asked in
            switch asked.target {
            case "/head": HTTPResponse(status: 200, fields: [.contentLength: "10", "X-A": "1"])
            case "/204": HTTPResponse(status: 204, fields: ["X-A": "1"])
            case "/205": HTTPResponse(status: 205, fields: [.contentLength: "0", "X-A": "1"])
            default: HTTPResponse(status: 200, fields: [.contentLength: "0", "X-A": "1"])
            }
        }
        let ways: [(HTTPMethod, String, Int)] = [
            (.head, "/head", 200), (.delete, "/204", 204), (.post, "/205", 205), (.post, "/200", 200),
        ]
        for (method, path, status) in ways {
            func call<Output: Response>(_ type: Output.Type) -> Call<Output> { Call(path, method: method) }
            _ = try await hosts.client.run(call(EmptyResponse.self))
            #expect(try await hosts.client.run(call(Data.self)).isEmpty)
            #expect(try await hosts.client.run(call(String.self)).isEmpty)
            #expect(try await hosts.client.run(call(Answer?.self)) == nil)
            for error in [
                try await failure { try await hosts.client.run(call(Answer.self)) },
                try await failure { try await hosts.client.run(call(JSONValue.self)) },
            ] {
                #expect(error.code == .emptyBody && error.phase == .decode)
                #expect(error.response?.status == status && error.response?.fields["x-a"] == "1")
            }
        }
    }

    @Test(
        "D14 A PUT without a body says so, and a stream has one framing whatever the request says",
        arguments: [Carrier.curl, .urlSession])
    func framing(_ carrier: Carrier) async throws {
        let hosts = try HostPair(carrier) { _ in .status(204) }
        _ = try await hosts.client.run(Send(method: .put))
        #expect(hosts.asked[0].fields.values(for: .contentLength) == ["0"])
        #expect(!hosts.asked[0].fields.contains(.transferEncoding))
        let stream = HTTPBody.stream(.data(Data("hello".utf8)))
        _ = try await hosts.client.run(Send(method: .post, fields: [.contentLength: "5"], body: stream))
        let fields = hosts.asked[1].fields
        #expect(hosts.asked[1].text == "hello")
        #expect(fields.values(for: .contentLength).count + fields.values(for: .transferEncoding).count == 1)
    }

    @Test("D14 A GET with a body is refused before anything is sent", arguments: Carrier.allCases)
    func bodyOfGet(_ carrier: Carrier) async throws {
        let hosts = try HostPair(carrier) { _ in .status(204) }
        for body: HTTPBody in [.json([String: Int]()), .json(["a": 1])] {
            let error = try await failure { try await hosts.client.run(Send(method: .get, body: body)) }
            #expect(error.code == .invalidRequest && error.phase == .encode)
        }
        #expect(hosts.asked.isEmpty)
    }

    @Test("J19 An HTTP error keeps status, fields and body, whatever the body is", arguments: Carrier.allCases)
    func errorBodies(_ carrier: Carrier) async throws {
        struct APIError: Codable, Equatable {
            let code: Int
            let message: String
        }
        let hosts = try HostPair(
            carrier,
            HostPair.table([
                "a/422": .json(#"{"code":12,"message":"bad"}"#, status: 422),
                "a/502": HTTPResponse(
                    status: 502, fields: [.contentType: "text/html"], body: Data("<html>oops</html>".utf8)),
                "a/500": .status(500),
            ]))
        let refused = try await failure { try await hosts.client.run(Call("/422", as: Answer.self)) }
        #expect(refused.code == .unacceptableStatus && refused.response?.status == 422)
        #expect(refused.decode(APIError.self) == APIError(code: 12, message: "bad"))
        let page = try await failure { try await hosts.client.run(Call("/502", as: Answer.self)) }
        #expect(page.code == .unacceptableStatus && page.decode(APIError.self) == nil)
        #expect(page.response?.fields[.contentType] == "text/html")
        #expect(page.response?.body == Data("<html>oops</html>".utf8))
        let empty = try await failure { try await hosts.client.run(Call("/500", as: Answer.self)) }
        #expect(empty.code == .unacceptableStatus && empty.response?.body.isEmpty == true)
        #expect(empty.decode(APIError.self) == nil)
    }

    @Test("Text is read as its mark or charset says; bytes that are no text of it are an error")
    func text() async throws {
        let mock = MockTransport()
        func reply(_ path: String, _ type: String?, _ bytes: [UInt8]) {
            mock.on(.get, path).reply(
                status: 200, fields: type.map { [.contentType: $0] } ?? [:], body: Data(bytes))
        }
        reply("/latin", "text/plain; charset=ISO-8859-1", [0x67, 0xFC, 0x6E])
        reply("/mark", "text/plain", [0xFF, 0xFE, 0x67, 0, 0xFC, 0])
        reply("/utf8", nil, Array("gün".utf8))
        reply("/none", "text/plain", [0x67, 0xFC, 0x6E])
        try await withVirtualTime(transport: mock) { client, _ in
            #expect(try await client.run(Call("/latin", as: String.self)) == "gün")
            #expect(try await client.run(Call("/mark", as: String.self)) == "gü")
            #expect(try await client.run(Call("/utf8", as: String.self)) == "gün")
            let error = try await failure { try await client.run(Call("/none", as: String.self)) }
            #expect(error.code == .decodingFailed && error.response?.body.count == 3)
        }
    }

    @Test("A JSON tree tells whole numbers from others, and a broken one is an error that keeps the body")
    func trees() async throws {
        let mock = MockTransport()
        mock.on(.get, "/tree").reply(json: #"{"a": [1, 1.0, null]}"#)
        mock.on(.get, "/broken").reply(json: #"{"a": "#)
        try await withVirtualTime(transport: mock) { client, _ in
            let tree = try await client.run(Call("/tree", as: JSONValue.self))
            #expect(tree == ["a": [1, 1.0, nil]])
            let error = try await failure { try await client.run(Call("/broken", as: JSONValue.self)) }
            #expect(error.code == .decodingFailed && error.response?.body.isEmpty == false)
        }
    }

    @Test("Another decoder serves a client, and another one a request of it")
    func decoders() async throws {
        let mock = MockTransport()
        let encoder = PropertyListEncoder()
        mock.on(.get, "/plist").reply(status: 200, body: try encoder.encode(Answer(n: 7)))
        mock.on(.get, "/json").reply(json: #"{"n": 8}"#)
        try await withVirtualTime(transport: mock, configure: { $0.coding = .propertyList }) { client, _ in
            #expect(try await client.run(Call("/plist", as: Answer.self)) == Answer(n: 7))
            let call = Call("/json", as: Answer.self) { $0.options.coding = BodyCoding() }
            #expect(try await client.run(call) == Answer(n: 8))
            let report = try await client.run(Batch([call, Call("/plist")]))
            #expect(report.values == [Answer(n: 8), Answer(n: 7)])
            #expect(try await failure { try await client.run(Call("/json", as: Answer.self)) }.code == .decodingFailed)
        }
    }

    @Test(
        "A property list that is no text of its encoding is refused, in numbers too, where Foundation stops the process"
    )
    func brokenPropertyList() async throws {
        let text = #"<plist version="1.0"><dict><key>n</key><integer>7</integer></dict></plist>"#
        let (start, end) = (text.prefix { $0 != "7" }, text.drop { $0 != "7" })
        let broken = Data(start.utf8) + Data(repeating: 0xFF, count: 9) + Data(end.utf8)
        let mock = MockTransport()
        mock.on(.get, "/utf8").reply(status: 200, body: Data(text.utf8))
        mock.on(.get, "/utf16").reply(status: 200, body: try #require(text.data(using: .utf16)))
        mock.on(.get, "/broken").reply(status: 200, body: broken)
        try await withVirtualTime(transport: mock, configure: { $0.coding = .propertyList }) { client, _ in
            #expect(try await client.run(Call("/utf8", as: Answer.self)) == Answer(n: 7))
            #expect(try await client.run(Call("/utf16", as: Answer.self)) == Answer(n: 7))
            let error = try await failure { try await client.run(Call("/broken", as: Answer.self)) }
            #expect(error.code == .decodingFailed && error.response?.body == broken)
        }
    }
}
