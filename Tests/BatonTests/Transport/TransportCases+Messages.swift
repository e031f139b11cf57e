import BatonTesting
import Foundation
import Testing

@testable import Baton

extension TransportCase {
    static let messages = [
        TransportCase("Every method arrives as it is written") { transport in
            let server = try LoopbackServer()
            server.onAnyMethod("/m", .echo)
            for method: HTTPMethod in [.get, .post, .put, .patch, .delete, .options, "PURGE", "report"] {
                let record = try await transport.exchange(method, server.baseURL + "/m")
                #expect(record.isComplete && record.head?.status == 200)
                let echo = try JSONDecoder().decode(LoopbackServer.Echo.self, from: record.body)
                #expect(echo.method == method.rawValue)
                #expect(echo.bodyLength == 0)
            }
        },
        TransportCase("A target arrives byte for byte") { transport in
            let server = try LoopbackServer()
            let target = "/a%20b/%C3%A9/;x=1/?q=%2B+a%26b&q=2&e=&=&%5B%5D=1"
            _ = try await transport.exchange(.get, server.baseURL + target)
            #expect(server.requests.map(\.target) == [target])
        },
        TransportCase("Fields arrive with all of their values, in order") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/f", .status(200))
            let fields: HTTPFields = ["X-One": "1", "x-one": "2", "X-Empty": "", "Cookie": "a=1", "cookie": "b=2"]
            _ = try await transport.exchange(.get, server.baseURL + "/f", fields: fields)
            let received = try #require(server.requests.first).fields
            #expect(received.list(for: "X-One", separator: ",") == ["1", "2"])
            #expect(received.list(for: .cookie, separator: ";") == ["a=1", "b=2"])
            #expect(received.contains("X-Empty"))
        },
        TransportCase("Fields of a response arrive, repeats and cookies included") { transport in
            let server = try LoopbackServer()
            let reply = LoopbackServer.Reply.text("x", fields: ["x-lower": "1", "X-Many": "a", "X-Many": "b"])
            server.on(.get, "/f", reply.settingCookies("a=1; Path=/", "b=2"))
            let record = try await transport.exchange(.get, server.baseURL + "/f")
            let fields = try #require(record.head).fields
            #expect(fields["X-Lower"] == "1")
            #expect(fields.list(for: "x-many", separator: ",") == ["a", "b"])
            #expect(fields.list(for: .setCookie, separator: ",") == ["a=1; Path=/", "b=2"])
            _ = try await transport.exchange(.get, server.baseURL + "/f")
            #expect(server.requests.last?.fields.contains(.cookie) == false)
        },
        TransportCase("No status is an error") { transport in
            let server = try LoopbackServer()
            for status in [200, 201, 204, 206, 300, 304, 400, 403, 404, 407, 429, 500, 503] {
                server.on(.get, "/s", .status(status, body: "b"))
                let record = try await transport.exchange(.get, server.baseURL + "/s")
                #expect(record.isComplete && record.head?.status == status)
                #expect(record.text == (status == 204 || status == 304 ? "" : "b"))
            }
        },
        TransportCase("A response to HEAD has a length and no body") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/h", .text("0123456789"))
            let record = try await transport.exchange(.head, server.baseURL + "/h")
            #expect(record.isComplete && record.body.isEmpty)
            #expect(record.head?.contentLength == 10)
        },
        TransportCase("Interim responses are not told") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/i", .text("x").preceded(byStatus: 103, fields: ["Link": "</a>"]).preceded(byStatus: 102))
            let record = try await transport.exchange(.get, server.baseURL + "/i")
            #expect(record.isComplete && record.head?.status == 200 && record.text == "x")
        },
        TransportCase("Redirects are returned with their body and not followed") { transport in
            let server = try LoopbackServer()
            for status in [301, 302, 303, 307, 308] {
                server.onAnyMethod("/r", .status(status, fields: [.location: "/target"], body: "moved"))
                for method: HTTPMethod in [.get, .post] {
                    let body = method == .post ? HTTPBody.text("x") : .none
                    let record = try await transport.exchange(method, server.baseURL + "/r", body: body)
                    #expect(record.isComplete && record.head?.status == status)
                    #expect(record.head?.fields[.location] == "/target")
                    #expect(record.text == "moved")
                }
            }
            #expect(server.requests.allSatisfy { $0.path == "/r" })
            #expect(server.requests.count == 10)
        },
        TransportCase("A 401 with a Basic challenge is a response, 200 times") { transport in
            let server = try LoopbackServer()
            server.onAnyMethod("/b", .text("in").requiringBasic(user: "ada", password: "secret"))
            for round in 0..<200 {
                let method: HTTPMethod = round % 3 == 0 ? .post : .get
                let record = try await transport.exchange(
                    method, server.baseURL + "/b", fields: round % 2 == 0 ? [.authorization: "Basic eDp5"] : [:],
                    body: method == .post ? .text("body") : .none)
                #expect(record.isComplete && record.head?.status == 401)
                #expect(record.text == "authorization is missing or wrong\n")
            }
            #expect(server.requests.count == 200)
        },
        TransportCase("Connections are kept for the next request") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/k", .text("x"))
            for _ in 0..<20 { #expect(try await transport.exchange(.get, server.baseURL + "/k").isComplete) }
            #expect(server.activity.connections == 1)
        },
        TransportCase("Five hundred requests at once all get their own response") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/n/*") { .text($0.path) }
            let url = server.baseURL
            let texts = try await withThrowingTaskGroup(of: (Int, String).self) { group in
                for index in 0..<500 {
                    group.addTask { (index, try await transport.exchange(.get, "\(url)/n/\(index)").text) }
                }
                return try await group.reduce(into: [Int: String]()) { $0[$1.0] = $1.1 }
            }
            #expect(texts == Dictionary(uniqueKeysWithValues: (0..<500).map { ($0, "/n/\($0)") }))
        },
    ]
}

extension HTTPFields {
    /// The values of a field, whether they are on lines of their own or in one list.
    func list(for name: HTTPFieldName, separator: Character) -> [String] {
        values(for: name).flatMap { $0.split(separator: separator) }.map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
