import Foundation
import Testing

@testable import Baton
@testable import BatonTesting

@Suite("Parsers of fields, bodies and files under mutated input")
struct WireParserFuzzTests {
    private static let origin = HTTPOrigin(scheme: "https", host: "a.example.com", port: 443)
    private static let now = Date(timeIntervalSince1970: 1_780_000_000)

    /// Feeds mutations of the seeds to `check`, which says what does not hold; nil when all does.
    private static func feed(
        _ seeds: [String], count: Int, seed: UInt64, _ check: (_ bytes: [UInt8], _ text: String) -> String?
    ) {
        feed(seeds.map { Array($0.utf8) }, count: count, seed: seed, check)
    }

    private static func feed(
        _ seeds: [[UInt8]], count: Int, seed: UInt64, _ check: (_ bytes: [UInt8], _ text: String) -> String?
    ) {
        var mutations = Mutations(of: seeds, seed: seed)
        for _ in 0..<count {
            let bytes = mutations.next()
            if let failure = check(bytes, String(decoding: bytes, as: UTF8.self)) {
                Issue.record("\(failure), seed \(seed), input \(bytes)")
                return
            }
        }
    }

    private static let fields = Scale.count(40_000, everyday: 4_000) / 2
    private static let bodies = Scale.count(16_000, everyday: 1_600) / 2

    @Test(
        "Set-Cookie: a cookie that is kept lies within its host, and has a name and no control characters",
        arguments: [1, 2] as [UInt64])
    func cookies(seed: UInt64) {
        let seeds = [
            "sid=31d4d96e407aad42; Path=/a/b; Domain=.example.com; Secure; HttpOnly; SameSite=Lax",
            "__Host-id=\"x y\"; Secure; Path=/",
            "a=; Max-Age=99999999999999999999; Expires=Wed, 21 Oct 2099 07:28:00 GMT",
            "b=é; Max-Age=-1; Domain=com", "c = d ;;; = ; path", "n=v; expires=1:2:3 31-Feb-69; domain=A.EXAMPLE.COM",
        ]
        Self.feed(seeds, count: Self.fields, seed: seed) { _, text in
            guard let cookie = Cookie(line: text, from: Self.origin, path: "/x/y", now: Self.now) else { return nil }
            guard !cookie.name.isEmpty, cookie.path.hasPrefix("/") else { return "no name, or a path that is none" }
            guard !(cookie.name + cookie.value).utf8.contains(where: { $0 < 0x20 && $0 != 9 || $0 == 0x7F }) else {
                return "a control character in a cookie"
            }
            guard cookie.domain == Self.origin.host || Self.origin.host.hasSuffix(".\(cookie.domain)"),
                cookie.domain.contains(".")
            else { return "a cookie of a foreign domain" }
            if let expiry = cookie.expiry, !expiry.timeIntervalSince1970.isFinite { return "an end that is no time" }
            let jar = CookieJar(maxCount: 3)
            jar.set(cookie)
            return jar.cookies.count <= 1 ? nil : "one cookie became several"
        }
    }

    @Test(
        "Cache-Control, Age, Expires and Vary: ages and lifetimes are never below zero", arguments: [1, 2] as [UInt64])
    func caching(seed: UInt64) {
        let seeds = [
            "max-age=60, stale-while-revalidate=\"30\", no-cache=\"set-cookie\"",
            "public, max-age=99999999999999999999",
            "no-store, private, , =5, max-age", "max-age=-1, MAX-AGE=5", "Wed, 21 Oct 2099 07:28:00 GMT", "nan", "-7",
            "inf",
            "Accept-Encoding, *", "accept , , Accept",
        ]
        Self.feed(seeds, count: Self.fields, seed: seed) { _, text in
            var response = HTTPResponse(status: 200)
            for name in [HTTPFieldName.cacheControl, .age, .expires, .date, .vary, .etag, .lastModified] {
                response.fields.append(text, for: name)
            }
            let control = CacheControl(response.fields)
            for name in ["max-age", "stale-while-revalidate", "no-cache"] {
                if let seconds = control.seconds(name), !(seconds >= 0) { return "a lifetime below zero" }
            }
            let entry = CacheEntry(response: response, stored: Self.now)
            guard entry.age(at: Self.now) >= 0 else { return "an age below zero" }
            let request = HTTPRequest(method: .get, origin: Self.origin, target: "/", fields: response.fields)
            _ = entry.isFresh(for: request, at: Self.now)
            _ = entry.validating(request)
            _ = entry.confirmed(by: response.fields, at: Self.now)
            if let names = response.varyingNames, names.contains(where: { $0.isEmpty || $0 == "*" }) {
                return "a varying field without a name"
            }
            return nil
        }
    }

