package import Baton
internal import Dispatch
internal import Foundation

/// Bodies, whatever carries them.
extension ContractCheck {
    static let bodies = [
        ContractCheck("An empty response is complete, and has no body") { bench in
            bench.reply(HTTPResponse(status: 200), "/e")
            let record = try await bench.exchange(.get, "/e")
            bench.expectWhole(record, "an empty response")
            bench.expect(record.body.isEmpty, "an empty body has \(record.body.count) bytes")
        },
        ContractCheck("A body in memory arrives as it is, and the count of sent bytes only rises") { bench in
            bench.reply(HTTPResponse(status: 200), to: .post, "/b")
            for size in [0, 1, 65_536, 300_000] {
                let bytes = LoopbackServer.pattern(0..<Int64(size))
                let record = try await bench.exchange(.post, "/b", body: .data(bytes))
                bench.expectWhole(record, "a body of \(size) bytes")
                bench.expect(
                    bench.server.requests.last?.body == bytes, "a body of \(size) bytes did not arrive as it was")
                bench.expect(
                    record.sent == record.sent.sorted() && record.sent.last ?? 0 <= Int64(size),
                    "of \(size) bytes were said to be sent: \(record.sent)")
            }
        },
        ContractCheck("A large body arrives whole") { bench in
            let size = bench.sizes.largeBody
            bench.reply(HTTPResponse(status: 200), to: .post, "/u")
            let bytes = LoopbackServer.pattern(0..<size)
            let record = try await bench.exchange(.post, "/u", body: .data(bytes))
            bench.expectWhole(record, "a large upload")
            bench.expect(
                bench.server.requests.last?.body == bytes, "the bytes that arrived are not those that were sent")
            bench.expect(record.sent.last == size, "of \(size) bytes \(record.sent.last ?? 0) were said to be sent")
            bench.expect(record.sent == record.sent.sorted(), "the count of sent bytes fell")
            bench.expect(record.total == size, "the total was said to be \(record.total ?? 0), not \(size)")
        },
        ContractCheck("A large body comes back whole") { bench in
            let bytes = LoopbackServer.pattern(0..<bench.sizes.largeBody)
            bench.reply(HTTPResponse(status: 200, body: bytes), "/d")
            let record = try await bench.exchange(.get, "/d")
            bench.expectWhole(record, "a large response")
            bench.expect(record.body == bytes, "\(record.body.count) bytes came that are not the \(bytes.count) sent")
        },
        ContractCheck("A body in pieces comes back in order") { bench in
            let bytes = LoopbackServer.pattern(0..<30_000)
            bench.server.reply(.pieces(HTTPResponse(status: 200, body: bytes), bytes: 1_000), to: .get, "/p")
            let record = try await bench.exchange(.get, "/p")
            bench.expectWhole(record, "a response in pieces")
            bench.expect(record.body == bytes, "the pieces do not make up the body")
        },
        ContractCheck("A stream arrives whole, of known length or not, and is closed once") { bench in
            bench.reply(HTTPResponse(status: 200), to: .put, "/s")
            for (size, isKnown) in [(0, true), (1, true), (300_000, true), (0, false), (1, false), (300_000, false)] {
                // One that has nothing for a moment, each time that it is asked.
                let reader = PatternReader(Int64(size), waits: true)
                let stream = HTTPBodyStream(length: isKnown ? Int64(size) : nil, isReplayable: false) { reader }
                let what = "a stream of \(isKnown ? "" : "unknown length, ")\(size) bytes"
                bench.expectWhole(try await bench.exchange(.put, "/s", body: .stream(stream)), what)
                bench.expect(
                    bench.server.requests.last?.body == LoopbackServer.pattern(0..<Int64(size)),
                    "\(what) did not arrive as it was")
                bench.expect(reader.closes == 1, "\(what) was closed \(reader.closes) times")
            }
        },
        ContractCheck("A stream that fails, or ends early, fails the exchange and is closed once") { bench in
            bench.reply(HTTPResponse(status: 200), to: .post, "/s")
            let failing = PatternReader(100_000, failsAt: 70_000)
            let thrown = HTTPBodyStream(length: 100_000, isReplayable: false) { failing }
            let first = try await bench.exchange(.post, "/s", body: .stream(thrown))
            bench.expectFailure(first, .deriveFailed, of: "a stream that fails with deriveFailed")
            bench.expect(failing.closes == 1, "a stream that failed was closed \(failing.closes) times")
            let short = PatternReader(6)
            let wrong = HTTPBodyStream(length: 7, isReplayable: false) { short }
            let second = try await bench.exchange(.post, "/s", body: .stream(wrong))
            bench.expect(second.error != nil, "a stream that is shorter than it says was no failure")
            bench.expectOneEnd(second, "a stream that is shorter than it says")
            bench.expect(short.closes == 1, "a stream that ended early was closed \(short.closes) times")
            let unopened = HTTPBodyStream(isReplayable: false) { throw BatonError(.encodingFailed, "it is gone") }
            let third = try await bench.exchange(.post, "/s", body: .stream(unopened))
            bench.expectFailure(third, .encodingFailed, of: "a stream that cannot be opened")
            bench.expect(bench.server.requests.isEmpty, "a request arrived whose body failed")
        },
    ]
}

/// Yields the server's pattern, at once or after a turn of a queue.
package final class PatternReader: HTTPBodyReader, Sendable {
    private let state = LockBox((offset: Int64(0), closes: 0, waited: false))
    private let length: Int64
    private let waits: Bool
    private let failsAt: Int64

    package init(_ length: Int64, waits: Bool = false, failsAt: Int64 = .max) {
        self.length = length
        self.waits = waits
        self.failsAt = failsAt
    }

    package var closes: Int { state.withLock { $0.closes } }
    package func close() { state.withLock { $0.closes += 1 } }

    package func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
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
