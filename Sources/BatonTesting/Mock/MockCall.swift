public import Baton
public import Foundation

/// A request as it arrived at a ``MockTransport``.
public struct MockCall: Sendable {
    /// The place in the order of arrival, from 1.
    public let number: Int
    /// The method of the request.
    public let method: HTTPMethod
    /// The path as it was sent: percent-encoded, without the query.
    public let path: String
    /// The query as it was sent, without its question mark; nil when there is none.
    public let query: String?
    /// The absolute URL.
    public let url: String
    /// The fields of the request, as the interceptors left them.
    public let fields: HTTPFields
    /// The bytes of the body, whatever kind it was; none when the request was cancelled before they were read.
    public internal(set) var body = Data()
    /// When it arrived, on the client's time line.
    public let instant: Instant
    /// Whether no stub had a reply for it.
    public internal(set) var isUnmatched = false
    /// The stub that answered, as a failed verification names it; nil when none did.
    public internal(set) var stub: String?
    /// The type of the request; nil when it was made by hand.
    public let requestType: (any Sendable.Type)?

    init(_ request: HTTPRequest, number: Int, instant: Instant) {
        self.number = number
        self.instant = instant
        method = request.method
        path = String(request.path)
        query = request.query.map { String($0) }
        url = request.urlString
        fields = request.fields
        requestType = request.requestType
    }

    /// Whether the request was built from this type.
    public func isOf<R: Request>(_ type: R.Type) -> Bool {
        requestType.map { ObjectIdentifier($0) == ObjectIdentifier(type) } ?? false
    }

    /// The decoded query parameters, in the order in which they were sent; a name without value has an empty one.
    public var parameters: [(name: String, value: String)] { QueryText.pairs(query ?? "") }

    /// The body, read as JSON.
    public func json<Value: Decodable>(
        as type: Value.Type, decoder: JSONDecoder = BodyCoding().jsonDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: body)
    }
}