    @Test(
        "Content-Range, ETag and Last-Modified: a range is in order and within its whole",
        arguments: [1, 2] as [UInt64])
    func ranges(seed: UInt64) {
        let seeds = [
            "bytes 5-9/10", "bytes 0-0/*", "bytes */47", "BYTES  0 - 9223372036854775806 / 9223372036854775807",
            "bytes 9-5/10", "bytes 1-2/2", "\"tag\"", "W/\"tag\"", "Sun, 06 Nov 1994 08:49:37 GMT",
        ]
        Self.feed(seeds, count: Self.fields, seed: seed) { _, text in
            if let range = ContentRange(text) {
                guard range.start >= 0, range.start <= range.end, range.total.map({ $0 > range.end }) ?? true else {
                    return "a range out of order"
                }
            }
            var fields = HTTPFields()
            for name in [HTTPFieldName.etag, .lastModified, .date] { fields.append(text, for: name) }
            if let validator = ResumeNote.Validator(fields) {
                guard !validator.text.isEmpty, validator.fits(fields) else { return "a state that does not fit itself" }
            }
            return nil
        }
    }

    @Test(
        "Content types and names of files: the one that is said is accepted where it is asked for",
        arguments: [1, 2] as [UInt64])
    func mediaTypes(seed: UInt64) {
        let seeds = [
            "application/json; charset=utf-8", "Image/PNG", "text/*", "text/html;", ";", "a/b/c; q=\"x;y\"",
            " text/plain ",
            "movie.tar.gz", ".hidden", "a.", "é.PDF",
        ]
        let body = Data("x".utf8)
        Self.feed(seeds, count: Self.fields, seed: seed) { _, text in
            let type = MediaType.ofFile(named: text)
            guard type.contains("/") else { return "a media type without a kind" }
            let validation = Validation(contentTypes: [type])
            guard validation.refusal(of: HTTPResponse(status: 200, fields: [.contentType: type], body: body)) == nil
            else {
                return "a type that was asked for is refused"
            }
            var response = HTTPResponse(status: 200, body: body)
            response.fields.append(text, for: .contentType)
            if let error = validation.refusal(of: response), error.code != .unacceptableContentType {
                return "refused as \(error.code)"
            }
            _ = Validation(contentTypes: [text]).refusal(of: response)
            return nil
        }
    }

    @Test("Redirects: the next request goes to http or https, or there is none", arguments: [1, 2] as [UInt64])
    func redirects(seed: UInt64) {
        let seeds = [
            "https://user@[2001:db8::1%25x]:8080/a%2/b?c=%zz&d#e", "//b.example/x", "?q", "#f", "../../x/./y/..",
            "ftp://h/",
            "http://1.2.3.4:99999/", "/a b", "\u{0}", "javascript:alert(1)", "https:/one", "é/ü",
        ]
        let request = HTTPRequest(method: .post, origin: Self.origin, target: "/a/b?c", fields: ["Cookie": "s"])
        Self.feed(seeds, count: Self.fields, seed: seed) { _, text in
            do throws(BatonError) {
                var response = HTTPResponse(status: 302)
                response.fields.append(text, for: .location)
                guard let next = try RedirectRules.next(after: response, to: request, isSecret: { $0 == "Cookie" })
                else {
                    return nil
                }
                guard ["http", "https"].contains(next.origin.scheme), next.target.hasPrefix("/"), next.method == .get
                else {
                    return "a redirect to nowhere"
                }
                guard next.origin.isSameOrigin(as: Self.origin) || next.fields.isEmpty else {
                    return "a secret leaves home"
                }
                return next.target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? nil : "a target is no ASCII"
            } catch {
                return error.code == .redirectRefused ? nil : "refused as \(error.code)"
            }
        }
    }

    private struct Value: Codable, Response, Equatable {
        let n: Int
        let list: [String]?
    }

    /// The codes of the errors that outputs of several types end with.
    private static func read(_ response: HTTPResponse, _ coding: BodyCoding) -> String? {
        let context = _PlanContext(base: nil, fields: [:], coding: coding)
        let types: [any Response.Type] = [
            Value.self, Value?.self, [Value].self, [String: Int].self, String.self, Data.self, JSONValue.self,
            EmptyResponse.self, HTTPResponse.self,
        ]
        for type in types {
            do throws(BatonError) {
                _ = try ResponseReader.read(type, from: response, in: context)
            } catch {
                guard error.code == .decodingFailed || error.code == .emptyBody, error.response?.body == response.body
                else {
                    return "reading \(type) ended with \(error.code)"
                }
            }
        }
        return nil
    }

