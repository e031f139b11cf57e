internal import Foundation

extension HTTPOrigin {
    /// The base of a client: scheme, host, port, and what stands before every path and query.
    ///
    /// What a path or query may not hold literally is percent-encoded, a percent sign that starts no escape too;
    /// a fragment is dropped, because it is never sent (RFC 9110, 7.1). Spaces and control characters, user info,
    /// IPv6 zones and hosts with escapes are refused. A host outside ASCII becomes its IDNA form.
    package convenience init(base: String) throws(MessageFault) {
        let parts = try URLParts(base, part: "base URL")
        self.init(
            scheme: parts.scheme, host: parts.host, port: parts.port, basePath: URLText.escape(parts.path, .path),
            query: URLText.escape(parts.query ?? "", .query))
    }

    /// An absolute URL as an origin without prefix and a target; it is read as a base is.
    package static func split(_ url: String) throws(MessageFault) -> (HTTPOrigin, target: String) {
        let parts = try URLParts(url, part: "URL")
        var target = parts.path.isEmpty ? "/" : URLText.escape(parts.path, .path)
        if let query = parts.query { target += "?" + URLText.escape(query, .query) }
        return (HTTPOrigin(scheme: parts.scheme, host: parts.host, port: parts.port), target)
    }
}

/// An absolute http or https URL, taken apart; path and query are as they were written.
private struct URLParts {
    let scheme: String
    let host: String
    let port: Int
    let path: Substring
    let query: Substring?

    init(_ text: String, part: String) throws(MessageFault) {
        guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
            throw MessageFault(part, "is no URL: percent-encode spaces and other characters that a URL may not hold")
        }
        guard let colon = text.firstIndex(of: ":"), let scheme = Self.scheme(text[..<colon]) else {
            throw MessageFault(part, "has no scheme: write it out, as in https://api.example.com")
        }
        let rest = text[text.index(after: colon)...]
        guard rest.hasPrefix("//") else {
            // `localhost:8080` reads as a scheme too.
            throw MessageFault(part, "has no scheme and host: write them out, as in https://api.example.com")
        }
        guard scheme == "http" || scheme == "https" else {
            throw MessageFault(part, "has the scheme \(scheme): only http and https can be sent")
        }
        let afterSlashes = rest.dropFirst(2)
        let isEnd: (Character) -> Bool = { $0 == "/" || $0 == "?" || $0 == "#" }
        let authorityEnd = afterSlashes.firstIndex(where: isEnd) ?? afterSlashes.endIndex
        (host, port) = try Self.hostAndPort(
            afterSlashes[..<authorityEnd], defaultPort: HTTPOrigin.defaultPort(of: scheme), part: part)
        let target = afterSlashes[authorityEnd...].prefix { $0 != "#" }
        let mark = target.firstIndex(of: "?")
        path = target[..<(mark ?? target.endIndex)]
        query = mark.map { target[target.index(after: $0)...] }
        self.scheme = scheme
    }

    private static func scheme(_ text: Substring) -> String? {
        let isFine = text.utf8.allSatisfy {
            (97...122).contains($0.asciiLowercased) || $0.isDigit || $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-")
                || $0 == UInt8(ascii: ".")
        }
        return isFine && !text.isEmpty ? text.lowercased() : nil
    }

    private static func hostAndPort(
        _ authority: Substring, defaultPort: Int, part: String
    ) throws(MessageFault) -> (String, Int) {
        guard !authority.contains("@") else {
            throw MessageFault(part, "holds a user or password: send credentials in the Authorization field")
        }
        let isBracketed = authority.first == "["
        let hostEnd =
            isBracketed
            ? authority.firstIndex(of: "]").map(authority.index(after:)) : authority.firstIndex(of: ":")
        let host = authority[..<(hostEnd ?? authority.endIndex)]
        guard !host.isEmpty else {
            throw MessageFault(part, "has no host: write it out, as in https://api.example.com")
        }
        let name = isBracketed ? HostName.ipv6(host) : HostName.registered(host)
        guard let name else {
            throw MessageFault(part, "has a host that is neither a name nor an address")
        }
        var port = authority[(hostEnd ?? authority.endIndex)...]
        guard port.popFirst() ?? ":" == ":", port.utf8.allSatisfy(\.isDigit) else {
            throw MessageFault(part, "has a port that is no number")
        }
        if port.isEmpty { return (name, defaultPort) }
        guard let number = Int(port), (1...65_535).contains(number) else {
            throw MessageFault(part, "has a port out of range: ports are 1 to 65535")
        }
        return (name, number)
    }
}

/// What may be the host of a URL.
private enum HostName {
    /// A name or IPv4 address in small letters; one outside ASCII in its IDNA form. Nil when it is none.
    static func registered(_ text: Substring) -> String? {
        var name = String(text)
        if !name.utf8.allSatisfy({ $0 < 0x80 }) {
            var components = URLComponents()
            components.scheme = "https"
            components.host = name
            guard let encoded = components.encodedHost else { return nil }
            name = encoded
        }
        let isFine = name.utf8.allSatisfy {
            (97...122).contains($0.asciiLowercased) || $0.isDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
                || $0 == UInt8(ascii: "_")
        }
        return isFine ? name.lowercased() : nil
    }

    /// An IPv6 address in brackets, in small letters and without them; nil when it is none. A zone is refused.
    static func ipv6(_ bracketed: Substring) -> String? {
        guard bracketed.count > 2, bracketed.last == "]" else { return nil }
        let text = bracketed.dropFirst().dropLast().lowercased()
        let halves = text.split(separator: "::", maxSplits: 2, omittingEmptySubsequences: false)
        guard halves.count <= 2 else { return nil }
        var groups = 0
        for (index, half) in halves.enumerated() where !half.isEmpty {
            let pieces = half.split(separator: ":", omittingEmptySubsequences: false)
            for (place, piece) in pieces.enumerated() {
                let isLast = index == halves.count - 1 && place == pieces.count - 1
                if isLast, piece.contains(".") {
                    guard isIPv4(piece) else { return nil }
                    groups += 2
                } else {
                    guard (1...4).contains(piece.count), piece.utf8.allSatisfy({ $0.hexDigit != nil }) else {
                        return nil
                    }
                    groups += 1
                }
            }
        }
        return (halves.count == 2 ? groups < 8 : groups == 8) ? text : nil
    }

    private static func isIPv4(_ text: Substring) -> Bool {
        let pieces = text.split(separator: ".", omittingEmptySubsequences: false)
        return pieces.count == 4
            && pieces.allSatisfy {
                (1...3).contains($0.utf8.count) && $0.utf8.allSatisfy(\.isDigit) && UInt8($0) != nil
            }
    }
}
