internal import Foundation

extension HTTPOrigin {
    /// The base of a client: scheme, host, port, and what stands before every path and query.
    convenience init(base: String) throws(MessageFault) {
        let parts = try Self.components(of: base, part: "base URL")
        var prefix = parts.percentEncodedPath
        let endsWithSlash = prefix.hasSuffix("/")
        while prefix.hasSuffix("/") { prefix.removeLast() }
        self.init(
            scheme: parts.scheme!.lowercased(), host: Self.bareHost(parts), port: Self.port(parts),
            pathPrefix: prefix, query: parts.percentEncodedQuery ?? "", endsWithSlash: endsWithSlash)
    }

    /// An absolute URL as an origin without prefix and a target.
    package static func split(_ url: String) throws(MessageFault) -> (HTTPOrigin, target: String) {
        let parts = try components(of: url, part: "URL")
        var target = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
        if let query = parts.percentEncodedQuery { target += "?" + query }
        return (HTTPOrigin(scheme: parts.scheme!.lowercased(), host: bareHost(parts), port: port(parts)), target)
    }

    private static func components(of text: String, part: String) throws(MessageFault) -> URLComponents {
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }), let parts = URLComponents(string: text) else {
            throw MessageFault(part, "is no URL: percent-encode spaces and other characters that a URL may not hold")
        }
        guard let scheme = parts.scheme?.lowercased() else {
            throw MessageFault(part, "has no scheme: write it out, as in https://api.example.com")
        }
        guard scheme == "http" || scheme == "https" else {
            throw MessageFault(part, "has the scheme \(scheme): only http and https can be sent")
        }
        guard let host = parts.host, !host.isEmpty else {
            throw MessageFault(part, "has no host: write it out, as in https://api.example.com")
        }
        guard parts.user == nil, parts.password == nil else {
            throw MessageFault(part, "holds a user or password: send credentials in the Authorization field")
        }
        if let port = parts.port, !(1...65_535).contains(port) {
            throw MessageFault(part, "has the port \(port): ports are 1 to 65535")
        }
        return parts
    }

    private static func port(_ parts: URLComponents) -> Int {
        parts.port ?? defaultPort(of: parts.scheme!.lowercased())
    }

    private static func bareHost(_ parts: URLComponents) -> String {
        let host = (parts.percentEncodedHost ?? parts.host!).lowercased()
        return host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    }

    /// The target of a request below this base: prefix and path joined with exactly one slash, queries one after
    /// the other (base, path, parameters). Nothing is resolved or replaced: a key that occurs twice is sent twice.
    ///
    /// What a path may not hold literally is percent-encoded; escapes that are there already are kept.
    func target(path: String, query parameters: String = "") throws(MessageFault) -> String {
        var path = path[...]
        var pathQuery: Substring = ""
        if let mark = path.utf8.firstIndex(of: UInt8(ascii: "?")) {
            pathQuery = path[path.index(after: mark)...]
            path = path[..<mark]
        }
        var result = pathPrefix
        if path.isEmpty {
            if result.isEmpty || endsWithSlash { result += "/" }
        } else {
            if path.utf8.first != UInt8(ascii: "/") { result += "/" }
            result += path.utf8.allSatisfy(\.isPathByte) ? String(path) : Self.escape(path)
        }
        if query.isEmpty && pathQuery.isEmpty && parameters.isEmpty { return result }
        var separator = "?"
        for part in [
            query, pathQuery.utf8.allSatisfy(\.isQueryByte) ? String(pathQuery) : Self.escape(pathQuery), parameters,
        ]
        where !part.isEmpty {
            result += separator
            result += part
            separator = "&"
        }
        return result
    }

    /// Percent-encodes what may stand in no path or query; a percent sign is taken as the start of an escape.
    private static func escape(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte.isQueryByte {
                bytes.append(byte)
            } else {
                PercentEncoding.append(byte, to: &bytes)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether the byte may stand literally in a path (RFC 3986, 3.3), the percent sign of an escape included.
    fileprivate var isPathByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "/")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
            true
        case UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"),
            UInt8(ascii: "%"):
            true
        default: false
        }
    }

    fileprivate var isQueryByte: Bool { isPathByte || self == UInt8(ascii: "?") }
}
