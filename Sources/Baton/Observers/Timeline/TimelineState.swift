internal import Foundation

/// One attempt as the timeline keeps it; with its secrets, which are left out when it is drawn.
struct TimelineAttempt: Sendable {
    let run: UInt64
    let call: UInt64
    let number: Int
    let place: PlanPlace
    let method: HTTPMethod
    let url: String
    let fields: HTTPFields
    let isUndo: Bool
    var queued: Instant?
    var started: Instant?
    var ended: Instant?
    var status: Int?
    var responseFields: HTTPFields = [:]
    var responseSize: Int?
    var metrics: TransportMetrics?
    /// What went wrong, in a line and without secrets.
    var error: String?
    var isCancelled = false
    /// The wait before the next attempt.
    var backoff: Duration?

    init(_ event: AttemptEvent) {
        run = event.run
        call = event.call
        number = event.attempt
        place = event.place
        method = event.request.method
        url = event.request.urlString
        fields = event.request.fields
        isUndo = event.isUndo
    }

    /// The first thing that is known of it.
    var begin: Instant { queued ?? started ?? ended ?? .distantPast }
}

struct TimelineRun: Sendable {
    let id: UInt64
    let started: Instant
    var ended: Instant?
    var error: String?
    var isCancelled = false
}

/// What was told so far.
struct TimelineState: Sendable {
    /// What is under way in a run: attempts by name, as numbers in the order of all; copies share a name.
    private struct Open {
        var attempts: [AttemptEvent.Name: [Int]] = [:]
        var failed: [AttemptEvent.Name: Int] = [:]
    }

    private(set) var attempts: [TimelineAttempt] = []
    private(set) var runs: [UInt64: TimelineRun] = [:]
    private(set) var marks: [(instant: Instant, text: String)] = []
    /// How many attempts were dropped.
    private(set) var dropped = 0
    /// When the first event came, on both clocks.
    var origin: (instant: Instant, date: Date)?
    private var open: [UInt64: Open] = [:]

    private static let maxMarks = 1_000

    mutating func take(_ event: Event, error: String?) {
        switch event {
        case .runStarted(let run): runs[run.run] = TimelineRun(id: run.run, started: run.instant)
        case .runEnded(let run, let cause):
            runs[run.run]?.ended = run.instant
            runs[run.run]?.error = error
            runs[run.run]?.isCancelled = cause?.isCancelled ?? false
            open[run.run] = nil
        case .attemptQueued(let attempt): add(attempt) { $0.queued = attempt.instant }
        case .attemptStarted(let attempt): start(attempt)
        case .attemptEnded(let attempt, let result): end(attempt, result, error)
        case .retryScheduled(let attempt, let wait, _):
            guard let number = open[attempt.run]?.failed.removeValue(forKey: attempt.name) else { return }
            change(number) { $0.backoff = wait }
        case .slotForfeited(let attempt):
            mark(attempt.instant, "slot of \(attempt.request.method) \(attempt.request.path) taken back")
        case .hostPaused(let host, let wait, let instant): mark(instant, "\(host) left alone for \(wait.briefly)")
        case .limitChanged(let host, let limit, let instant): mark(instant, "\(host) gets \(limit) at once")
        case .breakerChanged(let key, let phase, let instant): mark(instant, "breaker of \(key) \(phase)")
        case .cache(let event):
            guard case .hit(let age, let isStale) = event.kind else { return }
            let note = "\(isStale ? "stale, " : "")\(age.briefly) old"
            mark(event.instant, "\(event.request.method) \(event.request.path) from the cache, \(note)")
        default: break
        }
    }

    private mutating func add(_ event: AttemptEvent, _ set: (inout TimelineAttempt) -> Void) {
        var attempt = TimelineAttempt(event)
        set(&attempt)
        let name = event.name
        open[event.run, default: Open()].attempts[name, default: []].append(dropped + attempts.count)
        attempts.append(attempt)
    }

    private mutating func change(_ number: Int, _ change: (inout TimelineAttempt) -> Void) {
        guard number >= dropped else { return }
        change(&attempts[number - dropped])
    }

    private mutating func start(_ event: AttemptEvent) {
        let name = event.name
        let waiting = open[event.run]?.attempts[name]?.first { number in
            number >= dropped && attempts[number - dropped].started == nil
        }
        if let waiting {
            change(waiting) { $0.started = event.instant }
        } else {
            add(event) { $0.started = event.instant }
        }
    }

    private mutating func end(_ event: AttemptEvent, _ result: Result<HTTPResponse, BatonError>, _ error: String?) {
        let name = event.name
        guard let number = open[event.run]?.attempts[name]?.removeFirst() else { return }
        if open[event.run]?.attempts[name]?.isEmpty == true { open[event.run]?.attempts[name] = nil }
        let response = result.response
        if let failure = result.error {
            if failure.isCancelled { change(number) { $0.isCancelled = true } }
            if open[event.run]?.failed.count ?? 0 > 1_000 { open[event.run]?.failed = [:] }
            open[event.run]?.failed[name] = number
        }
        change(number) { attempt in
            attempt.ended = event.instant
            attempt.error = error
            attempt.status = response?.status
            attempt.responseFields = response?.fields ?? [:]
            attempt.responseSize = response?.body.count
            attempt.metrics = result.metrics
        }
    }

    private mutating func mark(_ instant: Instant, _ text: String) {
        if marks.count >= Self.maxMarks { marks.removeFirst(Self.maxMarks / 4) }
        marks.append((instant, text))
    }

    /// Drops the oldest attempts when there are a quarter too many, so that it happens seldom.
    mutating func dropOldest(over limit: Int) -> [TimelineAttempt] {
        if runs.count > limit + limit / 4 {
            let kept = Set(runs.keys.sorted().suffix(limit))
            runs = runs.filter { kept.contains($0.key) || $0.value.ended == nil }
        }
        guard attempts.count > limit + limit / 4 else { return [] }
        let excess = attempts.count - limit
        let old = Array(attempts.prefix(excess))
        attempts.removeFirst(excess)
        dropped += excess
        return old
    }
}
