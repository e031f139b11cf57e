internal import Baton
internal import Foundation

/// How bodies are framed and coded.
extension ContractCheck {
    static let wireBodies = [
        ContractCheck(onTheWire: "POST, PUT and PATCH without a body say that it is empty, and of no type") {
            bench, server in
            for method: HTTPMethod in [.post, .put, .patch] {
                _ = try await bench.exchange(method, "/e")
                let fields = server.requests.last?.fields ?? [:]
                let lengths = fields.values(for: .contentLength)
                bench.expect(lengths == ["0"], "an empty \(method) has Content-Length \(lengths)")
                bench.expect(!fields.contains(.transferEncoding), "an empty \(method) has a Transfer-Encoding")
                bench.expect(!fields.contains(.contentType), "an empty \(method) has a Content-Type")
            }
        },
        ContractCheck(onTheWire: "A body in memory is framed once, by its length, and keeps its type") {
            bench, server in
            for method: HTTPMethod in [.post, .put, .patch, .delete] {
                let wrong: HTTPFields = [
                    "Content-Length": "7", "Transfer-Encoding": "chunked", "Content-Type": "text/x-own",
                ]
                _ = try await bench.exchange(method, "/e", fields: wrong, body: .text("hello"))
                let request = server.requests.last
                bench.expect(request?.body == Data("hello".utf8), "the body of \(method) did not arrive")
                let lengths = request?.fields.values(for: .contentLength) ?? []
                bench.expect(lengths == ["5"], "five bytes with \(method) have Content-Length \(lengths)")
                bench.expect(
                    request?.fields.contains(.transferEncoding) == false, "a body in memory has a Transfer-Encoding")
                let type = request?.fields[.contentType] ?? "none"
                bench.expect(type == "text/x-own", "the Content-Type text/x-own became \(type)")
            }
        },
        ContractCheck(onTheWire: "No form is made of a body without a type") { bench, server in
            _ = try await bench.exchange(.post, "/e", body: .data(Data([1]), contentType: nil))
            let type = server.requests.last?.fields[.contentType]
            bench.expect(type != "application/x-www-form-urlencoded", "a body without a type was sent as a form")
        },
        ContractCheck(onTheWire: "A stream is framed once: by its length where that is known") { bench, server in
            for length: Int64? in [5, nil] {
                let stream = HTTPBodyStream(length: length, isReplayable: false) { PatternReader(5) }
                _ = try await bench.exchange(.put, "/s", body: .stream(stream))
                let fields = server.requests.last?.fields ?? [:]
                let framing = (fields.values(for: .contentLength), fields.values(for: .transferEncoding))
                bench.expect(
                    framing.0.count + framing.1.count == 1,
                    "a stream is framed by lengths \(framing.0) and codings \(framing.1)")
                if length != nil { bench.expect(framing.0 == ["5"], "a stream of 5 bytes has lengths \(framing.0)") }
            }
        },
        ContractCheck(onTheWire: "Chunked, unframed and empty responses are complete") { bench, server in
            server.on(.get, "/c", .chunks(["a", "bc", "", "def"]))
            server.on(.get, "/u", .text("until the end").untilClose())
            server.on(.get, "/e", .status(200).chunked())
            for (path, text) in [("/c", "abcdef"), ("/u", "until the end"), ("/e", "")] {
                let record = try await bench.exchange(.get, path)
                bench.expectWhole(record, path)
                bench.expect(record.text == text, "“\(text)” came as “\(record.text)”")
            }
        },
        ContractCheck(onTheWire: "A compressed body arrives decoded, and broken compression is a failure") {
            bench, server in
            let zipped = Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA==") ?? Data()
            server.on(.get, "/z", .data(zipped, fields: [.contentEncoding: "gzip"]))
            let record = try await bench.exchange(.get, "/z")
            bench.expectWhole(record, "a compressed response")
            bench.expect(record.text == "hello", "“hello” came as \(Array(record.body.prefix(40)))")
            server.on(.get, "/y", .text("not gzip at all", fields: [.contentEncoding: "gzip"]))
            bench.expectFailure(try await bench.exchange(.get, "/y"), .invalidResponse, of: "what is no gzip")
        },
    ]
}
