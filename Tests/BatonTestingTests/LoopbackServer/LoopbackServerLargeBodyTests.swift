import Baton
import BatonTesting
import Foundation
import Testing

@Suite("The loopback server sends large bodies")
struct LoopbackServerLargeBodyTests {
    @Test("A body of 100 MB is made while it is sent", arguments: [false, true])
    func pattern(isChunked: Bool) throws {
        let length = isChunked ? 5_000_000 : 100_000_000
        let server = try LoopbackServer()
        let reply = LoopbackServer.Reply.pattern(length: Int64(length))
        server.on(.get, "/big", isChunked ? reply.chunked() : reply)
        let client = try RawClient(server)
        if isChunked {
            #expect(try client.get("/big").body == LoopbackServer.pattern(0..<5_000_000))
        } else {
            try client.send("GET /big HTTP/1.1\r\n\r\n")
            while try !client.readLine().isEmpty {}
            #expect(try client.skip(length).isPattern)
        }
    }

    @Test("The pattern is the same whatever stretch of it is asked for")
    func patternStretches() {
        let whole = LoopbackServer.pattern(0..<300_000)
        #expect(whole[251] == 0 && whole[250] == 250 && whole.count == 300_000)
        for start in [1, 250, 251, 128_500, 128_512, 200_000] {
            #expect(LoopbackServer.pattern(Int64(start)..<300_000) == whole[start...])
        }
        #expect(LoopbackServer.pattern(7..<7).isEmpty)
    }

    @Test("A client that does not read holds the body back")
    func backpressure() async throws {
        let server = try LoopbackServer(socketBufferBytes: 65_536)
        server.on(.get, "/big", .pattern(length: 40_000_000))
        server.on(.get, "/small", .text("small"))
        let slow = try RawClient(server)
        try slow.send("GET /big HTTP/1.1\r\n\r\n")
        await server.wait { $0.bytesSent > 0 }
        // The other connection is served all the while.
        let other = try RawClient(server)
        for _ in 0..<200 { #expect(try other.get("/small").text == "small") }
        #expect(server.activity.bytesSent < 20_000_000)
        while try !slow.readLine().isEmpty {}
        #expect(try slow.skip(40_000_000).isPattern)
    }

    @Test("A generator that gives less is asked again, and one that gives nothing ends the connection")
    func generators() throws {
        let server = try LoopbackServer()
        server.on(.get, "/slow", .generated(length: 100) { offset, _ in LoopbackServer.pattern(offset..<offset + 7) })
        server.on(.get, "/none", .generated(length: 100) { offset, _ in offset < 50 ? Data(count: 50) : Data() })
        let client = try RawClient(server)
        #expect(try client.get("/slow").body == LoopbackServer.pattern(0..<100))
        #expect(throws: RawClient.Failure.self) { try client.get("/none") }
    }

    @Test("A throttled body takes its time", arguments: [true, false])
    func throttled(isGenerated: Bool) throws {
        let server = try LoopbackServer()
        let reply: LoopbackServer.Reply =
            isGenerated ? .pattern(length: 20_000) : .data(LoopbackServer.pattern(0..<20_000))
        server.on(.get, "/a", reply.throttled(bytesPerSecond: 200_000))
        let client = try RawClient(server)
        let start = ContinuousClock.now
        #expect(try client.get("/a").body == LoopbackServer.pattern(0..<20_000))
        #expect(ContinuousClock.now - start > .milliseconds(80))
    }
}
