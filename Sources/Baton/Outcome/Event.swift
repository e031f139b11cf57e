/// Something that happened while a client worked, as its observers are told it.
///
/// What comes with every request is small, because many may wait in line; the rest lies behind a reference.
public enum Event: Sendable {
    /// A plan was started.
    indirect case runStarted(RunEvent)
    /// A run is over; the error is nil when it succeeded.
    indirect case runEnded(RunEvent, error: BatonError?)
    /// An attempt found no free slot and waits for one.
    case attemptQueued(AttemptEvent)
    /// An attempt that had to wait got its slot; `attemptStarted` follows. One that is cancelled while it waits never does.
    indirect case attemptAdmitted(AttemptEvent, after: Duration)
    /// An attempt got its slot and goes to the transport.
    case attemptStarted(AttemptEvent)
    /// An attempt is over: a response that was accepted, or an error that may hold one.
    case attemptEnded(AttemptEvent, Result<HTTPResponse, BatonError>)
    /// The attempt goes on at another place, where the response of this one led it.
    indirect case redirected(AttemptEvent, to: HTTPRequest)
    /// The request will be sent again after a wait.
    indirect case retryScheduled(AttemptEvent, after: Duration, because: BatonError)
    /// The transport did not end an exchange within a second of its cancellation, so its slot was taken back.
    case slotForfeited(AttemptEvent)
    /// A host asked to be left alone, and is.
    indirect case hostPaused(host: String, for: Duration, at: Instant)
    /// The adaptive limit of a host has changed.
    indirect case limitChanged(host: String, limit: Int, at: Instant)
    /// The client's cache was asked, or has changed.
    indirect case cache(CacheEvent)
    /// A circuit breaker has become `open`, `half-open` or `closed`.
    indirect case breakerChanged(key: String, phase: String, at: Instant)
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
    /// What the events of one attempt have in common. They wait in line for their observers, so it is one reference.
    package final class Subject: Sendable {
        fileprivate let run: UInt64
        fileprivate let call: UInt64
        fileprivate let attempt: Int
        fileprivate let request: HTTPRequest
        fileprivate let isUndo: Bool
        fileprivate let place: PlanPlace

        package init(
            run: UInt64, call: UInt64, attempt: Int, request: HTTPRequest, isUndo: Bool = false,
            place: PlanPlace = PlanPlace()
        ) {
            self.run = run
            self.call = call
            self.attempt = attempt
            self.request = request
            self.isUndo = isUndo
            self.place = place
        }
    }

    private let subject: Subject
    /// When it happened, on the client's time line.
    public let instant: Instant

    package init(_ subject: Subject, at instant: Instant) {
        self.subject = subject
        self.instant = instant
    }

    /// The number of the run it belongs to.
    public var run: UInt64 { subject.run }
    /// The number of the request within the process; attempts of one request share it.
    public var call: UInt64 { subject.call }
    /// 1 for the first attempt.
    public var attempt: Int { subject.attempt }
    /// The request as it was sent.
    public var request: HTTPRequest { subject.request }
    /// Whether it undoes what a failed or cancelled run did; only such are sent after a cancel.
    public var isUndo: Bool { subject.isUndo }
    package var place: PlanPlace { subject.place }
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
