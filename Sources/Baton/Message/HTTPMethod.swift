/// The method of a request: those of RFC 9110 and PATCH (RFC 5789) by name, any other token as a literal.
///
/// Methods are case-sensitive, as RFC 9110 says; `"get"` is not `.get`.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    /// A method from its token. What is no token is refused when the request is built, before anything is sent.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }

    public static let get = HTTPMethod(rawValue: "GET")
    public static let head = HTTPMethod(rawValue: "HEAD")
    public static let post = HTTPMethod(rawValue: "POST")
    public static let put = HTTPMethod(rawValue: "PUT")
    public static let patch = HTTPMethod(rawValue: "PATCH")
    public static let delete = HTTPMethod(rawValue: "DELETE")
    public static let options = HTTPMethod(rawValue: "OPTIONS")
    public static let trace = HTTPMethod(rawValue: "TRACE")
    public static let connect = HTTPMethod(rawValue: "CONNECT")

    public var description: String { rawValue }

    /// Whether the method only reads (RFC 9110, 9.2.1).
    public var isSafe: Bool {
        self == .get || self == .head || self == .options || self == .trace
    }

    /// Whether sending the request twice has the effect of sending it once (RFC 9110, 9.2.2).
    public var isIdempotent: Bool {
        isSafe || self == .put || self == .delete
    }

    /// Whether a request with this method says how long its body is even when it has none.
    package var expectsBody: Bool {
        self == .post || self == .put || self == .patch
    }
}
