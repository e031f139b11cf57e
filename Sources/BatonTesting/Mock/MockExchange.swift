internal import Baton
internal import Foundation

/// One request at the mock, from its arrival to its end.
final class MockExchange: Transmission, Job {
    private struct State {
        var isOver = false
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
    private static let nextChunk: UInt8 = 1

    private let mock: MockTransport
    private let number: Int
    private let receiver: TransportReceiver
    private let scheduler: any Scheduler
    private let state = LockBox(State())

    init(_ mock: MockTransport, number: Int, _ receiver: TransportReceiver, _ scheduler: any Scheduler) {
        self.mock = mock
        self.number = number
        self.receiver = receiver
        self.scheduler = scheduler
    }

    // MARK: Arrival

    /// Reads the body, and answers when it is there.
    func begin(_ request: HTTPRequest) {
        guard let stream = request.body.bodyStream else {
            if let count = request.body.bytes?.count, count > 0 { tell { $0.sent(Int64(count), of: Int64(count)) } }
            return arrived(request)
        }
        let collector = BodyCollector(stream, scheduler) { [self] count, total in
            tell { $0.sent(count, of: total) }
        } completion: { [self] result in
            switch result {
            case .success(let data):
                var request = request
                request.body = .data(data, contentType: request.body.contentType)
                arrived(request)
            case .failure(let error):
                end(with: .wrapping(error, as: .encodingFailed, "the body could not be read"))
            }
        }
        state.withLock { $0.body = collector }
        collector.read()
    }

    private func arrived(_ request: HTTPRequest) {
        let reply = mock.reply(to: request, number: number)
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
        let task = scheduler.startTask("a mock's closure") { [self] in
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

    // MARK: Pieces

    private enum Step {
        case chunk(Data)
        case end(BatonError?)
        case nothing
    }

    /// Hands out pieces until there is a wait, or there are no more.
    private func sendChunks() {
        while true {
            let step: Step = state.withLock { state in
                guard !state.isOver, !state.isPaused, let chunks = state.chunks else { return .nothing }
                guard state.position < chunks.parts.count else { return .end(chunks.failure) }
                state.wasResumed = false
                defer { state.position += 1 }
                return .chunk(chunks.parts[state.position])
            }
            switch step {
            case .nothing: return
            case .end(let failure?): return end(with: failure)
            case .end(nil): return finish { $0.end() }
            case .chunk(let bytes):
                var demand = Demand.more
                tell { demand = $0.chunk(bytes) }
                if waits(after: demand) { return }
            }
        }
    }

    private func waits(after demand: Demand) -> Bool {
        state.withLock { state in
            if case .wait = demand, !state.wasResumed {
                state.isPaused = true
                return true
            }
            return setTimer(&state)
        }
    }

    /// Sets the timer for the next piece; false when it is due now.
    private func setTimer(_ state: inout State) -> Bool {
        guard !state.isOver, let chunks = state.chunks, chunks.interval > .zero, state.position < chunks.parts.count
        else { return false }
        state.timer = scheduler.schedule(
            self, Signal(kind: Self.nextChunk), at: scheduler.now.advanced(by: chunks.interval))
        return true
    }

    func resume() {
        let isDue = state.withLock { state in
            guard state.isPaused else {
                state.wasResumed = true
                return false
            }
            state.isPaused = false
            return !setTimer(&state)
        }
        if isDue { scheduler.post(self, Signal(kind: Self.nextChunk)) }
    }

    // MARK: The end

    func cancel() {
        end(with: BatonError(.cancelled, "the request was cancelled"))
    }

    func end(with error: BatonError) {
        finish { $0.fail(error) }
    }

    /// Tells the receiver something that is not the end.
    private func tell(_ event: (TransportReceiver) -> Void) {
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
    private func finish(_ event: @escaping @Sendable (TransportReceiver) -> Void) {
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
        mock.ended(number)
        if !old.isTelling { event(receiver) }
    }
}
