import BatonTesting
import Foundation
import Testing

@testable import Baton

private let large: Int64 = 20_000_000

extension TransportCase {
    static let bodies = [
        TransportCase("POST, PUT and PATCH without a body say that it is empty, and of no type") { transport in
            let server = try LoopbackServer()
            for method: HTTPMethod in [.post, .put, .patch] {
                _ = try await transport.exchange(method, server.baseURL + "/e")
                let fields = try #require(server.requests.last).fields
                #expect(fields.values(for: .contentLength) == ["0"])
                #expect(!fields.contains(.transferEncoding) && !fields.contains(.contentType))
            }
        },
        TransportCase("A body in memory is framed once, by its length") { transport in
            let server = try LoopbackServer()
            for method: HTTPMethod in [.post, .put, .patch, .delete] {
                let wrong: HTTPFields = ["Content-Length": "7", "Transfer-Encoding": "chunked"]
                _ = try await transport.exchange(method, server.baseURL + "/e", fields: wrong, body: .text("hello"))
                let request = try #require(server.requests.last)
                #expect(request.body == Data("hello".utf8))
                #expect(request.fields.values(for: .contentLength) == ["5"])
                #expect(!request.fields.contains(.transferEncoding))
                #expect(request.fields[.contentType] == "text/plain; charset=utf-8")
            }
        },
        TransportCase("No form is made of a body without a type") { transport in
            let server = try LoopbackServer()
            _ = try await transport.exchange(.post, server.baseURL + "/e", body: .data(Data([1]), contentType: nil))
            #expect(server.requests.last?.fields[.contentType] ?? "" != "application/x-www-form-urlencoded")
        },
        TransportCase("Twenty megabytes arrive, and the count of sent bytes only rises") { transport in
            let server = try LoopbackServer()
            server.on(.post, "/u", .status(200), body: .discarded)
            let bytes = LoopbackServer.pattern(0..<large)
            let record = try await transport.exchange(.post, server.baseURL + "/u", body: .data(bytes))
            #expect(record.isComplete)
            let request = try #require(server.requests.first)
            #expect(request.bodyLength == large && request.bodyChecksum == LoopbackServer.checksum(of: bytes))
            #expect(record.sent == record.sent.sorted() && Set(record.sent).count == record.sent.count)
            #expect(record.sent.last == large && record.total == large)
            #expect(record.metrics?.bodyBytesSent == large)
        },
        TransportCase("Twenty megabytes come back") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/d", .pattern(length: large))
            let record = try await transport.exchange(.get, server.baseURL + "/d")
            #expect(record.isComplete && record.body == LoopbackServer.pattern(0..<large))
            #expect(record.metrics?.bodyBytesReceived == large)
        },
        TransportCase("Chunked, unframed and empty responses are complete") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/c", .chunks(["a", "bc", "", "def"]))
            server.on(.get, "/u", .text("until the end").untilClose())
            server.on(.get, "/e", .status(200))
            #expect(try await transport.exchange(.get, server.baseURL + "/c").text == "abcdef")
            #expect(try await transport.exchange(.get, server.baseURL + "/u").text == "until the end")
            let empty = try await transport.exchange(.get, server.baseURL + "/e")
            #expect(empty.isComplete && empty.body.isEmpty)
        },
        TransportCase("A compressed body arrives decoded") { transport in
            let server = try LoopbackServer()
            let zipped = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJBwCGphA2BQAAAA=="))
            server.on(.get, "/z", .data(zipped, fields: [.contentEncoding: "gzip"]))
            let record = try await transport.exchange(.get, server.baseURL + "/z")
            #expect(record.isComplete && record.text == "hello")
        },
        TransportCase("A stream of known length is sent with that length") { transport in
            let server = try LoopbackServer()
            server.on(.post, "/s", .status(200), body: .discarded)
            let reader = PatternReader(large)
            let stream = HTTPBodyStream(length: large, isReplayable: false) { reader }
            let record = try await transport.exchange(.post, server.baseURL + "/s", body: .stream(stream))
            #expect(record.isComplete && reader.closes == 1)
            let request = try #require(server.requests.first)
            #expect(request.bodyChecksum == LoopbackServer.checksum(of: LoopbackServer.pattern(0..<large)))
            #expect(request.fields.values(for: .contentLength) == ["\(large)"])
            #expect(!request.fields.contains(.transferEncoding))
            #expect(record.sent.last == large && record.total == large)
        },
        TransportCase("A stream of unknown length is framed once, also where it has to be waited for") { transport in
            let server = try LoopbackServer()
            for length: Int64 in [0, 1, 200_000] {
                server.on(.put, "/s", .status(200))
                let reader = PatternReader(length, waits: true)
                let stream = HTTPBodyStream(isReplayable: false) { reader }
                let record = try await transport.exchange(.put, server.baseURL + "/s", body: .stream(stream))
                #expect(record.isComplete && reader.closes == 1)
                let request = try #require(server.requests.last)
                #expect(request.body == LoopbackServer.pattern(0..<length))
                #expect(request.fields.contains(.contentLength) != request.fields.contains(.transferEncoding))
            }
        },
        TransportCase("A stream that fails, or ends early, fails the exchange with its error") { transport in
            let server = try LoopbackServer()
            let failing = PatternReader(100_000, failsAt: 70_000)
            let thrown = HTTPBodyStream(length: 100_000, isReplayable: false) { failing }
            let first = try await transport.exchange(.post, server.baseURL + "/s", body: .stream(thrown))
            #expect(first.error?.code == .deriveFailed && failing.closes == 1)
            let short = PatternReader(6)
            let wrong = HTTPBodyStream(length: 7, isReplayable: false) { short }
            let second = try await transport.exchange(.post, server.baseURL + "/s", body: .stream(wrong))
            #expect(second.error != nil && second.ends == 1 && short.closes == 1)
            #expect(server.requests.isEmpty)
        },
    ]
}

/// Yields the server's pattern, at once or after a turn of a queue.
final class PatternReader: HTTPBodyReader, Sendable {
    private let state = LockBox((offset: Int64(0), closes: 0, waited: false))
    private let length: Int64
    private let waits: Bool
    private let failsAt: Int64

    init(_ length: Int64, waits: Bool = false, failsAt: Int64 = .max) {
        self.length = length
        self.waits = waits
        self.failsAt = failsAt
    }

    var closes: Int { state.withLock { $0.closes } }
    func close() { state.withLock { $0.closes += 1 } }

    func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
        let (range, mustWait) = state.withLock { state in
            if waits && !state.waited {
                state.waited = true
                return (state.offset..<state.offset, true)
            }
            state.waited = false
            let start = state.offset
            state.offset = min(length, start + Int64(limit))
            return (start..<state.offset, false)
        }
        if mustWait {
            DispatchQueue.global().async(execute: whenReady)
            return .later
        }
        if range.upperBound > failsAt { throw BatonError(.deriveFailed, "the source is broken") }
        return range.isEmpty ? .end : .bytes(LoopbackServer.pattern(range))
    }
}
