public import Foundation

/// One request as a transport sends it: method, where to, target, fields and body.
///
/// It is a value; interceptors get a copy and pass on a changed one. A URL is an input and a computed property,
/// not what is stored, because building one for each request is slow.
public struct HTTPRequest: Sendable {
    /// The method, in the request line.
    public var method: HTTPMethod
    /// Scheme, host and port.
    public var origin: HTTPOrigin
    /// Path and query as they stand in the request line: percent-encoded, with a leading slash.
    public var target: String
    /// The header fields. What would inject another field is refused before anything is sent.
    public var fields: HTTPFields
    /// The body; `.none` when there is none.
    public var body: HTTPBody
    /// The kinds of networks that it does not use; the engine says it. A transport that cannot tell them apart refuses
    /// a request that avoids one.
    public var avoidedNetworks: NetworkKinds = []
    /// The type of the request that this was built from, for transports that answer by type.
    package var requestType: (any Sendable.Type)?

    /// A request to `target` of an origin; nothing is checked before it is sent.
    public init(
        method: HTTPMethod = .get, origin: HTTPOrigin, target: String, fields: HTTPFields = [:], body: HTTPBody = .none
    ) {
        self.method = method
        self.origin = origin
        self.target = target
        self.fields = fields
        self.body = body
    }

    /// Whether nothing was changed since it was copied from the other, as far as a glance tells: bodies are not compared.
    package func isCopy(of other: HTTPRequest) -> Bool {
        origin === other.origin && method == other.method && target == other.target && body.isNone
            && other.body.isNone && avoidedNetworks == other.avoidedNetworks && requestType == other.requestType
            && fields.isCopy(of: other.fields)
    }

    /// The absolute URL that is sent, as text.
    public var urlString: String { origin.description + target }

    /// The absolute URL that is sent; nil only when the target holds what no URL may hold.
    public var url: URL? { URL(string: urlString) }

    /// The path without the query, percent-encoded.
    public var path: Substring {
        target.prefix { $0 != "?" }
    }

    /// The query without its question mark, percent-encoded; nil when there is none.
    public var query: Substring? {
        target.firstIndex(of: "?").map { target[target.index(after: $0)...] }
    }
}
