/// What a cache did for one request.
public struct CacheEvent: Sendable {
    /// What a cache can do.
    public enum Kind: Sendable, Hashable {
        /// It answered with a response that old; `isStale` where it was too old and nothing better was to be had.
        case hit(age: Duration, isStale: Bool)
        /// It was asked and had nothing that could be used.
        case miss
        /// It kept a response.
        case stored
        /// The server confirmed a response, which was the answer.
        case revalidated
        /// It forgot what it had for a URL, because a request with another method has changed what is there.
        case invalidated(url: String)
        /// It had no room left, and forgot that many other responses.
        case evicted(Int)
    }

    /// The run's number, unique in the process.
    public let run: UInt64
    /// The number of the request within the process; its attempts share it.
    public let call: UInt64
    /// What it did.
    public let kind: Kind
    /// The request as it came to the cache.
    public let request: HTTPRequest
    /// When it happened, on the client's time line.
    public let instant: Instant

    package init(run: UInt64, call: UInt64, kind: Kind, request: HTTPRequest, instant: Instant) {
        self.run = run
        self.call = call
        self.kind = kind
        self.request = request
        self.instant = instant
    }
}
