internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// One exchange of a `URLSessionTransport`: what the session says goes in, what the receiver hears comes out.
///
/// The receiver is called on the link's queue only, so it hears one event at a time.
final class URLSessionExchange: Transmission {
    private struct Contents {
        var state = URLSessionExchangeState()
        /// Kept from start to finish, to be stopped.
        var task: URLSessionTask?
        var spool: BodySpool?
        var body = URLSessionBody.none
    }

    /// Names the exchange among the open ones of its transport.
    let id: UInt64
    private let contents = LockBox(Contents())
    private let receiver: TransportReceiver
    private let link: URLSessionLink
    private let isHead: Bool
    private let isSecure: Bool

    init(_ request: HTTPRequest, _ receiver: TransportReceiver, _ link: URLSessionLink) {
        id = link.nextID()
        self.receiver = receiver
        self.link = link
        isHead = request.method == .head
        isSecure = request.origin.scheme == "https"
    }

    func cancel() { end(with: BatonError(.cancelled, "the request was cancelled")) }

    // MARK: Start and stop

    /// Takes over the copy of a streamed body; false when the exchange is over already.
    func attach(_ spool: BodySpool) -> Bool {
        contents.withLock { contents in
            guard !contents.state.isOver else { return false }
            contents.spool = spool
            return true
        }
    }

    /// Notes what is about to be sent; false when there is nothing to start any more.
    func willStart(with body: URLSessionBody) -> Bool {
        contents.withLock { contents in
            guard contents.state.willStart() else { return false }
            contents.body = body
            return true
        }
    }

    func attach(_ task: URLSessionTask) { contents.withLock { $0.task = task } }

    func didStart() {
        if contents.withLock({ $0.state.didStart() }) { link.stop(self) }
    }

    /// Ends the exchange for a reason of ours, from any thread.
    func end(with error: BatonError) {
        let (stop, spool) = contents.withLock { contents in
            let stop = contents.state.stop()
            // Without a task nobody needs the file. Once it is being sent it is open, so that its name can go.
            let isDone = contents.state.stage == .finished || contents.state.sent > 0
            return (stop, isDone ? contents.spool.take() : nil)
        }
        spool?.discard()
        guard stop != .nothing else { return }
        link.queue.async { self.receiver.fail(error) }
        link.forget(self)
        if stop == .answerAndStopTask { link.stop(self) }
    }

    /// The task, if it is still to be stopped. Called on the link's queue.
    func taskToStop() -> URLSessionTask? {
        contents.withLock { $0.state.willStopTask() ? $0.task : nil }
    }

    // MARK: What the session says, on the link's queue

    func receive(_ response: HTTPURLResponse) {
        let head = HTTPResponseHead(response)
        if contents.withLock({ $0.state.receiveHead(head, isHead: isHead) }) { receiver.head(head) }
    }

    func receive(_ bytes: Data) {
        guard !bytes.isEmpty else { return }
        if contents.withLock({ $0.state.receiveBytes(bytes.count) }) { receiver.chunk(bytes) }
    }

    func receiveSent(_ bytes: Int64) {
        let (sent, total) = contents.withLock { contents in
            let total = contents.body.length
            return (contents.state.receiveSent(bytes, of: total), total)
        }
        if let sent { receiver.sent(sent, of: total) }
    }

    func receiveChallenge() { contents.withLock { $0.state.receiveChallenge() } }

    func refuse(_ refusal: TrustRefusal) { contents.withLock { $0.state.refuse(refusal) } }

    /// The body once more, when it has to be sent again; nil when that is pointless.
    func openBody() -> InputStream? {
        contents.withLock { $0.state.isOver ? nil : $0.body }?.openStream()
    }

    var mayAnswerRedirect: Bool { contents.withLock { $0.state.mayAnswerRedirect } }

    func finish(_ task: URLSessionTask, _ error: (any Error)?, _ measured: TransportMetrics?) {
        let failure = error.map { URLSessionFailure($0, isSecure: isSecure) }
        let (ending, state, spool) = contents.withLock { contents in
            contents.task = nil
            contents.body = .none
            return (contents.state.finish(failure), contents.state, contents.spool.take())
        }
        spool?.discard()
        guard let ending else { return }
        link.forget(self)
        var metrics = measured ?? TransportMetrics()
        metrics.bodyBytesSent = metrics.bodyBytesSent ?? state.sent
        metrics.bodyBytesReceived = metrics.bodyBytesReceived ?? state.receivedOnWire
        switch ending {
        case .complete:
            receiver.end(metrics)
        case .completeWithHeadOfTask:
            // Foundation on Linux is silent about a redirect without a usable Location, and loses its body.
            guard let response = task.response as? HTTPURLResponse, response.statusCode >= 200 else {
                return receiver.fail(BatonError(.invalidResponse, "the session ended without a response"))
            }
            receiver.head(HTTPResponseHead(response))
            receiver.end(metrics)
        case .fail(let failure):
            var failed = BatonError(failure, underlying: error.map(URLError.init(withoutURL:)))
            // Zero is where the counts begin, whether or not anything could have been counted.
            if metrics.bodyBytesSent == 0 { metrics.bodyBytesSent = nil }
            if metrics.bodyBytesReceived == 0 { metrics.bodyBytesReceived = nil }
            if metrics != TransportMetrics() { failed = failed.with(metrics: metrics) }
            receiver.fail(failed)
        }
    }
}
