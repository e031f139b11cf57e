import Baton
import BatonTesting
import Foundation
import Testing

@Suite("The loopback server takes its time when it is told to")
struct LoopbackServerPacingTests {
    let server: LoopbackServer
    let client: RawClient

    init() throws {
        server = try LoopbackServer()
        client = try RawClient(server)
    }

    @Test("A delay comes before the status line and holds up nobody else")
    func delay() throws {
        server.on(.get, "/late", .text("late").delayed(by: .milliseconds(60)))
        server.on(.get, "/soon", .text("soon"))
        let other = try RawClient(server)
        let start = ContinuousClock.now
        try client.send("GET /late HTTP/1.1\r\n\r\n")
        #expect(try other.get("/soon").text == "soon")
        #expect(try client.readReply().text == "late")
        #expect(ContinuousClock.now - start >= .milliseconds(60))
    }

    @Test("Chunks can dribble, and so can bodies with a length")
    func dribble() throws {
        server.on(.get, "/chunks", .chunks(["a", "b", "c"], every: .milliseconds(10)))
        server.on(.get, "/length", .text("abcdefg").dribbled(bytes: 3, every: .milliseconds(10)))
        let start = ContinuousClock.now
        #expect(try client.get("/chunks").chunks.count == 3)
        #expect(ContinuousClock.now - start >= .milliseconds(20))
        let reply = try client.get("/length")
        #expect(reply.text == "abcdefg")
        #expect(reply.value("Content-Length") == "7")
        #expect(ContinuousClock.now - start >= .milliseconds(40))
    }

    @Test("Many delays end in the order of their times")
    func manyDelays() throws {
        server.on(.get, "/*") { .text($0.path).delayed(by: .milliseconds(Int($0.path.dropFirst()) ?? 0)) }
        let clients = try (0..<50).map { _ in try RawClient(server) }
        for (index, client) in clients.enumerated() { try client.send("GET /\(50 - index) HTTP/1.1\r\n\r\n") }
        for (index, client) in clients.enumerated() { #expect(try client.readReply().text == "/\(50 - index)") }
    }

    @Test("A held reply comes when its gate is released")
    func hold() async throws {
        let gate = server.hold(.get, "/slow", .text("at last"))
        try client.send("GET /slow HTTP/1.1\r\n\r\n")
        await server.waitForRequests(1)
        #expect(server.activity.bytesSent == 0)
        gate.release()
        #expect(try client.readReply().text == "at last")
        #expect(try client.get("/slow").text == "at last")
    }

    @Test("A gate lets through one at a time, first come first")
    func releaseCount() async throws {
        let gate = server.hold(.get, "/slow")
        let clients = try (0..<3).map { _ in try RawClient(server) }
        for (index, client) in clients.enumerated() {
            try client.send("GET /slow HTTP/1.1\r\n\r\n")
            await server.waitForRequests(index + 1)
        }
        for (index, client) in clients.enumerated() {
            gate.release(1)
            #expect(try client.readReply().status == 200)
            let sent = Int64("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".utf8.count)
            await server.wait { $0.bytesSent == Int64(index + 1) * sent }
        }
        gate.release(1)
        #expect(try clients[0].get("/slow").status == 200)
    }

    @Test("A reply can be held in the middle of its body")
    func holdInBody() throws {
        let gate = LoopbackServer.Gate()
        server.on(.get, "/a", .text("0123456789").held(by: gate, at: .bodyByte(4)))
        try client.send("GET /a HTTP/1.1\r\n\r\n")
        while try !client.readLine().isEmpty {}
        #expect(try client.readBytes(4) == Data("0123".utf8))
        gate.release()
        #expect(try client.readBytes(6) == Data("456789".utf8))
    }

    @Test("A held reply whose client goes is given up")
    func holdAndLeave() async throws {
        let gate = server.hold(.get, "/slow")
        do {
            let leaving = try RawClient(server)
            try leaving.send("GET /slow HTTP/1.1\r\n\r\n")
            await server.waitForRequests(1)
            withExtendedLifetime(leaving) {}
        }
        await server.wait { $0.openConnections == 1 }
        gate.release()
        #expect(try client.get("/slow").status == 200)
    }

    @Test("One gate can hold replies of two servers")
    func sharedGate() async throws {
        let other = try LoopbackServer()
        let gate = LoopbackServer.Gate()
        server.on(.get, "/a", .text("one").held(by: gate))
        other.on(.get, "/a", .text("two").held(by: gate))
        let second = try RawClient(other)
        try client.send("GET /a HTTP/1.1\r\n\r\n")
        try second.send("GET /a HTTP/1.1\r\n\r\n")
        await server.waitForRequests(1)
        await other.waitForRequests(1)
        gate.release()
        #expect(try client.readReply().text == "one")
        #expect(try second.readReply().text == "two")
    }
}
