/// Sends a second copy of a request that takes unusually long; the first success wins, and the other is cancelled.
///
/// ```swift
/// Hedging()                                    // after the 95th percentile of what the host usually takes
/// Hedging(delay: .after(.milliseconds(300)))
/// ```
/// Only idempotent requests whose bodies can be sent again are hedged. Copies draw on the ``RetryBudget``, so they
/// stay a small share of the load. The loser is cancelled and is no failure to anybody's statistics.
///
/// The semantics are those of gRPC's and Finagle's hedging.
public struct Hedging: Sendable, Hashable {
    /// How long to wait for the first copy before the next one is sent.
    public enum Delay: Sendable, Hashable {
        /// Always the same time.
        case after(Duration)
        /// The time within which this share of the host's latest successes came back (0.95 is the 95th percentile),
        /// and at least `minimum`. Until 20 successes are known, nothing is hedged.
        case percentile(Double = 0.95, minimum: Duration = .milliseconds(1))
    }

    /// How long to wait before each further copy. Default: the 95th percentile, at least 1 ms.
    public var delay: Delay
    /// How many copies are sent beside the first one at most. Default 1.
    public var copies: Int

    /// Hedging; see the properties for what each value means.
    public init(delay: Delay = .percentile(), copies: Int = 1) {
        self.delay = delay
        self.copies = copies
    }

    /// Whether the request may be sent more than once at the same time.
    package func permits(_ request: HTTPRequest, _ idempotency: Idempotency = .byMethod) -> Bool {
        copies > 0 && idempotency.covers(request) && request.body.isReplayable
    }

    /// How long to wait before the next copy; nil: not enough is known, so nothing is hedged.
    package func wait(_ latencies: LatencyTracker) -> Duration? {
        switch delay {
        case .after(let duration): duration
        case .percentile(let share, let minimum): latencies.percentile(share).map { max($0, minimum) }
        }
    }

    /// What is wrong with the values; nil when nothing is.
    package var fault: String? {
        if copies < 1 { return "hedging sends \(copies) copies: it must be at least 1" }
        switch delay {
        case .after(let duration):
            return duration < .zero ? "hedging's delay is negative" : nil
        case .percentile(let share, let minimum):
            if !(share > 0 && share < 1) {
                return "hedging's percentile is \(share): it must be between 0 and 1, where 0.95 means 95 %"
            }
            return minimum < .zero ? "hedging's minimum delay is negative" : nil
        }
    }
}
