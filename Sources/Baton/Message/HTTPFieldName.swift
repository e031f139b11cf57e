/// The name of a header field: compared without regard to case (RFC 9110, 5.1), written as it was given.
public struct HTTPFieldName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name as it was written.
    public let rawName: String
    /// FNV-1a over the lower-cased bytes, so that unequal names are told apart without looking at them.
    package let foldedHash: UInt32
    /// Whether it may be sent.
    package let isToken: Bool

    /// A name. What is no token (RFC 9110, 5.1) is refused when the request is built, before anything is sent.
    public init(_ name: String) {
        var name = name
        (foldedHash, isToken) = name.withUTF8(Self.look)
        rawName = name
    }

    private static func look(at bytes: UnsafeBufferPointer<UInt8>) -> (hash: UInt32, isToken: Bool) {
        var hash: UInt32 = 2_166_136_261
        var isToken = !bytes.isEmpty
        for byte in bytes {
            hash = (hash ^ UInt32(byte.asciiLowercased)) &* 16_777_619
            if !byte.isTokenByte { isToken = false }
        }
        return (hash, isToken)
    }

    public init(stringLiteral value: String) { self.init(value) }

    public var description: String { rawName }

    public static func == (a: HTTPFieldName, b: HTTPFieldName) -> Bool {
        guard a.foldedHash == b.foldedHash else { return false }
        if a.rawName == b.rawName { return true }
        return a.rawName.utf8.elementsEqual(b.rawName.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(foldedHash) }

    /// Media types that the client takes (RFC 9110, 12.5.1).
    public static let accept: HTTPFieldName = "Accept"
    /// Content codings that the client takes (RFC 9110, 12.5.3).
    public static let acceptEncoding: HTTPFieldName = "Accept-Encoding"
    /// Languages that the user prefers (RFC 9110, 12.5.4).
    public static let acceptLanguage: HTTPFieldName = "Accept-Language"
    /// How old the response is, in seconds (RFC 9111, 5.1).
    public static let age: HTTPFieldName = "Age"
    /// Credentials for the server (RFC 9110, 11.6.2); a secret.
    public static let authorization: HTTPFieldName = "Authorization"
    /// What caches may do with the message (RFC 9111, 5.2).
    public static let cacheControl: HTTPFieldName = "Cache-Control"
    /// Codings that were applied to the body (RFC 9110, 8.4).
    public static let contentEncoding: HTTPFieldName = "Content-Encoding"
    /// The number of bytes of the body (RFC 9110, 8.6).
    public static let contentLength: HTTPFieldName = "Content-Length"
    /// Which bytes of the whole the body has (RFC 9110, 14.4).
    public static let contentRange: HTTPFieldName = "Content-Range"
    /// The media type of the body (RFC 9110, 8.3).
    public static let contentType: HTTPFieldName = "Content-Type"
    /// Cookies that the client returns (RFC 6265, 4.2); a secret.
    public static let cookie: HTTPFieldName = "Cookie"
    /// When the message was made (RFC 9110, 6.6.1).
    public static let date: HTTPFieldName = "Date"
    /// What names the state of a resource (RFC 9110, 8.8.3).
    public static let etag: HTTPFieldName = "ETag"
    /// When the response is no longer fresh (RFC 9111, 5.3).
    public static let expires: HTTPFieldName = "Expires"
    /// What makes a repetition of a request known to the server (draft-ietf-httpapi-idempotency-key-header).
    public static let idempotencyKey: HTTPFieldName = "Idempotency-Key"
    /// The response is wanted only when the resource has changed since (RFC 9110, 13.1.3).
    public static let ifModifiedSince: HTTPFieldName = "If-Modified-Since"
    /// The response is wanted only when the resource has another state (RFC 9110, 13.1.2).
    public static let ifNoneMatch: HTTPFieldName = "If-None-Match"
    /// The range is wanted only of the resource in this state (RFC 9110, 13.1.5).
    public static let ifRange: HTTPFieldName = "If-Range"
    /// When the resource was changed (RFC 9110, 8.8.2).
    public static let lastModified: HTTPFieldName = "Last-Modified"
    /// Where a redirect or a creation leads (RFC 9110, 10.2.2).
    public static let location: HTTPFieldName = "Location"
    /// Credentials for the proxy (RFC 9110, 11.7.1); a secret.
    public static let proxyAuthorization: HTTPFieldName = "Proxy-Authorization"
    /// Which bytes of the whole are wanted (RFC 9110, 14.2).
    public static let range: HTTPFieldName = "Range"
    /// How long to wait before asking again (RFC 9110, 10.2.3).
    public static let retryAfter: HTTPFieldName = "Retry-After"
    /// A cookie that the client is to keep, one a line (RFC 6265, 4.1); a secret.
    public static let setCookie: HTTPFieldName = "Set-Cookie"
    /// How the message is framed (RFC 9112, 6.1); the transport sets it.
    public static let transferEncoding: HTTPFieldName = "Transfer-Encoding"
    /// Which software asks (RFC 9110, 10.1.5).
    public static let userAgent: HTTPFieldName = "User-Agent"
    /// The fields of the request that made a difference to the response (RFC 9110, 12.5.5).
    public static let vary: HTTPFieldName = "Vary"
}

extension UInt8 {
    /// The byte with an ASCII capital folded to its small letter; every other byte as it is.
    @inline(__always)
    package var asciiLowercased: UInt8 {
        self &- 65 < 26 ? self | 0x20 : self
    }

    /// Whether the byte may stand in a token (RFC 9110, 5.6.2).
    package var isTokenByte: Bool { ByteSet.token.contains(self) }
}
