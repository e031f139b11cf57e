public import Foundation

/// A cookie as a ``CookieJar`` keeps it (RFC 6265, 5.3). Its value is a secret, so printing one does not show it.
public struct Cookie: Sendable, Hashable {
    /// Its name; case matters.
    public var name: String
    /// What the server wants back; a secret.
    public var value: String
    /// The host, or the domain of hosts, that it is sent to; in small letters, without a leading dot.
    public var domain: String
    /// Whether it is sent to that very host only.
    public var isHostOnly: Bool
    /// It is sent for this path and what lies below it.
    public var path: String
    /// When it ends; nil when it lasts as long as the jar.
    public var expiry: Date?
    /// Whether it is sent over https only.
    public var isSecure: Bool
    /// Whether scripts of a browser may not see it; kept, and without meaning here.
    public var isHTTPOnly: Bool

    /// A cookie of one's own making, for ``CookieJar/set(_:)``; one of a server's is read by the jar.
    public init(
        _ name: String, _ value: String, domain: String, isHostOnly: Bool = true, path: String = "/",
        expiry: Date? = nil, isSecure: Bool = false, isHTTPOnly: Bool = false
    ) {
        self.name = name
        self.value = value
        self.domain = domain.lowercased()
        self.isHostOnly = isHostOnly
        self.path = path
        self.expiry = expiry
        self.isSecure = isSecure
        self.isHTTPOnly = isHTTPOnly
    }

    /// Whether another one takes its place.
    func isReplaced(by other: Cookie) -> Bool {
        name == other.name && domain == other.domain && path == other.path && isHostOnly == other.isHostOnly
    }

    /// Whether it goes with a request to that place, its end aside.
    func matches(_ origin: HTTPOrigin, path requestPath: some StringProtocol) -> Bool {
        guard !isSecure || origin.scheme == "https" else { return false }
        let isAtHome = isHostOnly ? origin.host == domain : Self.host(origin.host, matches: domain)
        guard isAtHome, requestPath.hasPrefix(path) else { return false }
        return requestPath.count == path.count || path.hasSuffix("/") || requestPath.dropFirst(path.count).first == "/"
    }

    /// Whether the host is the domain, or a name below it (RFC 6265, 5.1.3); an address is below nothing.
    static func host(_ host: String, matches domain: String) -> Bool {
        if host == domain { return true }
        return host.hasSuffix(".\(domain)") && !isAddress(host)
    }

    static func isAddress(_ host: String) -> Bool {
        host.contains(":") || host.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
    }
}

extension Cookie: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "\(name)=REDACTED; domain=\(domain); path=\(path)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
