import Baton
import Foundation
import Testing

@Suite("Base URLs and paths")
struct HTTPOriginTests {
    @Test(
        "P07 queries of base, path and parameters are merged in that order, never replaced",
        arguments: [
            ("https://h", "/login.do?key=1", "b=2", "https://h/login.do?key=1&b=2"),
            ("https://h/get?data=1", "/x", "b=2", "https://h/get/x?data=1&b=2"),
            ("https://h/get?a=1", "x?a=2", "a=3", "https://h/get/x?a=1&a=2&a=3"),
            ("https://h/get?a=1", "", "", "https://h/get?a=1"),
            ("https://h/get", "?a=1", "b=2", "https://h/get?a=1&b=2"),
            ("https://h", "/x?", "", "https://h/x"),
            ("https://h/?", "/x", "", "https://h/x"),
            ("https://h", "/x?a=b?c/d", "", "https://h/x?a=b?c/d"),
        ])
    func merged(base: String, path: String, parameters: String, expected: String) throws {
        #expect(try Self.url(base, path, parameters) == expected)
    }

    @Test(
        "P08 a path is appended to the base with exactly one slash",
        arguments: ["https://h/api/v1", "https://h/api/v1/", "https://h/api/v1//"],
        [("users", "/users"), ("/users", "/users"), ("users/", "/users/"), ("//users", "/users"), ("../x", "/../x")])
    func appended(base: String, path: (given: String, expected: String)) throws {
        #expect(try Self.url(base, path.given) == "https://h/api/v1" + path.expected)
    }

    @Test(
        "P08 an empty path gives the base byte for byte",
        arguments: [
            "https://h/api/v1", "https://h/api/v1/", "https://h/", "https://h/a%20b", "https://h/a//",
            "https://h/a?b=c",
            "http://h:8080/x",
        ])
    func emptyPath(base: String) throws {
        #expect(try Self.url(base, "") == base)
    }

    @Test("P08 a base without a path gets the slash that a request line needs")
    func rootPath() throws {
        #expect(try Self.url("https://h", "") == "https://h/")
        #expect(try Self.url("https://h", "users") == "https://h/users")
    }

    @Test("P08 a path that looks like a URL stays below the base")
    func staysAtHome() throws {
        #expect(try Self.url("https://h/api", "https://evil/x") == "https://h/api/https://evil/x")
        #expect(try Self.url("https://h", "//evil/x") == "https://h/evil/x")
    }

    @Test(
        "What may not stand in a path is escaped once; escapes are kept",
        arguments: [
            ("/a b", "/a%20b"), ("/a%20b", "/a%20b"), ("/%zz", "/%25zz"), ("/100%", "/100%25"), ("/%4", "/%254"),
            ("/é😀", "/%C3%A9%F0%9F%98%80"), ("/a[0]|b", "/a%5B0%5D%7Cb"), ("/a\r\nb", "/a%0D%0Ab"),
            ("/a:b@c;d=e,f+g", "/a:b@c;d=e,f+g"), ("/x?q=%zz é", "/x?q=%25zz%20%C3%A9"), ("/\\x", "/%5Cx"),
            ("/a%2Fb", "/a%2Fb"),
        ])
    func escaped(path: String, target: String) throws {
        let origin = try HTTPOrigin(base: "https://h")
        #expect(try origin.target(path: path) == target)
        if let plain = origin.target(ofPlain: path) { #expect(plain == target) }
        // The URL that is shown is the URL that is sent.
        let request = HTTPRequest(origin: origin, target: target)
        #expect(request.url?.absoluteString == request.urlString)
    }

    @Test("A fragment in a path is refused, one in a URL is dropped")
    func fragments() throws {
        #expect(throws: MessageFault.self) { try Self.url("https://h", "/x#top") }
        #expect(try Self.url("https://h/a#top", "b") == "https://h/a/b")
        #expect(try HTTPOrigin.split("https://h/a?b#c?d").target == "/a?b")
    }

    @Test(
        "Hosts and ports are read and written as the Host field has them",
        arguments: [
            ("https://API.Example.com", "api.example.com", 443, "https://api.example.com"),
            ("HTTP://h:80/x", "h", 80, "http://h"), ("http://h:8080", "h", 8080, "http://h:8080"),
            ("https://h:/x", "h", 443, "https://h"), ("http://127.0.0.1:1", "127.0.0.1", 1, "http://127.0.0.1:1"),
            ("http://[::1]:8080/x", "::1", 8080, "http://[::1]:8080"),
            ("https://[2001:DB8::1]", "2001:db8::1", 443, "https://[2001:db8::1]"),
            ("http://[::ffff:1.2.3.4]", "::ffff:1.2.3.4", 80, "http://[::ffff:1.2.3.4]"),
            ("https://bücher.example/x", "xn--bcher-kva.example", 443, "https://xn--bcher-kva.example"),
            ("https://my_host.local.", "my_host.local.", 443, "https://my_host.local."),
        ])
    func hosts(base: String, host: String, port: Int, description: String) throws {
        let origin = try HTTPOrigin(base: base)
        #expect(origin.host == host)
        #expect(origin.port == port)
        #expect(origin.description == description)
        #expect(try HTTPOrigin.split(base).0.isSameOrigin(as: origin))
    }

    @Test(
        "What is no absolute http URL is refused, and secrets in it are not repeated",
        arguments: [
            "", "h", "/x", "h/x", "https:", "https://", "https:///x", "https:/h", "ftp://h", "://h", "localhost:8080",
            "https://u:SECRET@h", "https://h:x", "https://h:0", "https://h:65536", "https://h:99999999999999999999",
            "https://h h", "https://h\n", "https://[::1", "https://[::1]x", "https://[1:2]", "https://[::1%25eth0]",
            "https://[1:2:3:4:5:6:7:8:9]", "https://[::1::]", "https://[:1:2:3:4:5:6:7]", "https://h%41",
            "https://h\\x",
            "https://[]", "https://a:b:c", "https://[::1.2.3]", "https://a<b>",
        ])
    func refused(base: String) {
        #expect {
            try HTTPOrigin(base: base)
        } throws: { error in
            guard let fault = error as? MessageFault else { return false }
            return fault.part == "base URL" && !fault.reason.contains("SECRET")
        }
    }

    @Test("A URL is split into an origin without prefix and a target")
    func splitting() throws {
        let (origin, target) = try HTTPOrigin.split("https://h/a b".replacing(" ", with: "%20") + "?q=é")
        #expect(target == "/a%20b?q=%C3%A9")
        #expect(origin.pathPrefix.isEmpty)
        #expect(try HTTPOrigin.split("https://h").target == "/")
        #expect(try HTTPOrigin.split("https://h?a").target == "/?a")
    }

    private static func url(_ base: String, _ path: String, _ parameters: String = "") throws -> String {
        let origin = try HTTPOrigin(base: base)
        return HTTPRequest(origin: origin, target: try origin.target(path: path, query: parameters)).urlString
    }
}
