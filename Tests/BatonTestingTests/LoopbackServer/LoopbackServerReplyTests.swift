import Baton
import BatonTesting
import Foundation
import Testing

@Suite("The loopback server replies")
struct LoopbackServerReplyTests {
    let server: LoopbackServer
    let client: RawClient

    init() throws {
        server = try LoopbackServer()
        client = try RawClient(server)
    }

    @Test("Status, reason and fields are sent as given, in order and with repeats")
    func head() throws {
        var reply = LoopbackServer.Reply.status(299, fields: ["X-B": "1", "x-a": "2", "X-B": "3"])
        reply.reason = "Nearly Fine"
        server.on(.get, "/a", reply)
        let received = try client.get("/a")
        #expect(received.statusLine == "HTTP/1.1 299 Nearly Fine")
        #expect(received.fieldLines == ["X-B: 1", "x-a: 2", "X-B: 3", "Content-Length: 0"])
    }

    @Test("Each cookie has a line of its own")
    func cookies() throws {
        server.on(.get, "/a", .status(200).settingCookies("a=1; Path=/", "b=2"))
        #expect(try client.get("/a").values("Set-Cookie") == ["a=1; Path=/", "b=2"])
    }

    @Test("HEAD is answered by the route for GET, with the length and without the body")
    func headMethod() throws {
        server.on(.get, "/a", .text("four"))
        server.on(.get, "/chunks", .chunks(["four"]))
        for _ in 0..<2 {
            let reply = try client.request("HEAD", "/a")
            #expect(reply.value("Content-Length") == "4")
            #expect(try client.request("HEAD", "/chunks").value("Transfer-Encoding") == "chunked")
        }
        #expect(try client.get("/a").text == "four")
    }

    @Test("No body goes with statuses that have none", arguments: [204, 304])
    func noBody(status: Int) throws {
        server.on(.get, "/a", .text("must not be sent", status: status))
        server.on(.get, "/b", .text("b"))
        let reply = try client.get("/a")
        #expect(reply.status == status)
        #expect(reply.value("Content-Length") == nil)
        #expect(try client.get("/b").text == "b")
    }

    @Test("Chunks arrive as they were given")
    func chunks() throws {
        server.on(.get, "/a", .chunks(["one", "two", "", "three"]))
        let reply = try client.get("/a")
        #expect(reply.chunks == ["one", "two", "three"].map { Data($0.utf8) })
        #expect(reply.value("Content-Length") == nil)
    }

    @Test("Any body can be sent chunked, also an empty one")
    func chunked() throws {
        server.on(.get, "/a", .text("one").chunked())
        server.on(.get, "/empty", .status(200).chunked())
        #expect(try client.get("/a").chunks.count == 1)
        #expect(try client.get("/empty").body.isEmpty)
    }

    @Test("A body can end with the connection")
    func untilClose() throws {
        server.on(.get, "/a", .text("one").untilClose())
        let reply = try client.get("/a")
        #expect(reply.value("Content-Length") == nil)
        #expect(reply.value("Connection") == "close")
        #expect(reply.text == "one")
    }

    @Test("A reply can close the connection")
    func closing() throws {
        server.on(.get, "/a", .text("one").closing())
        #expect(try client.get("/a").value("Connection") == "close")
        #expect(try client.readToEnd() == (Data(), .closed))
    }

    @Test("Interim replies come first")
    func interim() throws {
        server.on(
            .get, "/a",
            .text("one").preceded(byStatus: 100).preceded(byStatus: 103, fields: ["Link": "</b>"]))
        #expect(try client.get("/a").statusLine == "HTTP/1.1 100 Continue")
        let hints = try client.readReply()
        #expect(hints.statusLine == "HTTP/1.1 103 Early Hints")
        #expect(hints.fieldLines == ["Link: </b>"])
        #expect(try client.readReply().text == "one")
    }

