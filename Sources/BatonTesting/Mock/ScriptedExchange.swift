internal import Baton
internal import Foundation

/// One request at a transport in memory, from its arrival to its end: it answers as it is told, once.
///
/// What the receiver is told comes one at a time, with no lock held; an end that comes meanwhile waits its turn.
final class ScriptedExchange: Transmission, Job {
    struct State {
        var isOver = false
        /// Called once, before the receiver hears of the end.
        var onEnd: (@Sendable () -> Void)?
        /// Called when the receiver wants more of a body that somebody else hands out.
        var onResume: (@Sendable () -> Void)?
        /// Whether the receiver is being told something; the end waits until it was.
        var isTelling = false
        var end: (@Sendable (TransportReceiver) -> Void)?
        var timer: TimerHandle?
        var task: Task<Void, Never>?
        var body: BodyCollector?
        var hold: HoldCore?
        var request: HTTPRequest?
        var answer: MockReply.Answer?
        // A body in pieces.
        var chunks: MockReply.Chunks?
        var position = 0
        var isPaused = false
        var wasResumed = false
    }

    private static let delayIsOver: UInt8 = 0
    static let nextChunk: UInt8 = 1

    private let receiver: TransportReceiver
    let scheduler: any Scheduler
    let state: LockBox<State>

    init(_ receiver: TransportReceiver, _ scheduler: any Scheduler, onEnd: @escaping @Sendable () -> Void) {
        self.receiver = receiver
        self.scheduler = scheduler
        state = LockBox(State(onEnd: onEnd))
    }

    /// Lets somebody else answer: `onResume` is called when the receiver wants more, `onEnd` when the exchange is over.
    func follow(onResume: @escaping @Sendable () -> Void, onEnd: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            guard !state.isOver else { return true }
            let first = state.onEnd
            state.onResume = onResume
            state.onEnd = {
                first?()
                onEnd()
            }
            return false
        }
        if isOver { onEnd() }
    }

    // MARK: Arrival

    /// Reads the body, and answers with what `choose` has for the request when it is there.
    ///
    /// - Parameters:
    ///   - tellsProgress: whether the receiver is told of the bytes that were read, as if they were sent.
    ///   - handled: called when the request is answered, delayed or held.
    func begin(
        _ request: HTTPRequest, tellsProgress: Bool = true, choose: @escaping @Sendable (HTTPRequest) -> MockReply,
        handled: @escaping @Sendable () -> Void = {}
    ) {
        guard let stream = request.body.bodyStream else {
            if tellsProgress, let count = request.body.bytes?.count, count > 0 {
                tell { $0.sent(Int64(count), of: Int64(count)) }
            }
            arrived(request, choose(request))
            return handled()
        }
        let collector = BodyCollector(stream, scheduler) { [self] count, total in
            if tellsProgress { tell { $0.sent(count, of: total) } }
        } completion: { [self] result in
            switch result {
            case .success(let data):
                var request = request
                request.body = .data(data, contentType: request.body.contentType)
                arrived(request, choose(request))
                handled()
            case .failure(let error):
                end(with: .wrapping(error, as: .encodingFailed, "the body could not be read"))
            }
        }
        state.withLock { $0.body = collector }
        collector.read()
    }

    private func arrived(_ request: HTTPRequest, _ reply: MockReply) {
        let isDelayed = state.withLock { state in
            guard !state.isOver else { return true }
            state.body = nil
            state.request = request
            guard reply.delay > .zero else { return false }
            state.answer = reply.answer
            state.timer = scheduler.schedule(
                self, Signal(kind: Self.delayIsOver), at: scheduler.now.advanced(by: reply.delay))
            return true
        }
        if !isDelayed { perform(reply.answer) }
    }

    func run(_ signal: Signal) {
        let answer = state.withLock { state in
            state.timer = nil
            defer { state.answer = nil }
            return state.answer
        }
        if signal.kind == Self.nextChunk { return sendChunks() }
        if let answer { perform(answer) }
    }

    // MARK: Answers

    func perform(_ answer: MockReply.Answer) {
        switch answer {
        case .response(let response): complete(response)
        case .failure(let error): end(with: error)
        case .compute(let respond):
            guard let request = state.withLock({ $0.request }) else { return }
            complete(Result { try respond(request) })
        case .computeLater(let respond): compute(respond)
        case .nothing: return
        case .chunks(let chunks):
            state.withLock { $0.chunks = chunks }
            tell { $0.head(chunks.head) }
            sendChunks()
        case .hold(let hold):
            state.withLock { $0.hold = hold }
            if let answer = hold.admit(self) { return perform(answer) }
            // Cancelled before it had joined those that wait.
            if state.withLock({ $0.isOver }) { hold.remove(self) }
        }
    }

    private func compute(_ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
        guard let request = state.withLock({ $0.request }) else { return }
        let task = scheduler.startTask("a reply of the mock") { [self] in
            do {
                complete(.success(try await respond(request)))
            } catch {
                complete(.failure(error))
            }
        }
        let isOver = state.withLock { state in
            if !state.isOver { state.task = task }
            return state.isOver
        }
        if isOver { task.cancel() }
    }

    private func complete(_ result: Result<HTTPResponse, any Error>) {
        switch result {
        case .success(let response): complete(response)
        case .failure(let error):
            end(with: .wrapping(error, as: .transportFailed, "the mock's closure threw an error"))
        }
    }

    private func complete(_ response: HTTPResponse) {
        finish { $0.complete(response) }
    }

    // MARK: The end

    func cancel() {
        end(with: BatonError(.cancelled, "the request was cancelled"))
    }

    func end(with error: BatonError) {
        finish { $0.fail(error) }
    }

    /// Tells the receiver something that is not the end.
    func tell(_ event: (TransportReceiver) -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.isTelling = true }
            return state.isOver
        }
        guard !isOver else { return }
        event(receiver)
        let end = state.withLock { state in
            state.isTelling = false
            defer { state.end = nil }
            return state.end
        }
        end?(receiver)
    }

    /// Ends the exchange, once.
    func finish(_ event: @escaping @Sendable (TransportReceiver) -> Void) {
        let old: State? = state.withLock { state in
            guard !state.isOver else { return nil }
            let old = state
            state = State(isOver: true, isTelling: old.isTelling)
            if old.isTelling { state.end = event }
            return old
        }
        guard let old else { return }
        if let timer = old.timer { scheduler.cancel(timer) }
        old.task?.cancel()
        old.body?.cancel()
        old.hold?.remove(self)
        old.onEnd?()
        if !old.isTelling { event(receiver) }
    }
}
