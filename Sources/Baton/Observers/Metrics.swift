/// Counts what a client does: runs, attempts, retries, failures, latencies, waits for slots and the cache's answers, in all
/// and per host.
///
/// ```swift
/// let metrics = Metrics()
/// let client = Client(baseURL: "https://api.example.com", observers: [metrics])
/// metrics.snapshot.latency.percentile(0.95)
/// ```
public final class Metrics: EventObserver {
    /// The counts since the beginning, or since `reset`.
    public struct Snapshot: Sendable {
        /// Runs that were begun.
        public internal(set) var runsStarted = 0
        /// Runs that are over, however they ended.
        public internal(set) var runsEnded = 0
        /// Runs that ended with an error, cancelled ones not among them.
        public internal(set) var runsFailed = 0
        /// Runs that were cancelled.
        public internal(set) var runsCancelled = 0
        /// Runs that have begun and not ended.
        public internal(set) var openRuns = 0
        /// Attempts that followed a failed one of the same request.
        public internal(set) var retries = 0
        /// Slots that were taken back because the transport did not end a cancelled exchange in time.
        public internal(set) var forfeitedSlots = 0
        /// Attempts that found no free slot.
        public internal(set) var queued = 0
        /// How long those waited that got one.
        public internal(set) var queueWait = LatencyHistogram()
        /// What caches did.
        public internal(set) var cache = CacheCounts()
        /// The attempts of all hosts.
        public internal(set) var total = Attempts()
        /// Those of each host, with its port where it is not the usual one. After 500 hosts, the others have no entry.
        public internal(set) var hosts: [String: Attempts] = [:]
        /// How long attempts took, from the slot to their end.
        public var latency: LatencyHistogram { total.latency }
    }

    /// What the cache did.
    public struct CacheCounts: Sendable, Hashable {
        /// Answers from a cache, stale ones included, but not those that a server confirmed.
        public internal(set) var hits = 0
        /// Answers that were too old, where nothing better was to be had.
        public internal(set) var staleHits = 0
        /// Requests for which it had nothing that could be used.
        public internal(set) var misses = 0
        /// Responses that were kept.
        public internal(set) var stored = 0
        /// Responses that the server confirmed.
        public internal(set) var revalidated = 0
        /// URLs that were forgotten because another method changed what is there.
        public internal(set) var invalidated = 0
        /// Responses that were forgotten for want of room.
        public internal(set) var evicted = 0
    }

    /// The attempts of one host, or of all.
    public struct Attempts: Sendable {
        /// Attempts that got their slot.
        public internal(set) var started = 0
        /// Attempts with a response that was accepted.
        public internal(set) var succeeded = 0
        /// Attempts that ended with an error, cancelled ones among them.
        public internal(set) var failed = 0
        /// Attempts that are under way.
        public internal(set) var inFlight = 0
        /// The most that were under way at once.
        public internal(set) var maxInFlight = 0
        /// Responses by status, those included that were not accepted.
        public internal(set) var statuses: [Int: Int] = [:]
        /// Failures by their code.
        public internal(set) var failures: [BatonError.Code: Int] = [:]
        /// How long attempts took, from the slot to their end.
        public internal(set) var latency = LatencyHistogram()
    }

    private struct State {
        var snapshot = Snapshot()
        /// When they began; copies of one attempt share its name.
        var open: [AttemptEvent.Name: [Instant]] = [:]
    }

    private static let maxHosts = 500
    private let state = LockBox(State())

    /// Counts that begin at zero.
    public init() {}

    /// The counts as they are now.
    public var snapshot: Snapshot { state.withLock { $0.snapshot } }

    /// Begins to count anew; what is under way stays counted as such.
    public func reset() {
        state.withLock { state in
            var snapshot = Snapshot()
            snapshot.openRuns = state.snapshot.openRuns
            snapshot.total.inFlight = state.snapshot.total.inFlight
            for (host, attempts) in state.snapshot.hosts where attempts.inFlight > 0 {
                snapshot.hosts[host, default: Attempts()].inFlight = attempts.inFlight
            }
            state.snapshot = snapshot
        }
    }