    @Test("Bytes that are coded already go out with the field that says so")
    func coded() throws {
        let bytes = Data([0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0xFF, 0xFF])
        server.on(.get, "/a", .data(bytes, contentType: "text/plain", fields: ["Content-Encoding": "gzip"]))
        let reply = try client.get("/a")
        #expect(reply.value("Content-Encoding") == "gzip")
        #expect(reply.body == bytes)
    }

    @Test("A redirect can lead to a second server", arguments: [301, 302, 303, 307, 308])
    func redirect(status: Int) throws {
        let other = try LoopbackServer()
        server.on(.get, "/a", .redirect(to: other.baseURL + "/b", status: status))
        let reply = try client.get("/a")
        #expect(reply.status == status)
        #expect(reply.value("Location") == "http://127.0.0.1:\(other.port)/b")
    }

    @Test(
        "A challenge is met by the right credentials only",
        arguments: [
            (nil, 401), ("Basic YWRhOmxvdmVsYWNl", 200), ("Basic YWRhOmJ5cm9u", 401), ("Bearer YWRhOmxvdmVsYWNl", 401),
        ] as [(String?, Int)])
    func basic(authorization: String?, status: Int) throws {
        server.on(.get, "/a", .text("secret").requiringBasic(user: "ada", password: "lovelace", realm: "r"))
        let reply = try client.get("/a", fields: authorization.map { ["Authorization: \($0)"] } ?? [])
        #expect(reply.status == status)
        #expect(reply.value("WWW-Authenticate") == (status == 401 ? #"Basic realm="r""# : nil))
    }

    @Test("A bearer challenge names its realm")
    func bearer() throws {
        server.on(.get, "/a", .text("secret").requiringBearer("t1"))
        #expect(try client.get("/a").value("WWW-Authenticate") == #"Bearer realm="loopback""#)
        #expect(try client.get("/a", fields: ["Authorization: Bearer t1"]).text == "secret")
    }

    @Test("An echo says what was received")
    func echo() throws {
        server.on(.post, "/a", .echo)
        let reply = try client.request("POST", "/a?b=1", fields: ["X-A: 1", "x-a: 2"], body: "hé")
        #expect(reply.value("Content-Type") == "application/json")
        let echo = try JSONDecoder().decode(LoopbackServer.Echo.self, from: reply.body)
        #expect(echo.method == "POST")
        #expect(echo.target == "/a?b=1")
        #expect(echo.path == "/a")
        #expect(echo.query == "b=1")
        #expect(echo.values(for: "X-A") == ["1", "2"])
        #expect(echo.body == "hé")
        #expect(echo.bodyBase64 == Data("hé".utf8).base64EncodedString())
        #expect(echo.bodyLength == 3)
        #expect(echo.connection == 1)
    }

    @Test("Raw bytes go out verbatim")
    func raw() throws {
        server.on(.get, "/a", .raw("HTTP/1.1 200 Fine\r\nA:b\r\ncontent-length: 2\r\n\r\nhi", then: .keepAlive))
        server.on(.get, "/b", .raw("nothing at all"))
        #expect(try client.get("/a").statusLine == "HTTP/1.1 200 Fine")
        try client.send("GET /b HTTP/1.1\r\n\r\n")
        #expect(try client.readToEnd() == (Data("nothing at all".utf8), .closed))
    }

    @Test("A value encodes itself")
    func encoded() throws {
        server.on(.get, "/a", try .json(encoding: ["b": 1, "a": 2]))
        #expect(try client.get("/a").text == #"{"a":2,"b":1}"#)
    }

    @Test("A body can be set and read back")
    func body() {
        var reply = LoopbackServer.Reply.chunks(["a", "b"])
        #expect(reply.body == Data("ab".utf8))
        reply.body = Data("c".utf8)
        #expect(reply.body == Data("c".utf8))
        #expect(LoopbackServer.Reply.pattern(length: 5).body.isEmpty)
    }

    @Test("A padded head is that much larger")
    func padded() throws {
        server.on(.get, "/a", .text("one").padded(headBytes: 200_000))
        let reply = try client.get("/a")
        #expect(reply.value("X-Padding")?.count == 200_000)
        #expect(reply.text == "one")
    }
}
