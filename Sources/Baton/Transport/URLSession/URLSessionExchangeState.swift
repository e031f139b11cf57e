/// What one exchange has come to: which of the session's calls still count, and how it ends.
///
/// Three parties race: the start of the task, what the session says about it, and whoever cancels. Each tells the
/// state under a lock and does what it answers. The receiver hears exactly one end.
struct URLSessionExchangeState {
    /// How far the session's task is; none exists before `starting`.
    enum Stage { case waiting, starting, running, finished }

    /// What has to be done to end an exchange before its time.
    enum Stop: Equatable {
        /// It is over already.
        case nothing
        /// Tell the receiver. There is no task to stop yet, or it is left to finish unheard.
        case answer
        /// Tell the receiver and stop the task.
        case answerAndStopTask
    }

    /// How the receiver is told about the end.
    enum Ending: Equatable {
        case complete
        /// No head was seen, but the task holds one.
        case completeWithHeadOfTask
        case fail(URLSessionFailure)
    }

    private(set) var stage = Stage.waiting
    /// Whether the receiver has had its end, or is about to.
    private(set) var isOver = false
    /// Bytes of the body as they were handed on.
    private(set) var received: Int64 = 0
    /// Bytes of the body as they came; nil where they were compressed.
    var receivedOnWire: Int64? { isEncoded ? nil : received }
    private(set) var sent: Int64 = 0
    private var stopWhenStarted = false
    private var taskWasStopped = false
    private var hasHead = false
    private var isEncoded = false
    private var wasChallenged = false
    private var refusal: TrustRefusal?
    /// The number of bytes to be handed on; nil where the head does not say.
    private var expected: Int64?

    // MARK: Start and stop

    /// Whether a task may be made; false when the exchange is over before it began.
    mutating func willStart() -> Bool {
        guard stage == .waiting, !isOver else { return false }
        stage = .starting
        return true
    }

    /// The task runs. Returns whether it must be stopped, because the exchange was ended meanwhile.
    mutating func didStart() -> Bool {
        guard stage == .starting else { return false }
        stage = .running
        return stopWhenStarted && !isBodyComplete
    }

    mutating func stop() -> Stop {
        guard !isOver else { return .nothing }
        isOver = true
        switch stage {
        case .waiting, .finished:
            stage = .finished
            return .answer
        case .starting:
            stopWhenStarted = true
            return .answer
        case .running:
            // The task is about to complete by itself; to stop it now gains nothing.
            return isBodyComplete ? .answer : .answerAndStopTask
        }
    }

    /// Asked right before the task is stopped, on the queue where its completion is told.
    mutating func willStopTask() -> Bool {
        guard stage == .running, !taskWasStopped else { return false }
        taskWasStopped = true
        return true
    }

    // MARK: What the session says

    /// The head of a response. Returns whether the receiver is told; not about 1xx, nor when it is over.
    ///
    /// - Parameter isHead: whether it answers HEAD, and so has no body.
    mutating func receiveHead(_ head: HTTPResponseHead, isHead: Bool = false) -> Bool {
        guard head.status >= 200, !hasHead else { return false }
        hasHead = true
        isEncoded = head.fields.contains(.contentEncoding)
        if isHead || head.status == 204 || head.status == 304 {
            expected = 0
        } else if !isEncoded && !head.fields.contains(.transferEncoding) {
            expected = head.contentLength
        }
        return !isOver
    }

    /// Bytes of the body. Those that follow a 101 are no body.
    mutating func receiveBytes(_ count: Int) -> Bool {
        guard hasHead else { return false }
        received += Int64(count)
        return !isOver
    }

    /// Returns the number to tell: it never falls and never passes `total`. Nil when there is nothing new.
    mutating func receiveSent(_ bytes: Int64, of total: Int64?) -> Int64? {
        let clamped = min(bytes, total ?? bytes)
        guard clamped > sent else { return nil }
        sent = clamped
        return isOver ? nil : clamped
    }

    /// The session asked for credentials and was refused; it will call the task cancelled.
    mutating func receiveChallenge() { wasChallenged = true }

    /// The server was refused before it got the request; the session will call the task cancelled.
    mutating func refuse(_ refusal: TrustRefusal) { self.refusal = refusal }

    /// Whether the session may be answered about a redirect. On Linux it must not after the task was stopped.
    var mayAnswerRedirect: Bool { !taskWasStopped }

    /// The task is over. Returns how the receiver is told; nil when it had its end before.
    mutating func finish(_ failure: URLSessionFailure?) -> Ending? {
        stage = .finished
        guard !isOver else { return nil }
        isOver = true
        // With a head, another connection was accepted meanwhile.
        if let refusal, !hasHead { return .fail(.refused(refusal)) }
        if let failure, !(failure == .cancelled && wasChallenged && hasHead) {
            return .fail(failure.refined(hasHead: hasHead))
        }
        guard hasHead else { return .completeWithHeadOfTask }
        if let expected, received < expected { return .fail(.truncated) }
        return .complete
    }

    private var isBodyComplete: Bool {
        guard hasHead, let expected else { return false }
        return received >= expected
    }
}
