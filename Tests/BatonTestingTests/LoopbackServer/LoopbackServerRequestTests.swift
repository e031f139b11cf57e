import Baton
import BatonTesting
import Foundation
import Testing

@Suite("The loopback server records what it receives")
struct LoopbackServerRequestTests {
    let server: LoopbackServer
    let client: RawClient

    init() throws {
        server = try LoopbackServer()
        server.onAnyMethod("/**", .status(200))
        client = try RawClient(server)
    }

    @Test("Method, target, path, query, fields, raw lines, body and connection are recorded in order")
    func recorded() throws {
        _ = try client.request("POST", "/a/b%20c?d=e?f", fields: ["X-Twice: 1", "x-twice:  2 ", "Empty:"], body: "hé")
        let other = try RawClient(server)
        _ = try other.get("/second")
        #expect(server.requests.map(\.target) == ["/a/b%20c?d=e?f", "/second"])
        #expect(server.requests.map(\.connection) == [1, 2])
        let request = try #require(server.requests.first)
        #expect(request.method == .post)
        #expect(request.path == "/a/b%20c")
        #expect(request.query == "d=e?f")
        #expect(request.fields.values(for: "X-TWICE") == ["1", "2"])
        #expect(request.fields["Empty"] == "")
        #expect(
            request.rawFieldLines == ["Host: 127.0.0.1", "X-Twice: 1", "x-twice:  2 ", "Empty:", "Content-Length: 3"])
        #expect(request.body == Data("hé".utf8))
        #expect(request.bodyLength == 3)
        #expect(request.bodyChecksum == nil)
        #expect(server.requests.last?.query == nil)
    }

    @Test("A chunked body is put together, extensions and trailers included")
    func chunked() throws {
        try client.send("PUT /a HTTP/1.1\r\nTransfer-Encoding: Chunked\r\nContent-Length: 999\r\n\r\n")
        try client.send("3\r\nabc\r\n00A;x=\"y\"\r\n0123456789\r\n0\r\nDigest: x\r\n\r\n")
        #expect(try client.readReply().status == 200)
        #expect(server.requests.last?.body == Data("abc0123456789".utf8))
        #expect(server.requests.last?.trailerLines == ["Digest: x"])
    }

    @Test("A request that comes byte by byte is read like any other")
    func bytewise() throws {
        for byte in "POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nhi".utf8 { try client.send(Data([byte])) }
        #expect(try client.readReply().status == 200)
        #expect(server.requests.last?.body == Data("hi".utf8))
    }

    @Test("Requests sent in one go are answered in order")
    func pipelined() throws {
        server.on(.get, "/n/*") { .text($0.path) }
        try client.send((0..<100).map { "GET /n/\($0) HTTP/1.1\r\n\r\n" }.joined())
        for number in 0..<100 { #expect(try client.readReply().text == "/n/\(number)") }
    }

    @Test("Empty lines before a request are skipped")
    func emptyLines() throws {
        try client.send("\r\n\r\nGET /a HTTP/1.1\r\n\r\n")
        #expect(try client.readReply().status == 200)
    }

    @Test("A client that waits for 100 Continue gets it before its body, and the reply after")
    func expectation() throws {
        try client.send("POST /a HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
        #expect(try client.readReply().statusLine == "HTTP/1.1 100 Continue")
        try client.send("hi")
        #expect(try client.readReply().status == 200)
    }

    @Test("An absolute target is routed by its path", arguments: ["http://other/a?b=1", "http://other?b=1"])
    func absoluteTarget(target: String) throws {
        #expect(try client.get(target).status == 200)
        #expect(server.requests.last?.target == target)
        #expect(server.requests.last?.path == (target.contains("/a") ? "/a" : "/"))
        #expect(server.requests.last?.query == "b=1")
    }

    @Test(
        "HTTP/1.0 closes unless it asks not to",
        arguments: [("Accept: a", "close"), ("Connection: x, Keep-Alive", "keep-alive")])
    func oldVersion(field: String, connection: String) throws {
        server.on(.get, "/chunks", .chunks(["a", "b"]))
        try client.send("GET /a HTTP/1.0\r\n\(field)\r\n\r\n")
        #expect(try client.readReply().value("Connection") == connection)
        if connection == "close" { return #expect(try client.readToEnd().ending == .closed) }
        try client.send("GET /chunks HTTP/1.0\r\n\(field)\r\n\r\n")
        let reply = try client.readReply()
        #expect(reply.text == "ab")
        #expect(reply.chunks.isEmpty)
    }

    @Test("Connection: close is obeyed")
    func asksForClose() throws {
        #expect(try client.get("/a", fields: ["Connection: close"]).value("Connection") == "close")
        #expect(try client.readToEnd().ending == .closed)
    }

    @Test("A route can discard bodies of any size and keep length and checksum")
    func discarded() async throws {
        let server = try LoopbackServer()
        server.on(.put, "/up", .status(204), body: .discarded)
        let client = try RawClient(server)
        let part = LoopbackServer.pattern(0..<2_510_000)
        try client.send("PUT /up HTTP/1.1\r\nContent-Length: \(part.count * 20)\r\n\r\n")
        for _ in 0..<20 { try client.send(part) }
        #expect(try client.readReply().status == 204)
        let request = try #require(server.requests.last)
        #expect(request.body.isEmpty)
        #expect(request.bodyLength == 50_200_000)
        #expect(request.bodyChecksum == 0x4CE94ED2667ECA65)
    }

    @Test("The checksum is FNV-1a")
    func checksum() {
        #expect(LoopbackServer.checksum(of: Data()) == 0xCBF2_9CE4_8422_2325)
        #expect(LoopbackServer.checksum(of: Data("foobar".utf8)) == 0x85944171F73967E8)
    }

    @Test("A route can answer before the body, and close after the reply")
    func unread() throws {
        server.on(.put, "/up", .status(413), body: .unread)
        try client.send("PUT /up HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n")
        let reply = try client.readReply()
        #expect(reply.status == 413)
        #expect(reply.value("Connection") == "close")
        try client.send("some of the body")
        #expect(try client.readToEnd().ending == .closed)
    }

    @Test("A route that does not read bodies keeps the connection when there is none")
    func unreadWithoutBody() throws {
        server.on(.get, "/a", .text("a"), body: .unread)
        #expect(try client.get("/a").text == "a")
        #expect(try client.get("/a").text == "a")
    }

    @Test("A route can hold a body back until its gate is released")
    func heldBack() async throws {
        let server = try LoopbackServer(socketBufferBytes: 65_536)
        let gate = LoopbackServer.Gate()
        server.on(.put, "/up", .status(200), body: .heldBack(gate))
        let client = try RawClient(server)
        let body = LoopbackServer.pattern(0..<8_000_000)
        try client.send("PUT /up HTTP/1.1\r\nContent-Length: \(body.count)\r\n\r\n")
        await server.wait { $0.bytesReceived > 0 }
        let sent = client.sendWithoutWaiting(body)
        #expect(sent < body.count)
        #expect(server.requests.isEmpty)
        gate.release()
        try client.send(body.dropFirst(sent))
        #expect(try client.readReply().status == 200)
        #expect(server.requests.last?.bodyLength == 8_000_000)
        #expect(server.requests.last?.bodyChecksum == LoopbackServer.checksum(of: body))
    }

    @Test("Recorded requests can be forgotten, and need not be recorded at all")
    func forgotten() throws {
        _ = try client.get("/a")
        server.forgetRequests()
        #expect(server.requests.isEmpty)
        #expect(server.activity.requests == 1)
        let counting = try LoopbackServer(recording: .count)
        _ = try RawClient(counting).get("/a")
        #expect(counting.requests.isEmpty)
        #expect(counting.activity.requests == 1)
    }
}
