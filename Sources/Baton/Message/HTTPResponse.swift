public import Foundation

/// The head of a response: what comes before the body.
public struct HTTPResponseHead: Sendable {
    /// The status code, three digits (RFC 9110, 15).
    public var status: Int
    /// The header fields, as they came.
    public var fields: HTTPFields

    /// A head; no fields by default.
    public init(status: Int, fields: HTTPFields = [:]) {
        self.status = status
        self.fields = fields
    }

    /// The length that the response announces; nil when it does not, or not as a number.
    public var contentLength: Int64? {
        fields[.contentLength].flatMap { Int64($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// One whole response: status, fields, body, and what the transport measured.
public struct HTTPResponse: Sendable {
    /// Everything lives behind one reference, so that a response is cheap to pass on.
    private final class Storage: Sendable {
        let head: HTTPResponseHead
        let body: Data
        /// Asked for with each response, and not free of cost.
        let bodyCount: Int
        let extras: Extras?

        init(_ head: HTTPResponseHead, _ body: Data, _ extras: Extras?) {
            self.head = head
            self.body = body
            bodyCount = body.count
            self.extras = extras
        }
    }

    /// What few responses have, or few people look at.
    private final class Extras: Sendable {
        let facts: Facts
        init(_ facts: Facts) { self.facts = facts }
    }

    private struct Facts: Sendable {
        var metrics: TransportMetrics?
        var url: String?
        var cache: CacheNote?
        var reading: (any Sendable)?
        var json: JSONValue?
    }

    /// What is known of a response that came from a cache.
    private struct CacheNote: Sendable {
        var age: Duration
        var isStale: Bool
    }

    private var storage: Storage

    /// A response; no fields and an empty body by default.
    public init(status: Int, fields: HTTPFields = [:], body: Data = Data()) {
        self.init(head: HTTPResponseHead(status: status, fields: fields), body: body)
    }

    /// A response of a head and a body, which is empty by default.
    public init(head: HTTPResponseHead, body: Data = Data()) {
        storage = Storage(head, body, nil)
    }

    /// A response as a transport hands it over.
    package init(head: HTTPResponseHead, body: Data, metrics: TransportMetrics?, url: String?) {
        storage = Storage(head, body, Extras(Facts(metrics: metrics, url: url)))
    }

    /// Status and fields.
    public var head: HTTPResponseHead {
        get { storage.head }
        set { storage = Storage(newValue, storage.body, storage.extras) }
    }

    /// The body, decoded from transfer and content coding; empty when there is none.
    public var body: Data {
        get { storage.body }
        set {
            if json != nil { json = nil }
            storage = Storage(storage.head, newValue, storage.extras)
        }
    }

    /// The number of bytes of the body.
    package var bodyCount: Int { storage.bodyCount }

    private var facts: Facts? { storage.extras?.facts }

    private mutating func note(_ change: (inout Facts) -> Void) {
        var facts = facts ?? Facts()
        change(&facts)
        storage = Storage(storage.head, storage.body, Extras(facts))
    }

    /// The status code of the head.
    public var status: Int {
        get { storage.head.status }
        set { head.status = newValue }
    }

    /// The fields of the head.
    public var fields: HTTPFields {
        get { storage.head.fields }
        set { head.fields = newValue }
    }

    /// What the transport measured on the way; nil when it measures nothing.
    public var metrics: TransportMetrics? {
        get { facts?.metrics }
        set { note { $0.metrics = newValue } }
    }

    /// The URL that answered, after redirects, as text; nil when the response did not come from a transport.
    public var url: String? {
        get { facts?.url }
        set { note { $0.url = newValue } }
    }

    /// How old the response is, where it came from a cache; nil where it came from the network.
    public var cacheAge: Duration? { facts?.cache?.age }

    /// Whether the response came from a cache and is older than it should be, in place of one that failed.
    public var isStale: Bool { facts?.cache?.isStale ?? false }

    /// How the output is read out of it, where that is not the client's usual way.
    package var reading: (any Sendable)? {
        get { facts?.reading }
        set { note { $0.reading = newValue } }
    }

    /// The body as JSON, where somebody has parsed it and somebody else will want it; a change of the body forgets it.
    package var json: JSONValue? {
        get { facts?.json }
        set { note { $0.json = newValue } }
    }

    /// The response for whoever keeps it.
    package var withoutJSON: HTTPResponse {
        guard json != nil else { return self }
        var copy = self
        copy.json = nil
        return copy
    }

    /// Notes that the response came from a cache.
    package mutating func noteCache(age: Duration, isStale: Bool) {
        note { $0.cache = CacheNote(age: age, isStale: isStale) }
    }
}
