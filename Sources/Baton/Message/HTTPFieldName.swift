/// The name of a header field: compared without regard to case (RFC 9110, 5.1), written as it was given.
public struct HTTPFieldName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name as it was written.
    public let rawName: String
    /// FNV-1a over the lower-cased bytes, so that unequal names are told apart without looking at them.
    package let foldedHash: UInt32

    public init(_ name: String) {
        rawName = name
        var hash: UInt32 = 2_166_136_261
        for byte in name.utf8 { hash = (hash ^ UInt32(byte.asciiLowercased)) &* 16_777_619 }
        foldedHash = hash
    }

    public init(stringLiteral value: String) { self.init(value) }

    public var description: String { rawName }

    public static func == (a: HTTPFieldName, b: HTTPFieldName) -> Bool {
        guard a.foldedHash == b.foldedHash else { return false }
        if a.rawName == b.rawName { return true }
        return a.rawName.utf8.elementsEqual(b.rawName.utf8) { $0.asciiLowercased == $1.asciiLowercased }
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(foldedHash) }

    public static let accept: HTTPFieldName = "Accept"
    public static let acceptEncoding: HTTPFieldName = "Accept-Encoding"
    public static let acceptLanguage: HTTPFieldName = "Accept-Language"
    public static let authorization: HTTPFieldName = "Authorization"
    public static let contentEncoding: HTTPFieldName = "Content-Encoding"
    public static let contentLength: HTTPFieldName = "Content-Length"
    public static let contentType: HTTPFieldName = "Content-Type"
    public static let cookie: HTTPFieldName = "Cookie"
    public static let date: HTTPFieldName = "Date"
    public static let location: HTTPFieldName = "Location"
    public static let proxyAuthorization: HTTPFieldName = "Proxy-Authorization"
    public static let retryAfter: HTTPFieldName = "Retry-After"
    public static let setCookie: HTTPFieldName = "Set-Cookie"
    public static let transferEncoding: HTTPFieldName = "Transfer-Encoding"
    public static let userAgent: HTTPFieldName = "User-Agent"
}

extension UInt8 {
    /// The byte with an ASCII capital folded to its small letter; every other byte as it is.
    @inline(__always)
    package var asciiLowercased: UInt8 {
        self &- 65 < 26 ? self | 0x20 : self
    }

    /// Whether the byte may stand in a token (RFC 9110, 5.6.2).
    package var isTokenByte: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
