/// What the clients of one family share: transport, queue, scheduler, and the runs that are under way.
package final class Engine: Sendable {
    package let scheduler: any Scheduler
    package let transport: any Transport
    package let queue: RequestQueue
    private let runs = LockBox<[UInt64: RunCore]>([:])

    let tags = TagRegistry()

    package init(
        transport: any Transport, scheduler: any Scheduler, limit: Int, hostLimit: Int? = nil, maxWaiting: Int? = nil
    ) {
        self.transport = transport
        self.scheduler = scheduler
        queue = RequestQueue(limit: limit, hostLimit: hostLimit, maxWaiting: maxWaiting, scheduler: scheduler)
        (transport as? any ScheduledTransport)?.attach(to: scheduler)
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
    let retry: RetryPolicy
    let observers: [any EventObserver]
    let configuration: Client.Configuration
    /// What stands around a request that does not choose among interceptors.
    let stack: InterceptorStack
    /// What is wrong with the configuration; nothing runs when there is such a fault.
    let fault: BatonError?

    init(_ configuration: Client.Configuration, fault ownFault: String? = nil) {
        timeout = configuration.timeout
        retry = configuration.retry
        observers = configuration.observers
        self.configuration = configuration
        stack = InterceptorStack(configuration.interceptors)

        var fault = ownFault.map { BatonError(.invalidConfiguration, $0) } ?? Self.fault(of: configuration)
        var base: HTTPOrigin?
        if let text = configuration.baseURL {
            do {
                base = try HTTPOrigin(base: text)
            } catch {
                fault = fault ?? BatonError(.invalidRequest, "the \(error.part) \(error.reason)")
            }
        }
        context = _PlanContext(base: base, fields: configuration.fields, coding: configuration.coding)
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
        } else if configuration.timeout <= .zero {
            text = "the timeout is \(configuration.timeout): it must be longer than nothing"
        } else {
            text = configuration.retry.fault
        }
        return text.map { BatonError(.invalidConfiguration, $0) }
    }
}
