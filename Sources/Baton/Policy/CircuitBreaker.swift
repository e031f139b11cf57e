/// Stops asking a host that fails, so that requests fail at once instead of waiting for it, and it can recover.
///
/// ```swift
/// CircuitBreaker()                                       // per host, opens at 50 % of at least 20 calls in 30 s
/// CircuitBreaker(failureShare: 0.2, key: .custom { $0.path.hasPrefix("/search") ? "search" : $0.origin.host })
/// ```
/// While it is *closed*, calls pass and are counted. When too large a share of them failed, it *opens*: calls are
/// refused for a while. Then it is *half-open*: a few probes pass, and everything else is still refused. If they all
/// succeed it closes, and counting starts afresh; the first that fails opens it again.
///
/// Refused calls count nowhere. A call that is cancelled says nothing; if it was a probe, its place is free again.
/// What was let through before the breaker last changed is not counted any more, so late failures neither open it
/// again nor keep it open. These are the semantics of Resilience4j and Polly, with Finagle's jitter on the next probe.
public struct CircuitBreaker: Sendable {
    /// What has a breaker of its own.
    public enum Key: Sendable {
        /// Each scheme, host and port.
        case host
        /// Each text that the closure gives. It is called for each attempt, so it should be quick.
        case custom(@Sendable (HTTPRequest) -> String)
    }

    /// The share of calls in the window that must fail for it to open. Default 0.5; above 0, at most 1.
    public var failureShare: Double
    /// With fewer calls than this in the window it does not open. Default 20, at least 1.
    public var minimumCalls: Int
    /// How far back calls count. Default 30 s, kept in ten slots.
    public var window: Duration
    /// How long it refuses everything before it lets probes through. Default 30 s.
    public var openDuration: Duration
    /// How far that time is varied, so that clients do not come back together. Default 0.1: from 10 % less to 10 % more.
    public var jitter: Double
    /// How many probes are let through when it is half-open, all of which must succeed. Default 1.
    public var probes: Int
    /// What has a breaker of its own. Default: each host.
    public var key: Key
    /// What counts as a failure. Default: errors of the network (`isTransient`), and statuses of 500 and above.
    public var isFailure: @Sendable (Result<HTTPResponse, BatonError>) -> Bool

    /// A breaker; see the properties for what each value means.
    public init(
        failureShare: Double = 0.5, minimumCalls: Int = 20, window: Duration = .seconds(30),
        openDuration: Duration = .seconds(30), jitter: Double = 0.1, probes: Int = 1, key: Key = .host,
        isFailure: @escaping @Sendable (Result<HTTPResponse, BatonError>) -> Bool = CircuitBreaker.isServerFailure
    ) {
        self.failureShare = failureShare
        self.minimumCalls = minimumCalls
        self.window = window
        self.openDuration = openDuration
        self.jitter = jitter
        self.probes = probes
        self.key = key
        self.isFailure = isFailure
    }

    /// The default rule: an error of the network, or a status of 500 and above, accepted or not.
    public static let isServerFailure: @Sendable (Result<HTTPResponse, BatonError>) -> Bool = { result in
        switch result {
        case .success(let response): response.status >= 500
        case .failure(let error): error.code.isTransient || (error.response?.status ?? 0) >= 500
        }
    }

    /// What the end of an attempt means to the breaker. Errors without a response that are no failures, such as a
    /// refused certificate or a request that was never sent, say nothing about the host: they count as cancelled.
    package func outcome(of result: Result<HTTPResponse, BatonError>) -> CircuitBreakerState.Outcome {
        switch result {
        case .failure(let error) where error.isCancelled: .cancelled
        case let result where isFailure(result): .failure
        case .failure(let error) where error.response == nil: .cancelled
        default: .success
        }
    }

    /// Everything that can be compared.
    package var values: [Double] {
        [
            failureShare, Double(minimumCalls), window.inSeconds, openDuration.inSeconds, jitter, Double(probes),
        ]
    }

    /// What is wrong with the values; nil when nothing is.
    package var fault: String? {
        if !(failureShare > 0 && failureShare <= 1) {
            return "a circuit breaker's failure share is \(failureShare): it must be above 0 and at most 1"
        }
        if minimumCalls < 1 { return "a circuit breaker's minimum of calls is \(minimumCalls): it must be at least 1" }
        if window < .milliseconds(10) { return "a circuit breaker's window is \(window): it must be at least 10 ms" }
        if openDuration <= .zero { return "a circuit breaker's open time is \(openDuration): it must be positive" }
        if !(jitter >= 0 && jitter < 1) { return "a circuit breaker's jitter is \(jitter): it must be 0 to below 1" }
        if probes < 1 { return "a circuit breaker's probes are \(probes): at least 1 must pass, or it never closes" }
        return nil
    }
}
