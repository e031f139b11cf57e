/// References to URLs as responses hold them: absolute or relative (RFC 3986, 4.1).
package enum URLReference {
    /// Where `reference` leads from `request`, resolved by RFC 3986, 5.2.2; a fragment is dropped. Spaces are
    /// percent-encoded, since servers send them. The origin is that of `request`, the object too, where it stays.
    package static func resolve(
        _ reference: String, from request: HTTPRequest
    ) throws(MessageFault) -> (origin: HTTPOrigin, target: String) {
        let text = Substring(reference).trimmingBlanks.split(separator: " ", omittingEmptySubsequences: false)
            .joined(separator: "%20")
        let rest = text.prefix { $0 != "#" }
        if rest.hasPrefix("//") { return try absolute("\(request.origin.scheme):\(rest)", request.origin) }
        let colon = rest.firstIndex { $0 == ":" || $0 == "/" || $0 == "?" }
        if let colon, rest[colon] == ":" { return try absolute(String(rest), request.origin) }
        guard !rest.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw MessageFault("URL", "holds a control character")
        }
        let mark = rest.firstIndex(of: "?")
        let path = rest[..<(mark ?? rest.endIndex)]
        var target: String
        if path.isEmpty {
            target = String(request.path)
            if mark == nil, let query = request.query { target += "?\(query)" }
        } else if path.hasPrefix("/") {
            target = withoutDots(path)
        } else {
            let base = request.path
            target = withoutDots(base[...(base.lastIndex(of: "/") ?? base.startIndex)] + path)
        }
        if !path.isEmpty { target = URLText.escape(target[...], .path) }
        if let mark { target += "?" + URLText.escape(rest[rest.index(after: mark)...], .query) }
        return (request.origin, target)
    }

    private static func absolute(
        _ url: String, _ home: HTTPOrigin
    ) throws(MessageFault) -> (origin: HTTPOrigin, target: String) {
        let (origin, target) = try HTTPOrigin.split(url)
        let mark = target.firstIndex(of: "?") ?? target.endIndex
        return (origin.isSameOrigin(as: home) ? home : origin, withoutDots(target[..<mark]) + target[mark...])
    }

    /// A path with its `.` and `..` segments worked off (RFC 3986, 5.2.4).
    static func withoutDots(_ path: some StringProtocol) -> String {
        var result: [Substring] = []
        let segments = Substring(path).split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for (index, segment) in zip(segments.indices, segments) {
            let isLast = index == segments.endIndex - 1
            switch segment {
            case ".": if isLast { result.append("") }
            case "..":
                _ = result.popLast()
                if isLast { result.append("") }
            default: result.append(segment)
            }
        }
        return "/" + result.joined(separator: "/")
    }
}
