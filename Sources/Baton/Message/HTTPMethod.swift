/// The method of a request: those of RFC 9110 and PATCH (RFC 5789) by name, any other token as a literal.
///
/// Methods are case-sensitive, as RFC 9110 says; `"get"` is not `.get`.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The token, as it stands in the request line.
    public let rawValue: String

    /// A method from its token. What is no token is refused when the request is built, before anything is sent.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    /// Reads a resource (RFC 9110, 9.3.1).
    public static let get = HTTPMethod(rawValue: "GET")
    /// Reads the fields of a resource without its body (RFC 9110, 9.3.2).
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// Has a resource process the body (RFC 9110, 9.3.3).
    public static let post = HTTPMethod(rawValue: "POST")
    /// Replaces a resource by the body (RFC 9110, 9.3.4).
    public static let put = HTTPMethod(rawValue: "PUT")
    /// Changes parts of a resource (RFC 5789).
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// Removes a resource (RFC 9110, 9.3.5).
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// Asks what may be done with a resource (RFC 9110, 9.3.7).
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    /// Has the request sent back (RFC 9110, 9.3.8).
    public static let trace = HTTPMethod(rawValue: "TRACE")
    /// Opens a tunnel (RFC 9110, 9.3.6); it is what proxies are asked for.
    public static let connect = HTTPMethod(rawValue: "CONNECT")

    public var description: String { rawValue }

    /// Whether it may be sent (RFC 9110, 9.1).
    var isToken: Bool { !rawValue.isEmpty && ByteSet.token.containsAll(rawValue) }

    /// Whether the method only reads (RFC 9110, 9.2.1).
    public var isSafe: Bool {
        switch rawValue {
        case "GET", "HEAD", "OPTIONS", "TRACE": true
        default: false
        }
    }

    /// Whether sending the request twice has the effect of sending it once (RFC 9110, 9.2.2).
    public var isIdempotent: Bool {
        isSafe || rawValue == "PUT" || rawValue == "DELETE"
    }

    /// Whether a request with this method says how long its body is even when it has none.
    package var expectsBody: Bool {
        self == .post || self == .put || self == .patch
    }
}
