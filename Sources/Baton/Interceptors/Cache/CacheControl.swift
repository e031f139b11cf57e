internal import Foundation

/// What a message says about caching it (RFC 9111, 5.2), read by a cache of one user.
struct CacheControl {
    private var directives: [String: String] = [:]

    init(_ fields: HTTPFields) {
        for line in fields.values(for: .cacheControl) {
            for part in line.split(separator: ",") {
                let pair = part.split(separator: "=", maxSplits: 1)
                guard let name = pair.first?.trimmingCharacters(in: .whitespaces).lowercased() else { continue }
                let value = pair.count > 1 ? pair[1].trimmingCharacters(in: CharacterSet(charactersIn: " \t\"")) : ""
                // The first one counts where one is repeated.
                if directives[name] == nil { directives[name] = value }
            }
        }
    }

    func has(_ name: String) -> Bool { directives[name] != nil }

    /// The seconds of a directive; nil where it has none that can be read.
    func seconds(_ name: String) -> Double? {
        directives[name].flatMap { $0.utf8.allSatisfy(\.isDigit) ? Double($0) : nil }
    }
}

extension CacheEntry {
    /// How old the response is, in seconds: since it was stored, and what it was old by then. Never below 0.
    func age(at now: Date) -> Double {
        max(0, now.timeIntervalSince(stored)) + (response?.fields[.age].flatMap { Double($0) }.map { max(0, $0) } ?? 0)
    }

    /// Whether the response may be used without asking the server (RFC 9111, 4.2). Without a word of the server it may
    /// not.
    func isFresh(for request: HTTPRequest, at now: Date) -> Bool {
        guard let response, stored <= now.addingTimeInterval(1) else { return false }
        let asked = CacheControl(request.fields)
        let said = CacheControl(response.fields)
        if asked.has("no-cache") || said.has("no-cache") { return false }
        var lifetime = said.seconds("max-age")
        if lifetime == nil, let text = response.fields[.expires], let end = HTTPDate.parse(text, now: now) {
            let made = response.fields[.date].flatMap { HTTPDate.parse($0, now: now) } ?? stored
            lifetime = end.timeIntervalSince(made)
        }
        guard var lifetime else { return false }
        if let most = asked.seconds("max-age") { lifetime = min(lifetime, most) }
        return age(at: now) < lifetime
    }

    /// The request as a question whether the response is still right; nil when there is nothing to tell it by.
    func validating(_ request: HTTPRequest) -> HTTPRequest? {
        guard let response else { return nil }
        var request = request
        if let tag = response.fields[.etag] { request.fields[.ifNoneMatch] = tag }
        if let date = response.fields[.lastModified] { request.fields[.ifModifiedSince] = date }
        return response.fields.contains(.etag) || response.fields.contains(.lastModified) ? request : nil
    }

    /// The entry after the server said that it is still right (RFC 9111, 3.2).
    func confirmed(by fields: HTTPFields, at now: Date) -> CacheEntry {
        var entry = self
        var fields = fields
        for name in [HTTPFieldName.contentLength, .contentEncoding, .contentType, .transferEncoding] {
            fields[name] = nil
        }
        entry.response?.fields.merge(fields)
        if !fields.contains(.age) { entry.response?.fields[.age] = nil }
        entry.stored = now
        return entry
    }
}

extension HTTPResponse {
    /// The fields that tell variants apart, of all lines; nil when nothing does (`*`).
    var varyingNames: [String]? {
        let names = fields.values(for: .vary).flatMap { $0.split(separator: ",") }
            .map { $0.trimmingCharacters(in: .whitespaces).lowercased() }.filter { !$0.isEmpty }
        return names.contains("*") ? nil : Array(Set(names)).sorted()
    }
}
