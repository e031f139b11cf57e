internal import Foundation

/// Answers requests with responses that it has kept.
///
/// ```swift
/// let cache = Cache(.cacheElseNetwork, store: DiskCacheStore(directory: url)) { $0.maxAge = .seconds(600) }
/// let client = Client(baseURL: "https://api.example.com", interceptors: [cache])
/// let fresh = try await client.run(Call("/news", as: News.self) { $0.options.cacheMode = .networkOnly })
/// ```
/// It stands around the whole call, so an answer from it takes no slot, no attempt and no credential. The response says
/// that it is one by its ``HTTPResponse/cacheAge``. It sees the request before other interceptors have put credentials
/// on it: where responses differ from user to user, say with ``Options/identity`` who asks; a response that its server
/// calls `private` is kept only then.
///
/// A request with another method that succeeds, such as a PUT, makes it forget what it has at that URL, for whomever, and
/// at the URLs of the same origin that the response names in `Location` and `Content-Location` (RFC 9111, 4.4). What it does
/// is told to observers as ``Event/cache(_:)``.
public struct Cache: Interceptor {
    /// What is kept, for how long, and for whom. Each field has a default that serves.
    public struct Options: Sendable {
        /// How old a response may be, in the modes that are not HTTP's own. Default: nil, any age.
        public var maxAge: Duration?
        /// What is stored under another version is not used. Default: 0.
        public var version = 0
        /// The version of the app; what another one has stored is not used. Default: empty.
        public var appVersion = ""
        /// Which methods are answered. Default: GET.
        public var methods: Set<HTTPMethod> = [.get]
        /// Fields of the request that make a difference to the response, whatever its `Vary` says. Default: Accept,
        /// Accept-Language, Authorization and Cookie.
        public var varyingFields: [HTTPFieldName] = [.accept, .acceptLanguage, .authorization, .cookie]
        /// Who asks; nil for everybody. Default: nil.
        public var identity: @Sendable (HTTPRequest) async -> String? = { _ in nil }
        /// Whether a response is too sensitive to be kept. Default: when it sets a cookie.
        public var isSensitive: @Sendable (HTTPRequest, HTTPResponse) -> Bool = { $1.fields.contains(.setCookie) }
        /// Whether a response is worth keeping. Default: status 200 with a body. A failure never takes the place of a
        /// response.
        public var isWorthKeeping: @Sendable (HTTPRequest, HTTPResponse) -> Bool = {
            $1.status == 200 && !$1.body.isEmpty
        }

        /// The defaults.
        public init() {}
    }

    public var placement: InterceptorPlacement { .call }
    public var id: InterceptorID { .cache }
    package let mode: CacheMode
    package let store: any CacheStore
    let options: Options

    /// - Parameter mode: for requests that do not say another, see `RequestOptions.cacheMode`.
    public init(
        _ mode: CacheMode = .http, store: any CacheStore = MemoryCacheStore(),
        configure: (inout Options) -> Void = { _ in }
    ) {
        self.mode = mode
        self.store = store
        var options = Options()
        configure(&options)
        self.options = options
    }

    public func intercept(
        _ request: HTTPRequest, context: AttemptContext, next: Next
    ) async throws -> HTTPResponse {
        let mode = context.options.cacheMode ?? mode
        if mode == .cacheThenNetwork {
            throw BatonError(
                .invalidConfiguration, "cacheThenNetwork answers twice: read the request with client.stream")
        }
        guard mode != .ignore, await key(for: request) != nil else {
            if mode == .cacheOnly { throw Self.miss }
            let response = try await next(request)
            if !request.method.isSafe, !options.methods.contains(request.method) {
                await invalidate(after: response, to: request, context)
            }
            return response
        }
        let exchange = CacheExchange(cache: self, request: request, context: context, next: next)
        switch mode {
        case .ignore, .networkOnly, .cacheThenNetwork: return try await exchange.ask(request)
        case .cacheOnly:
            guard let entry = await exchange.usable() else { throw Self.miss }
            return exchange.answer(entry)
        case .cacheElseNetwork:
            if let entry = await exchange.usable() { return exchange.answer(entry) }
            return try await exchange.ask(request)
        case .networkElseCache: return try await exchange.askElseAnswer()
        case .http: return try await exchange.negotiate()
        }
    }

    private static var miss: BatonError { BatonError(.cacheMiss, "the cache has no response for the request") }

    /// Nil for a request that has no place in the cache.
    func key(for request: HTTPRequest) async -> CacheKey? {
        guard options.methods.contains(request.method), !request.fields.contains("Range"),
            !CacheControl(request.fields).has("no-store")
        else { return nil }
        return CacheKey(request, identity: await options.identity(request), varyingBy: options.varyingFields)
    }

    func isRight(_ entry: CacheEntry) -> Bool {
        entry.version == options.version && entry.appVersion == options.appVersion
    }

    /// The key of the variant that a request asks for.
    func variant(_ names: [String], of request: HTTPRequest) async -> CacheKey? {
        let more = names.map { HTTPFieldName($0) }
        return CacheKey(
            request, identity: await options.identity(request),
            varyingBy: options.varyingFields + more
                + ["baton-variant"])
    }
}

extension InterceptorID {
    /// ``Cache``.
    public static let cache: InterceptorID = "Cache"
}

extension BatonError.Code {
    /// The cache was to answer and has nothing to answer with.
    public static let cacheMiss = BatonError.Code(rawValue: "cacheMiss")
}
