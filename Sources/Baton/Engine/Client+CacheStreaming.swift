/// What a request yielded, and where it came from.
public struct Delivery<Value: Sendable>: Sendable {
    /// What was delivered.
    public let value: Value
    /// How old the response is, where it came from a cache; nil where it came from the network.
    public let cacheAge: Duration?
    /// Whether it came from a cache.
    public var isFromCache: Bool { cacheAge != nil }
}

extension Delivery: Response where Value: Response {
    public init(from response: HTTPResponse, using coding: BodyCoding) throws {
        value = try Value(from: response, using: coding)
        cacheAge = response.cacheAge
    }
}

extension Client {
    /// Runs a request and yields what comes of it, which is more than one value where its cache mode is
    /// `cacheThenNetwork`: what the cache has, if it has something that can be read, and then what the network answers.
    ///
    /// ```swift
    /// for try await news in client.stream(GetNews()) { list.show(news.value, isOld: news.isFromCache) }
    /// ```
    /// Each request begins when it is asked for. When the network fails, the loop throws after what the cache had.
    public func stream<R: Request>(_ request: R) -> DeliveryStream<R> {
        DeliveryStream(client: self, request: request)
    }
}

/// The values of one request as they come. Each loop over it asks anew.
public struct DeliveryStream<R: Request>: AsyncSequence, Sendable {
    public typealias Element = Delivery<R.Output>

    let client: Client
    let request: R

    public func makeAsyncIterator() -> Iterator { Iterator(client: client, request: request) }

    /// Reads the deliveries of one run.
    public struct Iterator: AsyncIteratorProtocol {
        private let client: Client
        private let request: R
        /// The modes that are still to be asked; nil is the request's own.
        private var rest: [CacheMode?]

        fileprivate init(client: Client, request: R) {
            self.client = client
            self.request = request
            rest = client.cacheMode(for: request.options) == .cacheThenNetwork ? [.cacheOnly, .networkOnly] : [nil]
        }

        public mutating func next() async throws -> Delivery<R.Output>? {
            while !rest.isEmpty {
                let mode = rest.removeFirst()
                do {
                    return try await client.run(Delivered(request: request, mode: mode))
                } catch {
                    // What the cache has no use of, the network still may.
                    if mode == .cacheOnly, error.code == .cacheMiss || error.phase == .decode { continue }
                    rest = []
                    throw error
                }
            }
            return nil
        }
    }
}

extension Client {
    fileprivate func cacheMode(for options: RequestOptions) -> CacheMode? {
        if let mode = options.cacheMode { return mode }
        let interceptors = options.interceptors?.applied(to: configuration.interceptors) ?? configuration.interceptors
        return interceptors.lazy.compactMap { $0 as? Cache }.first?.mode
    }
}

/// A request under another cache mode, whose output says where it came from.
private struct Delivered<R: Request>: Plan {
    typealias Output = Delivery<R.Output>

    let request: R
    let mode: CacheMode?

    var chain: Chain<Output> { Chain(node: .plan(self)) }

    func _node(in context: _PlanContext) throws(BatonError) -> _PlanNode {
        let call = try CallDescription(request, in: context)
        var options = call.options
        if let mode { options.cacheMode = mode }
        return _PlanNode(
            content: .call(
                CallDescription(request: call.request, output: Delivery<R.Output>.self, options: options)))
    }
}
