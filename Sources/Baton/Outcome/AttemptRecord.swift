/// One attempt of a request as the record keeps it: how it ended and what was decided.
public struct AttemptRecord: Sendable, Hashable {
    /// 1 for the first attempt.
    public let number: Int
    /// When it was begun, counted from the beginning of the call.
    public let started: Duration
    /// How long it took, the wait for its slot included.
    public let duration: Duration
    /// How long it waited for its slot, and for those of its redirects: zero where they were free. Nil where it did not get
    /// as far.
    public let queued: Duration?
    /// The status of its response; nil when there was none.
    public let status: Int?
    /// What kind of failure it was; nil when it succeeded.
    public let code: BatonError.Code?
    /// The wait before the next attempt; nil when there is none.
    public let wait: Duration?
    /// What was decided and why, such as `sent again after 0.1 s`; empty when it succeeded.
    public let decision: String
    /// What the transport measured, of an exchange that failed too; nil where it was given up, or nothing is measured.
    public let metrics: TransportMetrics?

    package init(
        number: Int, started: Duration, duration: Duration, queued: Duration? = nil, status: Int? = nil,
        code: BatonError.Code? = nil, wait: Duration? = nil, decision: String = "", metrics: TransportMetrics? = nil
    ) {
        self.number = number
        self.started = started
        self.duration = duration
        self.queued = queued
        self.status = status
        self.code = code
        self.wait = wait
        self.decision = decision
        self.metrics = metrics
    }
}

extension AttemptRecord: CustomStringConvertible {
    public var description: String {
        var parts = ["attempt \(number) after \(started.inSeconds) s took \(duration.inSeconds) s"]
        if let status { parts.append("status \(status)") }
        if let code { parts.append(code.rawValue) }
        if !decision.isEmpty { parts.append(decision) }
        return parts.joined(separator: ", ")
    }
}
