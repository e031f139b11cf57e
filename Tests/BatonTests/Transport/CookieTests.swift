import Foundation
import Testing

@testable import Baton

@Suite("Cookies") struct CookieTests {
    private static let now = Date(timeIntervalSince1970: 1_000_000_000)

    private static func request(_ url: String) throws -> HTTPRequest { try HTTPRequest(url: url) }

    /// What a jar sends to a URL after it was told a line by another one.
    private static func sent(
        _ lines: [String], from: String = "https://www.example.com/dir/file", to: String? = nil,
        after seconds: TimeInterval = 0
    ) throws -> String? {
        let jar = CookieJar()
        let response = HTTPResponse(
            status: 200, fields: HTTPFields(lines.map { HTTPFields.Line(name: .setCookie, value: $0) }))
        jar.store(response, to: try request(from), at: now)
        return jar.field(for: try request(to ?? from), at: now.addingTimeInterval(seconds))
    }

    @Test("Without attributes it goes to the same host, and to the same directory and below")
    func defaults() throws {
        #expect(try Self.sent(["a=1"]) == "a=1")
        for (url, isSent) in [
            ("https://www.example.com/dir", true), ("https://www.example.com/dir/", true),
            ("https://www.example.com/dir/sub/x?q", true), ("http://www.example.com:8080/dir/x", true),
            ("https://www.example.com/directory", false), ("https://www.example.com/", false),
            ("https://example.com/dir/", false), ("https://sub.www.example.com/dir/", false),
        ] {
            #expect(try Self.sent(["a=1"], to: url) == (isSent ? "a=1" : nil), "\(url)")
        }
    }

    @Test(
        "A domain widens it to hosts below, and must hold the host that sets it",
        arguments: [
            ("example.com", "https://other.example.com/dir/", true), (".Example.COM", "https://example.com/dir/", true),
            ("example.com", "https://badexample.com/dir/", false),
            ("www.example.com", "https://example.com/dir/", false),
            ("sub.www.example.com", "https://sub.www.example.com/dir/", false),
            ("com", "https://www.example.com/dir/", false),
            ("other.com", "https://other.com/dir/", false), ("", "https://www.example.com/dir/", true),
        ])
    func domains(domain: String, url: String, isSent: Bool) throws {
        #expect(try Self.sent(["a=1; Domain=\(domain)"], to: url) == (isSent ? "a=1" : nil))
    }

    @Test("A host of one label and an address have cookies of their own only")
    func lonelyHosts() throws {
        #expect(try Self.sent(["a=1; Domain=localhost"], from: "http://localhost/") == "a=1")
        #expect(try Self.sent(["a=1; Domain=localhost"], from: "http://localhost/", to: "http://x.localhost/") == nil)
        #expect(try Self.sent(["a=1; Domain=127.0.0.1"], from: "http://127.0.0.1/") == "a=1")
        #expect(try Self.sent(["a=1; Domain=0.0.1"], from: "http://127.0.0.1/") == nil)
    }

    @Test("Paths, Secure, names with promises, and lines that are none")
    func attributes() throws {
        #expect(try Self.sent(["a=1; Path=/x"], to: "https://www.example.com/x/y") == "a=1")
        #expect(try Self.sent(["a=1; Path=/x"]) == nil)
        #expect(try Self.sent(["a=1; Path=x"]) == "a=1")
        #expect(try Self.sent(["a=1; secure; HttpOnly"]) == "a=1")
        #expect(try Self.sent(["a=1; secure"], to: "http://www.example.com/dir/") == nil)
        #expect(try Self.sent(["a=1; secure"], from: "http://h.example/", to: "https://h.example/") == nil)
        #expect(try Self.sent(["__Host-a=1; Secure; Path=/", "__Host-b=1; Secure", "__Secure-c=1"]) == "__Host-a=1")
        #expect(try Self.sent(["novalue", "=x", "", "a\u{1}=1", ";a=1"]) == nil)
        #expect(try Self.sent([" a = \"q w\" ; x", "b="]) == "a=\"q w\"; b=")
    }

    @Test("It ends by Max-Age, or else by Expires in any of its forms, and a past end removes it")
    func ends() throws {
        #expect(try Self.sent(["a=1; Max-Age=10"], after: 9) == "a=1")
        #expect(try Self.sent(["a=1; Max-Age=10"], after: 10) == nil)
        #expect(try Self.sent(["a=1; Max-Age=10; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], after: 9) == "a=1")
        #expect(try Self.sent(["a=1; Max-Age=x; Expires=nonsense"], after: 1e9) == "a=1")
        #expect(try Self.sent(["a=1", "a=; Max-Age=0"]) == nil)
        #expect(try Self.sent(["a=1", "a=; Max-Age=-1"]) == nil)
        #expect(try Self.sent(["a=1", "a=2"]) == "a=2")
        let day = Date(timeIntervalSince1970: 1_445_412_480)
        for text in [
            "Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21-Oct-15 07:28:00 GMT", "Wed Oct 21 07:28:00 2015",
            "21 oct 2015 7:28:00",
        ] {
            #expect(CookieDate.parse(text[...]) == day)
        }
        for text in ["", "21 Oct 2015", "32 Oct 2015 07:28:00", "21 Oct 2015 24:28:00", "Oct 2015 07:28:00"] {
            #expect(CookieDate.parse(text[...]) == nil)
        }
    }

    @Test("Longer paths come first, then older cookies; there is a limit for each domain and for all")
    func orderAndLimits() throws {
        #expect(try Self.sent(["a=1; Path=/", "b=2; Path=/dir", "c=3; Path=/"]) == "b=2; a=1; c=3")
        let jar = CookieJar(maxCount: 5, maxPerDomain: 3)
        for n in 0..<4 { jar.set(Cookie("n\(n)", "", domain: "a.example")) }
        #expect(jar.cookies.map(\.name) == ["n1", "n2", "n3"])
        for n in 0..<3 { jar.set(Cookie("m\(n)", "", domain: "b.example")) }
        #expect(jar.cookies.map(\.name) == ["n2", "n3", "m0", "m1", "m2"])
        jar.set(Cookie("big", String(repeating: "x", count: 5_000), domain: "c.example"))
        #expect(jar.cookies.count == 5)
        jar.remove { $0.domain == "b.example" }
        #expect(jar.cookies.count == 2)
        jar.removeAll()
        #expect(jar.cookies.isEmpty)
    }

    @Test("Lines that were joined with commas are told apart, dates or not")
    func joined() {
        let text = "a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT, b=2; Path=/,c=3, and more"
        #expect(
            SetCookie.lines(in: text) == ["a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT", "b=2; Path=/", "c=3, and more"])
    }

    @Test("Neither a cookie nor a jar shows a value when it is printed")
    func printing() {
        let jar = CookieJar()
        let cookie = Cookie("session", "s3cret", domain: "a.example")
        jar.set(cookie)
        var dumped = ""
        dump([cookie], to: &dumped)
        dump(jar, to: &dumped)
        #expect(!"\(cookie) \(String(reflecting: cookie)) \(jar) \(dumped)".contains("s3cret"))
    }
}
