internal import Baton
internal import Foundation

/// What HTTP says of messages.
extension ContractCheck {
    static let wireMessages = [
        ContractCheck(onTheWire: "A response to HEAD has a length and no body") { bench, server in
            server.on(.get, "/h", .text("0123456789"))
            let record = try await bench.exchange(.head, "/h")
            bench.expectWhole(record, "HEAD")
            bench.expect(record.body.isEmpty, "HEAD has a body of \(record.body.count) bytes")
            let length = record.head?.contentLength
            bench.expect(length == 10, "the length of the body that HEAD is about is \(length ?? -1), not 10")
        },
        ContractCheck(onTheWire: "204 and 304 have no body, and the connection goes on") { bench, server in
            for status in [204, 304] {
                server.on(.get, "/s", .status(status, fields: status == 304 ? [.contentLength: "10"] : [:]))
                server.on(.get, "/t", .text("next"))
                let record = try await bench.exchange(.get, "/s")
                bench.expectWhole(record, "\(status)")
                bench.expect(record.head?.status == status && record.body.isEmpty, "\(status) was not what came")
                bench.expect(try await bench.exchange(.get, "/t").text == "next", "after \(status) nothing came")
            }
        },
        ContractCheck(onTheWire: "Interim responses are not told") { bench, server in
            server.on(
                .get, "/i", .text("x").preceded(byStatus: 103, fields: ["Link": "</a>"]).preceded(byStatus: 102))
            server.on(.post, "/i", .text("x").preceded(byStatus: 100))
            for method: HTTPMethod in [.get, .post] {
                let record = try await bench.exchange(method, "/i", body: method == .post ? .text("b") : .none)
                bench.expectWhole(record, "\(method)")
                bench.expect(
                    record.head?.status == 200 && record.text == "x",
                    "after interim responses came \(record.head?.status ?? 0) with “\(record.text)”")
            }
        },
        ContractCheck(onTheWire: "A 401 with a Basic challenge is a response, time after time") { bench, server in
            server.onAnyMethod("/b", .text("in").requiringBasic(user: "ada", password: "secret"))
            for round in 0..<60 {
                let method: HTTPMethod = round % 3 == 0 ? .post : .get
                let record = try await bench.exchange(
                    method, "/b", fields: round % 2 == 0 ? [.authorization: "Basic eDp5"] : [:],
                    body: method == .post ? .text("body") : .none)
                bench.expectWhole(record, "a request that is refused")
                bench.expect(record.head?.status == 401, "401 came as \(record.head?.status ?? 0)")
                bench.expect(record.text.hasPrefix("authorization"), "the body of a 401 is missing")
            }
            bench.expect(server.activity.requests == 60, "60 requests arrived \(server.activity.requests) times")
        },
        ContractCheck(onTheWire: "An error names no secret of the request") { bench, server in
            server.on(.get, "/x", .broken(.reset))
            let record = try await bench.exchange(
                .get, "/x?token=s3cret", fields: [.authorization: "Bearer s3cret", .cookie: "id=s3cret"])
            guard let error = record.error else { return bench.report("a reset connection was no failure") }
            let cause = error.underlying.map { "\($0) \(($0 as NSError).userInfo)" } ?? ""
            let text = "\(error) \(String(reflecting: error)) \(cause)"
            bench.expect(!text.contains("s3cret"), "the error's text holds a secret")
        },
    ]
}
