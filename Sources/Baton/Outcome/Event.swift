/// Something that happened while a client worked, as its observers are told it.
public enum Event: Sendable {
    /// A plan was started.
    case runStarted(RunEvent)
    /// A run is over; the error is nil when it succeeded.
    case runEnded(RunEvent, error: BatonError?)
    /// An attempt found no free slot and waits for one.
    case attemptQueued(AttemptEvent)
    /// An attempt that had to wait got its slot; `attemptStarted` follows. One that is cancelled while it waits never does.
    case attemptAdmitted(AttemptEvent, after: Duration)
    /// An attempt got its slot and goes to the transport.
    case attemptStarted(AttemptEvent)
    /// An attempt is over: a response that was accepted, or an error that may hold one.
    case attemptEnded(AttemptEvent, Result<HTTPResponse, BatonError>)
    /// The attempt goes on at another place, where the response of this one led it.
    case redirected(AttemptEvent, to: HTTPRequest)
    /// The request will be sent again after a wait.
    case retryScheduled(AttemptEvent, after: Duration, because: BatonError)
    /// The transport did not end an exchange within a second of its cancellation, so its slot was taken back.
    case slotForfeited(AttemptEvent)
    /// A host asked to be left alone, and is.
    case hostPaused(host: String, for: Duration, at: Instant)
    /// The adaptive limit of a host has changed.
    case limitChanged(host: String, limit: Int, at: Instant)
    /// The client's cache was asked, or has changed.
    case cache(CacheEvent)
    /// A circuit breaker has become `open`, `half-open` or `closed`.
    case breakerChanged(key: String, phase: String, at: Instant)
}

/// A run, as events name it.
public struct RunEvent: Sendable {
    /// The run's number, unique in the process.
    public let run: UInt64
    /// When it happened, on the client's time line.
    public let instant: Instant
    /// Where and whether it is shown; nil where the plan does not say.
    public let presentation: Presentation?

    package init(run: UInt64, instant: Instant, presentation: Presentation? = nil) {
        self.run = run
        self.instant = instant
        self.presentation = presentation
    }
}

/// An attempt, as events name it.
public struct AttemptEvent: Sendable {
    /// Events wait in line for their observers, so each is one reference.
    private final class Storage: Sendable {
        let run: UInt64
        let call: UInt64
        let attempt: Int
        let request: HTTPRequest
        let isUndo: Bool
        let instant: Instant
        let place: PlanPlace

        init(
            _ run: UInt64, _ call: UInt64, _ attempt: Int, _ request: HTTPRequest, _ isUndo: Bool, _ instant: Instant,
            _ place: PlanPlace
        ) {
            self.run = run
            self.call = call
            self.attempt = attempt
            self.request = request
            self.isUndo = isUndo
            self.instant = instant
            self.place = place
        }
    }

    private let storage: Storage

    package init(
        run: UInt64, call: UInt64, attempt: Int, request: HTTPRequest, isUndo: Bool = false, instant: Instant,
        place: PlanPlace = PlanPlace()
    ) {
        storage = Storage(run, call, attempt, request, isUndo, instant, place)
    }

    /// The number of the run it belongs to.
    public var run: UInt64 { storage.run }
    /// The number of the request within the process; attempts of one request share it.
    public var call: UInt64 { storage.call }
    /// 1 for the first attempt.
    public var attempt: Int { storage.attempt }
    /// The request as it was sent.
    public var request: HTTPRequest { storage.request }
    /// Whether it undoes what a failed or cancelled run did; only such are sent after a cancel.
    public var isUndo: Bool { storage.isUndo }
    /// When it happened, on the client's time line.
    public var instant: Instant { storage.instant }
    package var place: PlanPlace { storage.place }
    /// Where the request stands in the plan, such as `chain[2].batch[17]`; empty for a plan that is a single request.
    public var path: String { place.path }
}

extension AttemptEvent {
    /// What tells the events of one attempt from those of others; copies of one attempt share it.
    struct Name: Hashable, Sendable {
        let call: UInt64
        let attempt: Int
    }

    var name: Name { Name(call: call, attempt: attempt) }
}

extension AttemptEvent: CustomStringConvertible {
    /// Numbers, method and URL; no secrets.
    public var description: String {
        "attempt \(attempt) of request \(call) in run \(run): \(request.method) \(request.origin)\(request.path)"
    }
}
