/// What the requests of a run's chain did, step by step, in the order in which they ended.
///
/// It holds the requests that stand in the chain itself, nested chains included; items of batches have their outcomes
/// in the batch's report.
public struct RunTrace: Sendable {
    /// One request of the chain.
    public struct Step: Sendable {
        /// Where it stands, such as `chain[2]`; empty for a plan that is a single request.
        public let path: String
        /// Method and URL, without the query.
        public let request: String
        /// The status of its response; nil when there was none.
        public let status: Int?
        /// What kind of failure it was; nil when it succeeded.
        public let code: BatonError.Code?
        /// How often it went to the transport.
        public let attempts: Int
        /// When it was begun, counted from the beginning of the run.
        public let started: Duration
        /// How long it took in all, waits and retries included.
        public let duration: Duration
        /// Each attempt, where there was more than one.
        public let records: [AttemptRecord]
        /// How long the last attempt waited for its slot, and for those of its redirects: zero where they were free. Nil
        /// where it did not get as far.
        public let queued: Duration?
        /// What the transport measured of the last attempt, of one that failed too; nil where it was given up, or nothing is
        /// measured.
        public let metrics: TransportMetrics?

        package init(
            path: String, request: String, status: Int?, code: BatonError.Code?, attempts: Int, started: Duration,
            duration: Duration, records: [AttemptRecord], queued: Duration? = nil, metrics: TransportMetrics? = nil
        ) {
            self.path = path
            self.request = request
            self.status = status
            self.code = code
            self.attempts = attempts
            self.started = started
            self.duration = duration
            self.records = records
            self.queued = queued
            self.metrics = metrics
        }
    }

    /// How many steps are kept.
    package static let limit = 10_000

    /// The first 10,000 steps.
    public internal(set) var steps: [Step] = []
    /// How many more there were.
    public internal(set) var omitted = 0

    package init() {}

    package mutating func add(_ step: Step) {
        if steps.count < Self.limit { steps.append(step) } else { omitted += 1 }
    }
}

extension RunTrace: CustomStringConvertible {
    public var description: String {
        var lines = steps.map { step in
            let end = step.status.map { "status \($0)" } ?? step.code?.rawValue ?? "done"
            let place = step.path.isEmpty ? "" : "\(step.path): "
            return "\(place)\(step.request), \(end), \(step.attempts) attempts, \(step.duration.inSeconds) s"
        }
        if omitted > 0 { lines.append("and \(omitted) more") }
        return lines.joined(separator: "\n")
    }
}
