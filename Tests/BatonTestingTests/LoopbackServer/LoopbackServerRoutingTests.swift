import Baton
import BatonTesting
import Foundation
import Testing

@Suite("The loopback server finds the reply for a request")
struct LoopbackServerRoutingTests {
    let server: LoopbackServer
    let client: RawClient

    init() throws {
        server = try LoopbackServer()
        client = try RawClient(server)
    }

    @Test("The base URL names the loopback address and the port")
    func baseURL() {
        #expect(server.baseURL == "http://127.0.0.1:\(server.port)")
    }

    @Test("A fixed reply is given each time")
    func fixed() throws {
        server.on(.get, "/orders/7", .json(#"{"total": 3}"#))
        for _ in 0..<3 {
            let reply = try client.get("/orders/7")
            #expect(reply.statusLine == "HTTP/1.1 200 OK")
            #expect(reply.value("content-type") == "application/json")
            #expect(reply.text == #"{"total": 3}"#)
        }
        #expect(server.activity.connections == 1)
    }

    @Test("A closure answers from the request")
    func closure() throws {
        server.on(.get, "/orders/*") { request in .text("\(request.path) with \(request.query ?? "nothing")") }
        #expect(try client.get("/orders/8").text == "/orders/8 with nothing")
        #expect(try client.get("/orders/9?a=1").text == "/orders/9 with a=1")
    }

    @Test("Scripted replies come in order, and the last one stays")
    func script() throws {
        server.on(.post, "/x", [.status(503), .status(429), .status(200)])
        let statuses = try (0..<5).map { _ in try client.request("POST", "/x", body: "a").status }
        #expect(statuses == [503, 429, 200, 200, 200])
    }

    @Test("Enqueued replies come before routes, whatever the path")
    func enqueued() throws {
        server.on(.get, "/x", .text("route"))
        server.enqueue(.text("first"), .text("second"))
        #expect(try client.get("/any").text == "first")
        #expect(try client.get("/x").text == "second")
        #expect(try client.get("/x").text == "route")
    }

    @Test("A request without a route is answered with 404, its method and its path")
    func unmatched() throws {
        let reply = try client.request("DELETE", "/nowhere?x=1")
        #expect(reply.status == 404)
        #expect(reply.text == "no route for DELETE /nowhere\n")
    }

    @Test("An empty script answers like no route")
    func emptyScript() throws {
        server.on(.get, "/x", [])
        #expect(try client.get("/x").status == 404)
    }

    @Test(
        "Wildcards stand for segments",
        arguments: [
            ("/a/*", "/a/b", true), ("/a/*", "/a/b/c", false), ("/a/*", "/a", false), ("/a/*/c", "/a/b/c", true),
            ("/a/*/c", "/a/b/d", false), ("/a/**", "/a/b/c", true), ("/a/**", "/a", true), ("/a/**", "/b", false),
            ("/**", "/", true), ("*", "*", true), ("/a/*", "/a/b?q=1", true),
        ])
    func wildcards(pattern: String, target: String, matches: Bool) throws {
        server.on(.options, pattern, .status(200))
        #expect(try client.request("OPTIONS", target).status == (matches ? 200 : 404))
    }

    @Test("The more special route wins, and of two patterns the later one")
    func order() throws {
        server.on(.get, "/a/b?x=1", .text("target"))
        server.on(.get, "/a/b", .text("path"))
        server.on(.get, "/a/*", .text("early pattern"))
        server.on(.get, "/*/c", .text("late pattern"))
        server.onAnyMethod("/a/b", .text("any"))
        #expect(try client.get("/a/b?x=1").text == "target")
        #expect(try client.get("/a/b?x=2").text == "path")
        #expect(try client.get("/a/c").text == "late pattern")
        #expect(try client.get("/a/d").text == "early pattern")
        #expect(try client.request("PUT", "/a/b", body: "").text == "any")
    }

    @Test("A route with the same method and path takes the place of the earlier one, also of a pattern")
    func replaced() throws {
        server.on(.get, "/a", .text("one"))
        server.on(.get, "/a", .text("two"))
        server.on(.get, "/b/*", [.text("one"), .text("one more")])
        server.on(.get, "/b/*", .text("two"))
        #expect(try client.get("/a").text == "two")
        #expect(try client.get("/b/c").text == "two")
    }

    @Test("Removed routes answer no more")
    func removed() throws {
        server.on(.get, "/a", .text("one"))
        server.enqueue(.text("queued"))
        server.removeRoutes()
        #expect(try client.get("/a").status == 404)
    }

    @Test("A method of one's own is found as it is written")
    func methods() throws {
        server.on("PURGE", "/a", .status(200))
        #expect(try client.request("PURGE", "/a").status == 200)
        #expect(try client.request("purge", "/a").status == 404)
    }
}
