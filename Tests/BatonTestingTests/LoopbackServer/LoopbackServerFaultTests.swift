import Baton
import BatonTesting
import Foundation
import Testing

@Suite("The loopback server breaks what it is told to break")
struct LoopbackServerFaultTests {
    typealias Reply = LoopbackServer.Reply

    let server: LoopbackServer
    let client: RawClient

    init() throws {
        server = try LoopbackServer()
        client = try RawClient(server)
    }

    private func wire(_ reply: Reply) throws -> (text: String, ending: RawClient.Ending) {
        server.enqueue(reply)
        try client.send("GET /a HTTP/1.1\r\n\r\n")
        let (data, ending) = try client.readToEnd()
        return (String(data: data, encoding: .isoLatin1) ?? "", ending)
    }

    static let head = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
    static let body = "0123456789"

    @Test(
        "A reply breaks off at any place",
        arguments: [
            (.beforeReply, ""), (.midHead, String(decoding: head.utf8.prefix(head.utf8.count / 2), as: UTF8.self)),
            (.afterHead, head),
            (.midBody, head + "01234"), (.bodyByte(0), head), (.bodyByte(3), head + "012"),
            (.bodyByte(99), head + body), (.bodyByte(-1), head), (.afterReply, head + body),
        ] as [(Reply.Place, String)], [Reply.Break.close, .reset])
    func places(expected: (place: Reply.Place, text: String), break: Reply.Break) throws {
        let reply = Reply.status(200, body: Self.body).broken(`break`, at: expected.place)
        let (text, ending) = try wire(reply)
        #expect(text.utf8.elementsEqual(expected.text.utf8))
        #expect(ending == (`break` == .close ? .closed : .reset))
    }

    @Test("A chunk that breaks off was announced with its whole size")
    func midChunk() throws {
        let (text, _) = try wire(.chunks(["0123456789"]).broken(.close, at: .midBody))
        #expect(text.hasSuffix("\r\n\r\na\r\n01234"))
    }

    @Test("A generated body breaks off at the byte")
    func generated() throws {
        let (text, ending) = try wire(.pattern(length: 1_000_000).broken(.reset, at: .bodyByte(500)))
        #expect(text.unicodeScalars.count == "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n".utf8.count + 500)
        #expect(ending == .reset)
    }

    @Test("The connection ends in place of a reply")
    func noReply() throws {
        #expect(try wire(.broken(.reset)) == ("", .reset))
    }

    @Test("The last chunk can be missing")
    func lastChunk() throws {
        let (text, ending) = try wire(.chunks(["one", "two"]).withoutLastChunk())
        #expect(text.hasSuffix("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n"))
        #expect(ending == .closed)
    }

    @Test("A length that is too large ends with the connection")
    func tooLarge() throws {
        let (text, ending) = try wire(.text("body").claiming(contentLength: 100))
        #expect(text.contains("Content-Length: 100\r\n") && text.hasSuffix("\r\n\r\nbody"))
        #expect(ending == .closed)
    }

    @Test("A length that is too small leaves stray bytes on the connection")
    func tooSmall() throws {
        server.enqueue(.text("body").claiming(contentLength: 1))
        #expect(try client.get("/a").text == "b")
        server.enqueue(.text("next"))
        try client.send("GET /a HTTP/1.1\r\n\r\n")
        #expect(try client.readLine() == "odyHTTP/1.1 200 OK")
    }

    @Test("Garbage is no HTTP")
    func garbage() throws {
        let (text, ending) = try wire(.garbage)
        #expect(!text.hasPrefix("HTTP"))
        #expect(ending == .closed)
    }

    @Test("A stalled reply never comes, and ends when the client goes")
    func stalled() async throws {
        server.on(.get, "/stall", .stall)
        do {
            let stalled = try RawClient(server)
            try stalled.send("GET /stall HTTP/1.1\r\n\r\n")
            await server.waitForRequests(1)
            #expect(server.activity.openConnections == 2)
            withExtendedLifetime(stalled) {}
        }
        await server.wait { $0.openConnections == 1 }
        #expect(server.activity.bytesSent == 0)
    }

    @Test("An upload that nobody reads stops moving, and ends with the server")
    func stalledUpload() async throws {
        server.on(.put, "/stall", .stall, body: .unread)
        try client.send("PUT /stall HTTP/1.1\r\nContent-Length: 50000000\r\n\r\n")
        await server.waitForRequests(1)
        #expect(client.sendWithoutWaiting(Data(count: 50_000_000)) < 50_000_000)
        server.stop()
        #expect(try client.readToEnd().ending == .reset)
    }

    @Test("An upload can be reset before it is read")
    func uploadReset() throws {
        server.on(.put, "/up", .broken(.reset), body: .unread)
        try client.send("PUT /up HTTP/1.1\r\nContent-Length: 50000000\r\n\r\n")
        #expect(try client.readToEnd().ending == .reset)
    }

    @Test("A client that leaves in the middle of its request leaves no record")
    func halfRequest() async throws {
        do {
            let leaving = try RawClient(server)
            try leaving.send("PUT /a HTTP/1.1\r\nContent-Length: 10\r\n\r\nhalf")
        }
        await server.wait { $0.connections == 2 && $0.openConnections == 1 }
        #expect(server.requests.isEmpty)
    }
}
