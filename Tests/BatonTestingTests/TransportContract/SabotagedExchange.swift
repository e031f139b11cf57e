import Baton
import BatonTesting
import Foundation

/// One exchange of a ``Saboteur``.
final class SabotagedExchange: TransportEvents, Transmission {
    private typealias Fault = Saboteur.Fault

    private struct State {
        var inner: (any Transmission)?
        var isOver = false
        var isMute = false
        var isWaiting = false
        var head: HTTPResponseHead?
        var bytes = 0
        var held: Data?
    }

    private let saboteur: Saboteur
    private let request: HTTPRequest
    private let receiver: TransportReceiver
    private let state = LockBox(State())

    private var fault: Fault? { saboteur.fault }

    init(_ saboteur: Saboteur, _ request: HTTPRequest, _ receiver: TransportReceiver) {
        self.saboteur = saboteur
        self.request = request
        self.receiver = receiver
    }

    func begin() { send(request) }

    private func send(_ request: HTTPRequest) {
        let inner = saboteur.inner.send(request, to: TransportReceiver(self))
        state.withLock { $0.inner = inner }
    }

    // MARK: Cancelling

    func cancel() {
        if fault == .locks { saboteur.lock.lock() }
        defer { if fault == .locks { saboteur.lock.unlock() } }
        let (inner, isOver, isWaiting) = state.withLock { ($0.inner, $0.isOver, $0.isWaiting) }
        let cancelled = BatonError(.cancelled)
        switch fault {
        case .answersEachCancel,
            .answersLateCancels where isOver:
            receiver.fail(cancelled)
        case .hesitates:
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(700)) { inner?.cancel() }
            return
        case .babbles where !isOver && state.withLock { $0.head != nil }: receiver.chunk(Data("late".utf8))
        case .ignoresCancelInEvents where saboteur.isInEvent: return
        case .answersAndForwards: receiver.fail(cancelled)
        case .ignoresCancelWhileWaiting where isWaiting: return
        case .keepsConnections: return finish { $0.fail(cancelled) }
        case .cancelsAll:
            for other in saboteur.state.withLock({ Array($0.open.values) }) {
                other.state.withLock { $0.inner }?.cancel()
            }
        default: break
        }
        inner?.cancel()
    }

    func resume() {
        let inner = state.withLock { state in
            state.isWaiting = false
            return state.inner
        }
        inner?.resume()
    }

    // MARK: Telling

    private func tell<Result>(_ event: (TransportReceiver) -> Result) -> Result? {
        guard !state.withLock({ $0.isOver || $0.isMute }) else { return nil }
        return inEvent(event)
    }

    private func inEvent<Result>(_ event: (TransportReceiver) -> Result) -> Result {
        let thread = ObjectIdentifier(Thread.current)
        saboteur.state.withLock { $0.telling.append(thread) }
        if fault == .locks { saboteur.lock.lock() }
        let result = event(receiver)
        if fault == .locks { saboteur.lock.unlock() }
        saboteur.state.withLock { state in
            if let place = state.telling.lastIndex(of: thread) { state.telling.remove(at: place) }
        }
        return result
    }

    func finish(_ event: (TransportReceiver) -> Void) {
        let isFirst = state.withLock { state in
            defer { state.isOver = true }
            return !state.isOver
        }
        guard isFirst || fault == .answersAndForwards else { return }
        saboteur.state.withLock { $0.open[ObjectIdentifier(self)] = nil }
        inEvent(event)
    }

    // MARK: What the good transport says

    func receiveHead(_ head: HTTPResponseHead, token: UInt64) {
        var head = head
        switch fault {
        case .dropsResponseFields: head.fields = Saboteur.last(head.fields)
        case .judgesStatuses where head.status >= 400: return finish { $0.fail(BatonError(.unacceptableStatus)) }
        case .waitsForCredentials where head.status == 401: return state.withLock { $0.isMute = true }
        case .dropsContentLength: head.fields[.contentLength] = nil
        case .tellsInterims: _ = tell { $0.head(HTTPResponseHead(status: 103)) }
        case .followsRedirects where (300..<400).contains(head.status):
            var next = request
            next.target = head.fields[.location] ?? "/"
            state.withLock { $0.isMute = true }
            saboteur.state.withLock { $0.calls += 1 }
            _ = saboteur.inner.send(next, to: TransportReceiver(Follower(self)))
            return
        default: break
        }
        state.withLock { $0.head = head }
        _ = tell { $0.head(head) }
        if fault == .inventsBodies, head.status == 204 { _ = tell { $0.chunk(Data("x".utf8)) } }
    }

    func receiveChunk(_ bytes: Data, token: UInt64) -> Demand {
        let (head, count) = state.withLock { state in
            state.bytes += bytes.count
            return (state.head, state.bytes)
        }
        var bytes = bytes
        switch fault {
        case .losesTails where head?.fields.contains(.contentLength) == false && bytes.count > 1:
            bytes = Data(bytes.dropLast())
        case .leavesCoded where head?.fields.contains(.contentEncoding) == true: bytes = Data([0x1F, 0x8B])
        case .shortensResponses where count > 1_000_000: return .more
        case .swapsPieces:
            let held = state.withLock { state in
                defer { state.held = state.held == nil ? bytes : nil }
                return state.held
            }
            guard let held else { return .more }
            bytes += held
        default: break
        }
        // Before the receiver is asked: it may be cancelled by somebody else as soon as it has the bytes.
        state.withLock { $0.isWaiting = true }
        let demand = tell { $0.chunk(bytes) } ?? .more
        guard case .wait = demand else {
            state.withLock { $0.isWaiting = false }
            return demand
        }
        return fault == .ignoresWaits ? .more : demand
    }

    func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64) {
        _ = tell { $0.sent(fault == .saysAllIsSent ? 30_000_000 : bytes, of: total) }
    }

    func receiveEnd(_ metrics: TransportMetrics?, token: UInt64) {
        guard !state.withLock({ $0.isMute }) else { return }
        if let held = state.withLock({ $0.held }) { _ = tell { $0.chunk(held) } }
        if fault == .refusesEmptiness, state.withLock({ $0.bytes == 0 }) {
            return finish { $0.fail(BatonError(.emptyBody)) }
        }
        finish { $0.end(metrics) }
        if fault == .endsTwice { receiver.end(metrics) }
    }

    func receiveResponse(_ response: HTTPResponse, token: UInt64) {
        receiveHead(response.head, token: token)
        if !response.body.isEmpty { _ = receiveChunk(response.body, token: token) }
        receiveEnd(response.metrics, token: token)
    }

    func receiveFailure(_ error: BatonError, token: UInt64) {
        saboteur.state.withLock { $0.hasFailed = true }
        switch fault {
        case .endsWhereItBreaks where error.code == .connectionLost && state.withLock { $0.head != nil }:
            finish { $0.end() }
        case .namesNoFailure: finish { $0.fail(BatonError(.transportFailed)) }
        case .namesSecrets:
            let text = "\(request.urlString) \(request.fields.map(\.value))"
            finish { $0.fail(BatonError(error.code, text)) }
        default: finish { $0.fail(error) }
        }
    }

    /// Hands on what a redirect led to.
    private final class Follower: TransportEvents {
        private let exchange: SabotagedExchange
        init(_ exchange: SabotagedExchange) { self.exchange = exchange }
        func receiveHead(_ head: HTTPResponseHead, token: UInt64) { exchange.receiver.head(head) }
        func receiveChunk(_ bytes: Data, token: UInt64) -> Demand { exchange.receiver.chunk(bytes) }
        func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64) {}
        func receiveEnd(_ metrics: TransportMetrics?, token: UInt64) { exchange.finish { $0.end(metrics) } }
        func receiveResponse(_ response: HTTPResponse, token: UInt64) { exchange.finish { $0.complete(response) } }
        func receiveFailure(_ error: BatonError, token: UInt64) { exchange.finish { $0.fail(error) } }
    }
}
