/// Where requests go: scheme, host, port and the path and query that stand before every request's own.
///
/// It is shared by all requests to the same base, so that a request is not parsed from a URL each time.
public final class HTTPOrigin: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`, in small letters.
    public let scheme: String
    /// The host in small letters; an IPv6 address without its brackets.
    public let host: String
    /// The port, also where it is the scheme's usual one.
    public let port: Int
    /// What stands before every path: empty, or with a leading and no trailing slash.
    public let pathPrefix: String
    /// What stands before every query, percent-encoded; empty when there is none.
    public let query: String
    /// The base's own path as it was written, percent-encoded; an empty path of a request leaves it so.
    let basePath: String
    /// `host` or `host:port`, as the Host field says it; the usual port is left out.
    public let authority: String

    init(scheme: String, host: String, port: Int, basePath: String = "", query: String = "") {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.basePath = basePath
        pathPrefix = basePath.lastIndex { $0 != "/" }.map { String(basePath[...$0]) } ?? ""
        self.query = query
        let bracketed = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        authority = port == Self.defaultPort(of: scheme) ? bracketed : "\(bracketed):\(port)"
        description = "\(scheme)://\(authority)"
    }

    static func defaultPort(of scheme: String) -> Int { scheme == "https" ? 443 : 80 }

    /// `scheme://host[:port]`, without path, query or user info.
    public let description: String

    /// Whether a request to the other origin stays at home: same scheme, host and port (RFC 6454).
    public func isSameOrigin(as other: HTTPOrigin) -> Bool {
        self === other || (scheme == other.scheme && host == other.host && port == other.port)
    }

    public static func == (a: HTTPOrigin, b: HTTPOrigin) -> Bool {
        a === b || (a.isSameOrigin(as: b) && a.basePath == b.basePath && a.query == b.query)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(scheme)
        hasher.combine(host)
        hasher.combine(port)
    }
}