    public func observe(_ event: Event) {
        state.withLock { state in
            switch event {
            case .runStarted:
                state.snapshot.runsStarted += 1
                state.snapshot.openRuns += 1
            case .runEnded(_, let error):
                state.snapshot.runsEnded += 1
                state.snapshot.openRuns -= 1
                if error?.isCancelled == true {
                    state.snapshot.runsCancelled += 1
                } else if error != nil {
                    state.snapshot.runsFailed += 1
                }
            case .attemptQueued: state.snapshot.queued += 1
            case .attemptAdmitted(_, let wait): state.snapshot.queueWait.add(wait)
            case .cache(let event): state.snapshot.cache.add(event.kind)
            case .attemptStarted(let attempt): begin(attempt, &state)
            case .attemptEnded(let attempt, let result): end(attempt, result, &state)
            case .retryScheduled: state.snapshot.retries += 1
            case .slotForfeited: state.snapshot.forfeitedSlots += 1
            default: break
            }
        }
    }

    private func begin(_ attempt: AttemptEvent, _ state: inout State) {
        state.open[attempt.name, default: []].append(attempt.instant)
        update(attempt, &state) { attempts in
            attempts.started += 1
            attempts.inFlight += 1
            attempts.maxInFlight = max(attempts.maxInFlight, attempts.inFlight)
        }
    }

    private func end(_ attempt: AttemptEvent, _ result: Result<HTTPResponse, BatonError>, _ state: inout State) {
        let key = attempt.name
        guard let begun = state.open[key]?.removeFirst() else { return }
        if state.open[key]?.isEmpty == true { state.open[key] = nil }
        update(attempt, &state) { attempts in
            attempts.inFlight -= 1
            attempts.latency.add(begun.duration(to: attempt.instant))
            switch result {
            case .success(let response):
                attempts.succeeded += 1
                attempts.statuses[response.status, default: 0] += 1
            case .failure(let error):
                attempts.failed += 1
                attempts.failures[error.code, default: 0] += 1
                if let response = error.response { attempts.statuses[response.status, default: 0] += 1 }
            }
        }
    }

    private func update(_ attempt: AttemptEvent, _ state: inout State, _ change: (inout Attempts) -> Void) {
        change(&state.snapshot.total)
        let host = attempt.request.origin.authority
        if state.snapshot.hosts[host] != nil || state.snapshot.hosts.count < Self.maxHosts {
            change(&state.snapshot.hosts[host, default: Attempts()])
        }
    }
}

extension Metrics.CacheCounts {
    fileprivate mutating func add(_ kind: CacheEvent.Kind) {
        switch kind {
        case .hit(_, let isStale):
            hits += 1
            if isStale { staleHits += 1 }
        case .miss: misses += 1
        case .stored: stored += 1
        case .revalidated: revalidated += 1
        case .invalidated: invalidated += 1
        case .evicted(let count): evicted += count
        }
    }
}

/// How often which durations occurred, each told to within a sixteenth.
public struct LatencyHistogram: Sendable, Hashable {
    /// Counts by bucket: sixteen for each doubling of a microsecond.
    private var buckets: [Int: Int] = [:]
    /// How many durations there were.
    public private(set) var count = 0
    /// The longest duration; zero when there was none.
    public private(set) var max = Duration.zero

    /// A histogram of no durations.
    public init() {}

    mutating func add(_ duration: Duration) {
        let duration = Swift.max(.zero, duration)
        count += 1
        max = Swift.max(max, duration)
        buckets[Self.bucket(of: UInt64(duration.clampedNanoseconds / 1_000)), default: 0] += 1
    }

    /// The duration that so large a share of all did not exceed, 0 to 1; nil when there was none.
    public func percentile(_ share: Double) -> Duration? {
        guard count > 0 else { return nil }
        let rank = Swift.max(1, Int((Swift.min(Swift.max(share, 0), 1) * Double(count)).rounded(.up)))
        var seen = 0
        for (bucket, number) in buckets.sorted(by: { $0.key < $1.key }) {
            seen += number
            if seen >= rank { return Swift.min(max, .microseconds(Int64(Self.end(of: bucket)))) }
        }
        return max
    }

    private static func bucket(of value: UInt64) -> Int {
        guard value >= 16 else { return Int(value) }
        let power = 63 - value.leadingZeroBitCount
        return (power - 3) * 16 + Int(value >> UInt64(power - 4)) - 16
    }

    /// The largest value of a bucket.
    private static func end(of bucket: Int) -> UInt64 {
        guard bucket >= 16 else { return UInt64(bucket) }
        let power = bucket / 16 + 3
        return ((UInt64(bucket % 16) + 17) << UInt64(power - 4)) - 1
    }
}
