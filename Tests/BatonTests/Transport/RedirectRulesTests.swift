import Foundation
import Testing

@testable import Baton

@Suite("Redirect rules") struct RedirectRulesTests {
    private static func request(
        _ method: HTTPMethod = .get, _ target: String = "/b/c/d?q", origin: String = "http://a", body: HTTPBody = .none
    ) throws -> HTTPRequest {
        HTTPRequest(
            method: method, origin: try HTTPOrigin(base: origin), target: target,
            fields: [
                "Authorization": "Bearer t", "Cookie": "c=1", "X-Api-Key": "k", "Host": "a", "X-Plain": "p",
                "Content-Type": "text/plain",
            ], body: body)
    }

    private static func next(
        _ status: Int, _ location: String?, from request: HTTPRequest
    ) throws -> HTTPRequest? {
        let response = HTTPResponse(status: status, fields: location.map { [.location: $0] } ?? [:])
        let redaction = Redaction()
        return try RedirectRules.next(after: response, to: request) { redaction.isSecret($0.rawName) }
    }

    @Test(
        "A Location is resolved as RFC 3986, 5.4 has it",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
            ("//g", "http://g/"), ("//g/h", "http://g/h"), ("?y", "http://a/b/c/d?y"), ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d?q"), ("g#s", "http://a/b/c/g"), ("g?y#s", "http://a/b/c/g?y"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"), ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"),
            ("../..", "http://a/"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("/./g", "http://a/g"),
            ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), ("..g", "http://a/b/c/..g"),
            ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/../h", "http://a/b/c/h"),
            ("g?y/../x", "http://a/b/c/g?y/../x"), ("http://a/x/../y?z", "http://a/y?z"),
            ("HTTPS://B:443", "https://b/"),
            (" /a b ", "http://a/a%20b"), ("/ü%zz", "http://a/%C3%BC%25zz"), ("?x=a:b", "http://a/b/c/d?x=a:b"),
        ])
    func resolution(location: String, url: String) throws {
        #expect(try Self.next(302, location, from: Self.request())?.urlString == url)
    }

    @Test(
        "What is no URL, goes elsewhere than to http and https, or holds a password is refused",
        arguments: [
            "mailto:a@b", "javascript:alert(1)", "http:", "http://", "http://u:p@b/", "//u@b/", "http://[::1", "a:b",
            "http://h:99999/", "/a\u{1}b",
        ])
    func refusals(location: String) throws {
        #expect {
            try Self.next(302, location, from: Self.request())
        } throws: { ($0 as? BatonError)?.code == .redirectRefused }
    }

    @Test(
        "Without a Location, or with another status, a response is no redirect", arguments: [300, 304, 305, 306, 200])
    func noRedirect(status: Int) throws {
        #expect(try Self.next(status, "/x", from: Self.request()) == nil)
        #expect(try Self.next(302, nil, from: Self.request()) == nil)
        #expect(try Self.next(302, " ", from: Self.request()) == nil)
    }

    @Test(
        "Methods become GET where the RFC and practice have it so, and the body goes with its fields",
        arguments: [301, 302, 303, 307, 308])
    func methods(status: Int) throws {
        for method: HTTPMethod in [.get, .head, .post, .put, .delete, .patch, .options] {
            let body: HTTPBody = method == .get || method == .head ? .none : .text("x")
            let next = try #require(try Self.next(status, "/x", from: Self.request(method, body: body)))
            let becomesGet =
                status == 303 ? method != .get && method != .head : status < 303 && method == .post
            #expect(next.method == (becomesGet ? .get : method))
            #expect(next.body.isNone == (becomesGet || body.isNone))
            #expect(next.fields.contains(.contentType) == !becomesGet)
        }
    }

    @Test("A body that can be sent once is not asked for twice")
    func once() throws {
        let body = HTTPBody.stream(HTTPBodyStream(length: 1, isReplayable: false) { throw BatonError(.unsupported) })
        #expect {
            try Self.next(307, "/x", from: Self.request(.put, body: body))
        } throws: { ($0 as? BatonError)?.code == .notReplayable }
        #expect(try Self.next(303, "/x", from: Self.request(.put, body: body))?.body.isNone == true)
    }

    @Test("R24 Another scheme, host or port gets no secrets; the same origin keeps everything")
    func secrets() throws {
        for location in ["http://b/", "https://a/", "http://a:8080/", "//b"] {
            let fields = try #require(try Self.next(302, location, from: Self.request())).fields
            #expect(fields.map(\.name.rawName) == ["X-Plain", "Content-Type"])
        }
        for location in ["/y", "http://A:80/y", "//a/y"] {
            let next = try #require(try Self.next(302, location, from: Self.request()))
            #expect(next.fields.count == 6)
        }
    }
}
