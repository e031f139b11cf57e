/// Draws what a client did: every request with its waits, attempts, backoffs and connection phases, on one axis of time.
///
/// ```swift
/// let timeline = Timeline()
/// let client = Client(baseURL: "https://api.example.com", observers: [timeline])
/// try timeline.html().write(to: file, atomically: true, encoding: .utf8)    // open it in a browser
/// print(timeline.text())                                                    // or look at it right here
/// ```
/// It can be asked at any time, also while requests are under way. What it holds is bounded: the oldest attempts go
/// first, and the pictures say how many are missing. Bodies are not kept, and secrets are left out of everything that is
/// written. One timeline may observe several clients.
public final class Timeline: EventObserver {
    private let state = LockBox(TimelineState())
    private let maxAttempts: Int
    let redaction: Redaction

    /// - Parameters:
    ///   - maxAttempts: how many attempts are kept, at least 1. Default: 10,000.
    ///   - redaction: what is secret. Default: the usual.
    public init(maxAttempts: Int = 10_000, redaction: Redaction = Redaction()) {
        self.maxAttempts = max(1, maxAttempts)
        self.redaction = redaction
    }

    public func observe(_ event: Event) { take(event, LiveScheduler.shared) }

    public func _observe(_ event: Event, _ setting: _EventSetting) { take(event, setting.scheduler) }

    private func take(_ event: Event, _ scheduler: any Scheduler) {
        var error: String?
        switch event {
        case .runEnded(_, let cause?): error = redaction.text("\(cause)")
        case .attemptEnded(_, .failure(let cause)): error = redaction.text("\(cause)")
        default: break
        }
        let old: [TimelineAttempt] = state.withLock { state in
            if state.origin == nil { state.origin = (scheduler.now, scheduler.date) }
            state.take(event, error: error)
            return state.dropOldest(over: maxAttempts)
        }
        withExtendedLifetime(old) {}
    }

    /// Forgets what was kept.
    public func clear() {
        let old = state.withLock { state in
            defer { state = TimelineState() }
            return state
        }
        withExtendedLifetime(old) {}
    }

    /// How many attempts are kept.
    public var attemptCount: Int { state.withLock { $0.attempts.count } }

    var snapshot: TimelineState { state.withLock { $0 } }

    var model: TimelineModel { TimelineModel(snapshot, redaction) }
}
