/// What the clients of one family share: transport, queue, scheduler, and the runs that are under way.
package final class Engine: Sendable {
    package let scheduler: any Scheduler
    package let transport: any Transport
    package let queue: RequestQueue
    /// Whether user code may run where the transport reports.
    let sharesCallbackThreads: Bool
    private let runs = LockBox<[UInt64: RunCore]>([:])
    private let attached = LockBox<(any EngineProbe)?>(nil)

    let tags = TagRegistry()
    let coalescer = Coalescer()
    /// The circuit breakers; nil where there are none.
    let breakers: Breakers?
    private let resilience: LockBox<ResilienceConfiguration>
    /// Whether anything about hosts is to be remembered.
    let watchesHosts: Bool
    private let hosts = LockBox(Hosts())

    private struct Hosts {
        var policies: [HostKey: HostPolicies] = [:]
        /// At how many those that are idle are forgotten.
        var sweep = 4_096
    }

    package init(
        transport: any Transport, scheduler: any Scheduler, configuration: Client.Configuration = Client.Configuration()
    ) {
        self.transport = transport
        sharesCallbackThreads = transport.callbackThreads == .shared
        self.scheduler = scheduler
        breakers = configuration.breaker.map { Breakers($0) }
        let resilience = ResilienceConfiguration(
            budget: configuration.retryBudget, pacing: configuration.pacing,
            adaptive: configuration.adaptiveConcurrency,
            hostLimit: configuration.maxConcurrencyPerHost)
        self.resilience = LockBox(resilience)
        watchesHosts = resilience.budget != nil || resilience.pacing != nil || resilience.adaptive != nil
        queue = RequestQueue(
            limit: max(1, configuration.maxConcurrency),
            hostLimit: configuration.maxConcurrencyPerHost.map { max(1, $0) },
            maxWaiting: configuration.maxWaiting.map { max(0, $0) }, scheduler: scheduler)
        (transport as? any ScheduledTransport)?.attach(to: scheduler)
    }

    deinit {
        for host in hosts.withLock({ $0.policies.values }) { host.stop() }
    }

    /// What one host has shown so far. Hosts that have been idle are forgotten once there are many.
    func policies(for origin: HTTPOrigin) -> HostPolicies {
        let key = HostKey(origin)
        return hosts.withLock { hosts in
            if let known = hosts.policies[key] { return known }
            if hosts.policies.count >= hosts.sweep {
                let now = scheduler.now
                hosts.policies = hosts.policies.filter { !$0.value.isIdle(at: now) }
                // Looked through again only once there are twice as many, so that it is little for each.
                hosts.sweep = max(4_096, 2 * hosts.policies.count)
            }
            let policies = HostPolicies(origin, resilience.withLock { $0 }, self)
            hosts.policies[key] = policies
            return policies
        }
    }

    /// What checks the runs that begin from now on; those that are under way keep theirs.
    package var probe: (any EngineProbe)? {
        get { attached.withLock { $0 } }
        set { attached.withLock { $0 = newValue } }
    }

    /// Changes the limit of all hosts, also of those that have found one below it.
    func setHostLimit(_ limit: Int?) {
        let limit = limit.map { max(1, $0) }
        resilience.withLock { $0.hostLimit = limit }
        queue.setHostLimit(limit)
        for host in hosts.withLock({ Array($0.policies.values) }) { host.setHostLimit(limit) }
    }

    func add(_ run: RunCore) { runs.withLock { $0[run.id] = run } }

    func remove(_ run: RunCore) {
        let removed = runs.withLock { $0.removeValue(forKey: run.id) }
        withExtendedLifetime(removed) {}
    }

    /// The runs that are not over.
    package var activeRuns: [RunCore] { runs.withLock { Array($0.values) } }
}

/// A client's configuration as its runs use it: checked once, and taken as it was when they began.
final class Settings: Sendable {
    let context: _PlanContext
    let timeout: Duration
    /// The same, so that it need not be worked out for each request.
    let timeoutNanoseconds: Int64
    let retry: RetryPolicy
    let hedging: Hedging?
    let coalescing: Coalescing?
    /// Whether calls note when they began: for the record of their attempts, and for elapsed limits.
    let keepsRecords: Bool
    let observers: [any EventObserver]
    /// How responses are treated and outputs read; nil where that is the usual way.
    let rules: ResponseRules?
    let reading: ResponseReading?
    let configuration: Client.Configuration
    /// Whether anything is added to requests as they leave, beside what their options say.
    let dresses: Bool
    let keepsCookies: Bool
    /// What stands around a request that does not choose among interceptors; nil for nothing.
    let stack: InterceptorStack?
    /// What is wrong with the configuration; nothing runs when there is such a fault.
    let fault: BatonError?

    init(_ configuration: Client.Configuration, fault ownFault: String? = nil) {
        timeout = configuration.timeout
        timeoutNanoseconds = configuration.timeout.clampedNanoseconds
        retry = configuration.retry
        hedging = configuration.hedging
        coalescing = configuration.coalescing
        keepsRecords = configuration.retry.attempts > 1
        observers = configuration.observers
        keepsCookies = configuration.cookies != nil
        rules = ResponseRules(configuration)
        dresses =
            configuration.attemptField != nil || configuration.cookies != nil || !configuration.avoidedNetworks.isEmpty
        reading = configuration.envelope?.used.map { ResponseReading(envelope: $0) }
        self.configuration = configuration
        stack = configuration.interceptors.isEmpty ? nil : InterceptorStack(configuration.interceptors)

        var fault = ownFault.map { BatonError(.invalidConfiguration, $0) } ?? Self.fault(of: configuration)
        var base: HTTPOrigin?
        if let text = configuration.baseURL {
            do {
                base = try HTTPOrigin(base: text)
            } catch {
                fault = fault ?? BatonError(.invalidRequest, "the \(error.part) \(error.reason)")
            }
        }
        context = _PlanContext(
            base: base, fields: configuration.fields, query: configuration.query, coding: configuration.coding)
        self.fault = fault
    }

    private static func fault(of configuration: Client.Configuration) -> BatonError? {
        let text: String?
        if configuration.maxConcurrency < 1 {
            text = "maxConcurrency is \(configuration.maxConcurrency): at least 1 request must be allowed at once"
        } else if let limit = configuration.maxConcurrencyPerHost, limit < 1 {
            text = "maxConcurrencyPerHost is \(limit): at least 1 request must be allowed at once"
        } else if let bound = configuration.maxWaiting, bound < 0 {
            text = "maxWaiting is \(bound): it must be 0 or more"
        } else if configuration.maxResponseBytes < 0 {
            text = "maxResponseBytes is \(configuration.maxResponseBytes): it must be 0 or more"
        } else if configuration.timeout <= .zero {
            text = "the timeout is \(configuration.timeout): it must be longer than nothing"
        } else {
            text =
                configuration.retry.fault ?? configuration.retryBudget?.fault ?? configuration.pacing?.fault
                ?? configuration.breaker?.fault ?? configuration.adaptiveConcurrency?.fault
                ?? configuration.hedging?.fault ?? configuration.redirects.fault
        }
        return text.map { BatonError(.invalidConfiguration, $0) }
    }
}
