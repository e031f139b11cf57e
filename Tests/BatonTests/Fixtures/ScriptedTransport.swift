import Baton

/// Replies after a delay on the scheduler's time; a script says what to which request.
final class ScriptedTransport: ScheduledTransport {
    struct Line: Sendable {
        var delay: Duration = .zero
        var result: Result<HTTPResponse, BatonError>
        /// Ends the exchange also when it was cancelled, at its own time.
        var isDeaf = false

        static func reply(_ response: HTTPResponse, after delay: Duration = .zero, isDeaf: Bool = false) -> Line {
            Line(delay: delay, result: .success(response), isDeaf: isDeaf)
        }
        static func fail(_ code: BatonError.Code, after delay: Duration = .zero) -> Line {
            Line(delay: delay, result: .failure(BatonError(code, "said the script")))
        }
        /// Never replies.
        static let silence = Line(delay: .seconds(1_000_000), result: .failure(BatonError(.transportFailed)))
    }

    private let scheduler = LockBox<(any Scheduler)?>(nil)
    private let script: @Sendable (HTTPRequest, Int) -> Line
    private struct State {
        var sent: [HTTPRequest] = []
        var counts: [String: Int] = [:]
        var instants: [Instant] = []
        var open = 0
        var most = 0
    }
    private let state = LockBox(State())

    /// - Parameter script: is asked with the request and how often its path was sent, this time included.
    init(_ script: @escaping @Sendable (HTTPRequest, Int) -> Line = { request, _ in .reply(.item(for: request)) }) {
        self.script = script
    }

    func attach(to scheduler: any Scheduler) { self.scheduler.withLock { $0 = scheduler } }

    var sent: [HTTPRequest] { state.withLock { $0.sent } }
    /// When each request was sent, since the scheduler's beginning.
    var times: [Duration] { state.withLock { $0.instants.map { .nanoseconds($0.nanoseconds) } } }
    /// The most exchanges that were open at once.
    var most: Int { state.withLock { $0.most } }

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        guard let scheduler = scheduler.withLock({ $0 }) else { return FinishedTransmission.shared }
        let now = scheduler.now
        let count = state.withLock { state in
            state.sent.append(request)
            state.instants.append(now)
            state.open += 1
            state.most = max(state.most, state.open)
            state.counts[String(request.path), default: 0] += 1
            return state.counts[String(request.path)] ?? 0
        }
        let reply = Reply(script(request, count), receiver, scheduler) { [self] in state.withLock { $0.open -= 1 } }
        reply.begin()
        return reply
    }

    private final class Reply: Job, Transmission {
        private let line: Line
        private let receiver: TransportReceiver
        private let scheduler: any Scheduler
        private let ends: @Sendable () -> Void
        /// The reply may be due before `schedule` returns: ended and never armed are not the same.
        private struct Phase {
            var timer: TimerHandle?
            var hasEnded = false
        }
        private let phase = LockBox(Phase())

        init(
            _ line: Line, _ receiver: TransportReceiver, _ scheduler: any Scheduler,
            ends: @escaping @Sendable () -> Void
        ) {
            self.line = line
            self.receiver = receiver
            self.scheduler = scheduler
            self.ends = ends
        }

        func begin() {
            let handle = scheduler.schedule(self, Signal(kind: 0), at: scheduler.now.advanced(by: line.delay))
            phase.withLock { $0.timer = handle }
        }

        func run(_ signal: Signal) { end(line.result) }

        func cancel() {
            guard !line.isDeaf else { return }
            end(.failure(BatonError(.cancelled)))
        }

        private func end(_ result: Result<HTTPResponse, BatonError>) {
            let (isFirst, timer) = phase.withLock { phase in
                defer { phase = Phase(timer: nil, hasEnded: true) }
                return (!phase.hasEnded, phase.timer)
            }
            guard isFirst else { return }
            if let timer { scheduler.cancel(timer) }
            ends()
            receiver.end(with: result)
        }
    }
}
