import Baton
import BatonTesting
import Foundation
import Testing

@Suite("The loopback server survives whatever it is sent")
struct LoopbackServerMalformedInputTests {
    @Test(
        "Malformed requests are answered with 400 and the end of the connection",
        arguments: [
            "GET\r\n\r\n", "GET /a\r\n\r\n", " /a HTTP/1.1\r\n\r\n", "GET  HTTP/1.1\r\n\r\n",
            "GET /a b HTTP/1.1\r\n\r\n", "GET /a HTTP/2.0\r\n\r\n", "G@T /a HTTP/1.1\r\n\r\n",
            "GET /\u{1}a HTTP/1.1\r\n\r\n", "GET /é HTTP/1.1\r\n\r\n", "GET /a HTTP/1.1\r\nno colon\r\n\r\n",
            "GET /a HTTP/1.1\r\n: no name\r\n\r\n", "GET /a HTTP/1.1\r\nA : space\r\n\r\n",
            "GET /a HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", "GET /a HTTP/1.1\r\nA: b\u{0}c\r\n\r\n",
            "GET /a HTTP/1.1\r\nA: b\nB: c\r\n\r\n", "GET /a HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
            "GET /a HTTP/1.1\r\nContent-Length: 1x\r\n\r\n", "GET /a HTTP/1.1\r\nContent-Length:\r\n\r\n",
            "GET /a HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "GET /a HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "GET /a HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
            "GET /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "GET /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
            "GET /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n;a\r\n",
            "GET /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
            "GET /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
            "GET /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno colon\r\n\r\n",
        ])
    func malformed(request: String) throws {
        let server = try LoopbackServer()
        server.onAnyMethod("/**", .status(200))
        let client = try RawClient(server)
        try client.send(request)
        let reply = try client.readReply()
        #expect(reply.status == 400)
        #expect(reply.text.hasPrefix("The request "))
        #expect(try client.readToEnd() == (Data(), .closed))
        #expect(server.requests.isEmpty)
        #expect(try RawClient(server).get("/a").status == 200)
    }

    @Test("Heads and lines without an end are refused")
    func endless() throws {
        let server = try LoopbackServer()
        let client = try RawClient(server)
        try client.send("GET /a HTTP/1.1\r\nA: " + String(repeating: "x", count: 400_000))
        #expect(try client.readReply().status == 400)
        let other = try RawClient(server)
        try other.send(
            "PUT /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + String(repeating: "x", count: 10_000))
        #expect(try other.readReply().status == 400)
    }

    @Test("2,000 mutated requests end nothing but their own connections")
    func mutated() async throws {
        let server = try LoopbackServer()
        server.onAnyMethod("/**", .echo)
        server.on(.put, "/discarded", .status(200), body: .discarded)
        server.on(.put, "/unread", .status(200), body: .unread)
        let seeds = [
            "GET /a/b?c=d HTTP/1.1\r\nHost: x\r\nAccept: */*\r\n\r\n",
            "POST /a HTTP/1.1\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\nhello",
            "PUT /discarded HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nT: v\r\n\r\n",
            "PUT /unread HTTP/1.0\r\nConnection: keep-alive, x\r\nContent-Length: 3\r\n\r\nabc",
            "HEAD http://h/x HTTP/1.1\r\nAuthorization: Basic eDp5\r\n\r\n",
        ].map { Array($0.utf8) }
        var mutator = Mutator(seed: 7)
        for number in 0..<2000 {
            let client = try RawClient(server)
            // The server may have closed the connection before all of it was sent.
            _ = try? client.send(Data(mutator.mutate(seeds[number % seeds.count])))
            if number % 4 == 0 { client.finishSending() }
        }
        await server.wait { $0.openConnections == 0 && $0.connections == 2000 }
        #expect(try RawClient(server).get("/still-there").status == 200)
    }
}

/// Breaks requests in ways that repeat with the seed.
struct Mutator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(below bound: Int) -> Int {
        // SplitMix64.
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((mixed ^ (mixed >> 31)) % UInt64(max(bound, 1)))
    }

    mutating func mutate(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let interesting: [UInt8] = [0x0D, 0x0A, 0x20, 0x3A, 0x00, 0xFF, 0x30, 0x39, 0x66, 0x3B, 0x2C, 0x2F]
        for _ in 0...next(below: 4) {
            let place = next(below: bytes.count)
            switch next(below: 7) {
            case 0 where !bytes.isEmpty: bytes[place] = UInt8(next(below: 256))
            case 1 where !bytes.isEmpty: bytes.remove(at: place)
            case 2: bytes.insert(interesting[next(below: interesting.count)], at: place)
            case 3: bytes.removeSubrange(place..<min(bytes.count, place + next(below: 20)))
            case 4: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + next(below: 20))], at: place)
            case 5: bytes = Array(bytes.prefix(place))
            default: bytes.append(contentsOf: bytes.suffix(next(below: 30)))
            }
        }
        return bytes
    }
}
