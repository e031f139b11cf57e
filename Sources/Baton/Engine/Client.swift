/// The front door: sends requests, chains and batches as its configuration says.
///
/// ```swift
/// let client = Client(baseURL: "https://api.example.com")
/// let user = try await client.run(Call("/users/7", as: User.self))
/// ```
/// A client is immutable and may be used from anywhere. What is wrong with its configuration is reported by each run.
/// Runs that are under way finish also when their client is released.
public final class Client: Runner {
    /// How the client works, as it was given.
    public let configuration: Configuration
    package let engine: Engine
    let settings: Settings

    /// A client with a configuration of its own.
    public convenience init(configuration: Configuration) {
        self.init(configuration: configuration, scheduler: LiveScheduler.shared)
    }

    /// A client for a base URL; `configure` changes what differs from the defaults of ``Configuration``.
    ///
    /// - Parameters:
    ///   - baseURL: scheme, host and what stands before every path, as in `https://api.example.com/v1`. Nil: requests
    ///     write their URLs out.
    ///   - transport: what carries the requests. Default: `CurlTransport` on Linux, `URLSessionTransport` elsewhere.
    ///   - retry: default: `RetryPolicy()`.
    public convenience init(
        baseURL: String? = nil, transport: (any Transport)? = nil, retry: RetryPolicy = RetryPolicy(),
        interceptors: [any Interceptor] = [], observers: [any EventObserver] = [],
        configure: (inout Configuration) -> Void = { _ in }
    ) {
        var configuration = Configuration()
        configuration.baseURL = baseURL
        configuration.transport = transport
        configuration.retry = retry
        configuration.interceptors = interceptors
        configuration.observers = observers
        configure(&configuration)
        self.init(configuration: configuration)
    }

    /// A client on a scheduler of the caller's.
    package init(configuration: Configuration, scheduler: any Scheduler) {
        self.configuration = configuration
        settings = Settings(configuration)
        engine = Engine(
            transport: configuration.transport ?? DefaultTransport.make(), scheduler: scheduler,
            configuration: configuration)
    }

    init(configuration: Configuration, engine: Engine, fault: String? = nil) {
        self.configuration = configuration
        self.engine = engine
        settings = Settings(configuration, fault: fault)
    }

    /// A client that shares this one's transport and queue, with a configuration that `change` derives from this one's.
    ///
    /// What belongs to the transport, the queue and the hosts cannot differ: a derived client that changes the transport,
    /// a limit, the retry budget, pacing, the breaker or adaptive concurrency reports `invalidConfiguration` when it is
    /// used.
    public func with(_ change: (inout Configuration) -> Void) -> Client {
        var derived = configuration
        derived.transport = nil
        change(&derived)
        var fault: String?
        if derived.transport != nil {
            fault = "a derived client shares the transport: make a client of its own for another one"
        } else if derived.maxConcurrency != configuration.maxConcurrency
            || derived.maxConcurrencyPerHost != configuration.maxConcurrencyPerHost
            || derived.maxWaiting != configuration.maxWaiting
        {
            fault =
                "a derived client shares the queue, so its limits cannot differ: make a client of its own for others"
        } else if derived.retryBudget != configuration.retryBudget || derived.pacing != configuration.pacing
            || derived.adaptiveConcurrency != configuration.adaptiveConcurrency
            || derived.breaker?.values != configuration.breaker?.values
        {
            fault =
                "a derived client shares what is known of hosts, so retryBudget, pacing, breaker and adaptiveConcurrency cannot differ: make a client of its own for others"
        }
        derived.transport = configuration.transport
        return Client(configuration: derived, engine: engine, fault: fault)
    }
}

extension Client {
    /// How a client works. Each field has a default that serves.
    public struct Configuration: Sendable {
        /// Scheme, host and what stands before every path. Default: none; requests then write their URLs out.
        public var baseURL: String?
        /// What carries the requests; nil, the default: `CurlTransport` on Linux, `URLSessionTransport` elsewhere.
        public var transport: (any Transport)?
        /// Fields of every request, unless it sets them itself. Default: `.standard`, from which each may be removed:
        /// `fields[.userAgent] = nil`. What is computed for each attempt is an interceptor's, see ``Defaults``.
        public var fields: HTTPFields = .standard
        /// Query parameters of every request, unless it has one of that name; they come last. Default: none.
        public var query = QueryParameters()
        /// A field that tells the server the number of the attempt, 1 for the first. It is added when the request leaves,
        /// so signatures do not cover it. Default: nil, none.
        public var attemptField: HTTPFieldName?
        /// Keeps cookies and sends them. Default: nil, there are none.
        public var cookies: CookieJar?
        /// Kinds of networks that are not used. Default: none; on Linux, and with other transports than URLSession's, a
        /// request that avoids one fails with `unsupported`.
        public var avoidedNetworks: NetworkKinds = []
        /// How long one attempt may take, from the moment it has its slot. Default: 60 s.
        public var timeout: Duration = .seconds(60)
        /// How many requests are in flight at once, at least 1. Default: 64.
        public var maxConcurrency = 64
        /// How many requests are in flight at one host at once, at least 1. Default: nil, no limit.
        public var maxConcurrencyPerHost: Int?
        /// How many requests may wait for a slot; one more fails with `queueFull`. Default: nil, no bound.
        public var maxWaiting: Int?
        /// Whether and when failed requests are sent again.
        public var retry = RetryPolicy()
        /// How many retries and hedges a host gets beside its requests. Default: 20 % of them over 10 s, plus 10; nil for
        /// no bound. Exhausted, a request fails with what it has.
        public var retryBudget: RetryBudget? = RetryBudget()
        /// What a host that asks to be left alone (429 or 503 with `Retry-After`) gets. Default: a pause for all requests
        /// to it, and a slow start after it; nil: only the request that was told waits.
        public var pacing: ServerPacing? = ServerPacing()
        /// Refuses requests to a host that fails. Default: nil, nothing is refused.
        public var breaker: CircuitBreaker?
        /// Finds the limit of each host by itself, within `maxConcurrencyPerHost`. Default: nil, it is fixed.
        public var adaptiveConcurrency: AdaptiveConcurrency?
        /// Sends a second copy of requests that take long. Default: nil, none.
        public var hedging: Hedging?
        /// Sends identical safe requests that are under way at the same time once. Default: nil, each is sent.
        public var coalescing: Coalescing?
        /// What stands around requests, in the order in which it sees them. Default: nothing.
        public var interceptors: [any Interceptor] = []
        /// What is told of events. Default: nothing.
        public var observers: [any EventObserver] = []
        /// What encodes and decodes bodies.
        public var coding = BodyCoding()
        /// Which responses are accepted. Default: the statuses 200 to 299.
        public var validation = Validation()
        /// What the server wraps its answers in. Default: nil, nothing.
        public var envelope: Envelope?
        /// What is done about redirects. Default: at most 10 are followed.
        public var redirects = Redirects()
        /// How many bytes of a response are kept in memory at most; more is refused with `responseTooLarge`. Default:
        /// 256 MB.
        public var maxResponseBytes = 256 << 20

        /// The defaults.
        public init() {}
    }
}
