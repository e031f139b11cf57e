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
        let extras: Extras?

        init(_ head: HTTPResponseHead, _ body: Data, _ extras: Extras?) {
            self.head = head
            self.body = body
            self.extras = extras
        }
    }

    /// What few responses have, or few people look at.
    private final class Extras: Sendable {
        let metrics: TransportMetrics?
        let url: String?
        let cache: CacheNote?
        let reading: (any Sendable)?
        init(
            metrics: TransportMetrics?, url: String?, cache: CacheNote? = nil, reading: (any Sendable)? = nil
        ) {
            self.metrics = metrics
            self.url = url
            self.cache = cache
            self.reading = reading
        }
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
        storage = Storage(head, body, Extras(metrics: metrics, url: url))
    }

    /// Status and fields.
    public var head: HTTPResponseHead {
        get { storage.head }
        set { storage = Storage(newValue, storage.body, storage.extras) }
    }

    /// The body, decoded from transfer and content coding; empty when there is none.
    public var body: Data {
        get { storage.body }
        set { storage = Storage(storage.head, newValue, storage.extras) }
    }

    private var extras: Extras? {
        get { storage.extras }
        set { storage = Storage(storage.head, storage.body, newValue) }
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
        get { extras?.metrics }
        set {
            extras = Extras(metrics: newValue, url: extras?.url, cache: extras?.cache, reading: extras?.reading)
        }
    }

    /// The URL that answered, after redirects, as text; nil when the response did not come from a transport.
    public var url: String? {
        get { extras?.url }
        set {
            extras = Extras(
                metrics: extras?.metrics, url: newValue, cache: extras?.cache, reading: extras?.reading)
        }
    }

    /// How old the response is, where it came from a cache; nil where it came from the network.
    public var cacheAge: Duration? { extras?.cache?.age }

    /// Whether the response came from a cache and is older than it should be, in place of one that failed.
    public var isStale: Bool { extras?.cache?.isStale ?? false }

    /// How the output is read out of it, where that is not the client's usual way.
    package var reading: (any Sendable)? {
        get { extras?.reading }
        set { extras = Extras(metrics: extras?.metrics, url: extras?.url, cache: extras?.cache, reading: newValue) }
    }

    /// Notes that the response came from a cache.
    package mutating func noteCache(age: Duration, isStale: Bool) {
        extras = Extras(
            metrics: extras?.metrics, url: extras?.url, cache: CacheNote(age: age, isStale: isStale),
            reading: extras?.reading)
    }
}
