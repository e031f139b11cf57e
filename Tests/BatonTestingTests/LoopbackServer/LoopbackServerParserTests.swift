import Foundation
import Testing

@testable import BatonTesting

@Suite("The loopback server's parser reads requests from any pieces")
struct LoopbackServerParserTests {
    /// What a parser makes of pieces: the same text for the same events.
    private func events(_ pieces: [ArraySlice<UInt8>]) -> String {
        var parser = RequestParser()
        var queue = ByteQueue()
        var log = ""
        for piece in pieces {
            piece.withUnsafeBytes { queue.append($0) }
            reading: while true {
                switch parser.next(&queue) {
                case .needsMore: break reading
                case .head(let head): log += "head \(head.method) \(head.target) \(head.framing)\n"
                case .body(let count): log += String(decoding: queue.take(count), as: UTF8.self)
                case .end(let trailers): log += "\nend \(trailers)\n"
                case .malformed(let error): return log + "malformed \(error.reason)"
                }
            }
        }
        return log
    }

    static let requests = [
        "GET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /b HTTP/1.1\r\nContent-Length: 5\r\n\r\nhelloGET /c HTTP/1.1\r\n\r\n",
        "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\nA\r\n0123456789\r\n0\r\nT: v\r\n\r\nGET /",
        "GET /a HTTP/1.1\r\nA : b\r\n\r\n", "\r\n\r\nGET /a HTTP/1.1\r\n\r\n\r\nGET /b HTTP/1.1\r\n\r\n",
    ]

    @Test("Every cut in two gives the same events", arguments: requests)
    func cuts(request: String) {
        let bytes = Array(request.utf8)
        let whole = events([bytes[...]])
        let differing = bytes.indices.filter { events([bytes[..<$0], bytes[$0...]]) != whole }
        #expect(differing.isEmpty)
        #expect(events(bytes.indices.map { bytes[$0...$0] }) == whole)
    }

    @Test("Mutated requests give the same events in one piece and byte by byte")
    func mutated() {
        var mutator = Mutator(seed: 11)
        for number in 0..<1000 {
            let bytes = mutator.mutate(Array(Self.requests[number % Self.requests.count].utf8))
            let whole = events([bytes[...]])
            let pieces = events(bytes.indices.map { bytes[$0...$0] })
            if whole != pieces { Issue.record("\(String(decoding: bytes, as: UTF8.self)) gave \(whole) and \(pieces)") }
        }
    }
}