    @Test(
        "Envelopes: a payload, no envelope, or an error that says so and holds the response",
        arguments: [1, 2] as [UInt64])
    func envelopes(seed: UInt64) {
        let seeds = [
            #"{"code":0,"message":"ok","data":{"n":1,"list":["é"]}}"#, #"{"code":"0","data":null}"#,
            #"{"code":100010,"message":["no"],"data":[]}"#, #"{"code":1.50,"data":"text"}"#, #"{"data":{"n":1}}"#,
            #"{"meta":{"code":0,"list":[{"data":7}]}}"#, "[1,2]", "null", "", #"{"code":-0.0,"data":{"n":2}}"#,
        ]
        let envelopes = [
            Envelope(failures: [100_010: .signIn()]), Envelope(code: "meta.code", payload: "meta.list.0.data"),
            Envelope(payload: nil),
        ]
        Self.feed(seeds, count: Self.bodies, seed: seed) { bytes, _ in
            for envelope in envelopes {
                var response = HTTPResponse(status: 200, fields: [.contentType: "application/json"], body: Data(bytes))
                if let error = envelope.refusal(of: response, json: &response.json) {
                    guard error.code == .businessFailure || error.code == .decodingFailed,
                        error.response?.body == Data(bytes)
                    else { return "refused as \(error.code)" }
                }
                response.reading = ResponseReading(envelope: envelope)
                if let failure = Self.read(response, BodyCoding()) { return failure }
            }
            return nil
        }
    }

    @Test("Property lists: a value, or an error that holds the response", arguments: [1, 2] as [UInt64])
    func propertyLists(seed: UInt64) throws {
        let values: [PropertyListEncoder] = [.xml, .binary].map {
            (format: PropertyListSerialization.PropertyListFormat) in
            let encoder = PropertyListEncoder()
            encoder.outputFormat = format
            return encoder
        }
        var seeds: [[UInt8]] = [Array(repeating: 0xFF, count: 20)]
        for encoder in values {
            seeds.append(Array(try encoder.encode(Value(n: 7, list: ["é", ""]))))
            seeds.append(Array(try encoder.encode(["a": 1, "b": 2])))
            seeds.append(Array(try encoder.encode([Value(n: -1, list: nil)])))
        }
        Self.feed(seeds, count: Self.bodies, seed: seed) { bytes, _ in
            Self.read(HTTPResponse(status: 200, body: Data(bytes)), .propertyList)
        }
    }

    @Test(
        "HAR files: recordings that can be played, or an error that says what is wrong where",
        arguments: [1, 2] as [UInt64])
    func archives(seed: UInt64) {
        let entry = #"""
            {"startedDateTime":"2026-05-25T22:46:27.580Z","time":12.5,"request":{"method":"POST","url":"https://u:p@h.example/a?q=1",
            "httpVersion":"HTTP/2","headers":[{"name":":path","value":"/a"},{"name":"Accept","value":"*/*"}],"queryString":[],
            "postData":{"mimeType":"application/x-www-form-urlencoded","params":[{"name":"a b","value":"é"}]}},
            "response":{"status":200,"statusText":"OK","headers":[{"name":"Content-Length","value":"7"}],
            "content":{"size":3,"mimeType":"text/plain","text":"YWJj","encoding":"base64"},"redirectURL":""},
            "timings":{"blocked":-1,"send":1e400,"wait":2,"receive":-3}}
            """#
        let seeds = [
            #"{"log":{"version":"1.2","entries":[\#(entry)]}}"#, #"{"log":{"entries":[]}}"#,
            #"{"log":{"entries":[\#(entry.replacingOccurrences(of: "200", with: "0"))]}}"#,
        ]
        let redaction = Redaction()
        Self.feed(seeds, count: Self.bodies / 2, seed: seed) { bytes, _ in
            do throws(BatonError) {
                for entry in try HAR.read(Data(bytes), name: "tape.har") {
                    let (request, response) = (entry.httpRequest, entry.httpResponse)
                    if let request, request.origin.host.contains("@") { return "a user in a host" }
                    if let response, response.status <= 0 { return "a response without a status" }
                    _ = entry.redacted(by: redaction)
                }
                return nil
            } catch {
                guard error.code == .invalidConfiguration, error.message.hasPrefix("tape.har is no HAR file") else {
                    return "it ended with \(error)"
                }
                return nil
            }
        }
    }
}
