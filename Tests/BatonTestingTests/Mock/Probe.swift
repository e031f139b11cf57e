import Baton
import Dispatch
import Foundation

/// A receiver that notes what it is told.
final class Probe: TransportEvents {
    struct State {
        var head: HTTPResponseHead?
        var chunks: [Data] = []
        var sent: [Int64] = []
        var result: Result<HTTPResponse, BatonError>?
        var ends = 0
        var demand = Demand.more
        var waiters: [(events: Int, CheckedContinuation<Void, Never>)] = []
        var events = 0
    }

    private let state = LockBox(State())
    private let onEnd: @Sendable () -> Void

    init(onEnd: @escaping @Sendable () -> Void = {}) {
        self.onEnd = onEnd
    }

    var now: State { state.withLock { $0 } }
    var receiver: TransportReceiver { TransportReceiver(self) }
    var code: BatonError.Code? {
        if case .failure(let error) = now.result { error.code } else { nil }
    }
    var body: Data { now.chunks.reduce(Data(), +) }

    /// What the next pieces are answered with.
    func setDemand(_ demand: Demand) { state.withLock { $0.demand = demand } }

    /// Waits for the end.
    func end() async -> Result<HTTPResponse, BatonError> {
        await wait { $0.result != nil }
        return now.result!
    }

    /// Waits until so many pieces have come.
    func chunks(_ count: Int) async { await wait { $0.chunks.count >= count } }

    private func wait(until isDone: @escaping @Sendable (State) -> Bool) async {
        while !isDone(now) {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if isDone(state) { return true }
                    state.waiters.append((state.events, continuation))
                    return false
                }
                if isOver { continuation.resume() }
            }
        }
    }

    private func note<T>(_ change: (inout State) -> T) -> T {
        let (result, waiters) = state.withLock { state in
            state.events += 1
            let result = change(&state)
            defer { state.waiters = [] }
            return (result, state.waiters)
        }
        for waiter in waiters { waiter.1.resume() }
        return result
    }

    func receiveHead(_ head: HTTPResponseHead, token: UInt64) { note { $0.head = head } }
    func receiveChunk(_ bytes: Data, token: UInt64) -> Demand {
        note { state in
            state.chunks.append(bytes)
            return state.demand
        }
    }
    func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64) { note { $0.sent.append(bytes) } }
    func receiveEnd(_ metrics: TransportMetrics?, token: UInt64) {
        land(.success(HTTPResponse(head: now.head ?? HTTPResponseHead(status: 0), body: body)))
    }
    func receiveResponse(_ response: HTTPResponse, token: UInt64) { land(.success(response)) }
    func receiveFailure(_ error: BatonError, token: UInt64) { land(.failure(error)) }

    private func land(_ result: Result<HTTPResponse, BatonError>) {
        onEnd()
        note { state in
            state.ends += 1
            state.result = state.result ?? result
        }
    }
}

/// The live scheduler, with its timers counted.
final class CountingScheduler: Scheduler {
    private let live = LiveScheduler.shared
    private let pending = LockBox<[UInt64: Bool]>([:])
    private let handles = LockBox<[(TimerHandle, UInt64)]>([])

    /// The timers that have neither fired nor been cancelled.
    var timers: Int { pending.withLock { $0.count } }

    private final class Fired: Job {
        let job: any Job
        let done: @Sendable () -> Void
        init(_ job: any Job, _ done: @escaping @Sendable () -> Void) {
            self.job = job
            self.done = done
        }
        func run(_ signal: Signal) {
            done()
            job.run(signal)
        }
    }

    var now: Instant { live.now }
    var date: Date { live.date }
    func random() -> UInt64 { live.random() }
    func post(_ job: any Job, _ signal: Signal) { live.post(job, signal) }
    func execute(_ job: any Job, _ signal: Signal) { live.execute(job, signal) }
    func handOver() { live.handOver() }
    func deliver(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) { live.deliver(on: queue, body) }
    func startTask(_ name: String, _ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        live.startTask(name, body)
    }
    func beginWait() {}
    func endWait() {}
    func schedule(_ job: any Job, _ signal: Signal, at instant: Instant) -> TimerHandle {
        let id = Numbering.next()
        pending.withLock { $0[id] = true }
        let fired = Fired(job) { [pending] in pending.withLock { _ = $0.removeValue(forKey: id) } }
        let handle = live.schedule(fired, signal, at: instant)
        handles.withLock { $0.append((handle, id)) }
        return handle
    }
    func cancel(_ timer: TimerHandle) {
        live.cancel(timer)
        let id = handles.withLock { $0.last { $0.0 == timer }?.1 }
        if let id { pending.withLock { _ = $0.removeValue(forKey: id) } }
    }
}

/// A body that is there in pieces, some of them later, from another thread.
func stream(of pieces: [Data], later: Bool = false, length: Int64? = nil) -> HTTPBodyStream {
    final class Reader: HTTPBodyReader {
        let rest: LockBox<(pieces: [Data], isLate: Bool)>
        init(_ pieces: [Data], _ later: Bool) { rest = LockBox((pieces, later)) }
        func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
            let piece: HTTPBodyPiece = rest.withLock { rest in
                if rest.pieces.isEmpty { return .end }
                if rest.isLate {
                    rest.isLate = false
                    return .later
                }
                return .bytes(rest.pieces.removeFirst())
            }
            if case .later = piece { DispatchQueue.global().async(execute: whenReady) }
            return piece
        }
        func close() {}
    }
    return HTTPBodyStream(length: length, isReplayable: true) { Reader(pieces, later) }
}
