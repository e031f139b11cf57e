internal import Baton
internal import Foundation

/// One request with a fault: it receives from the wrapped transport, and tells its own receiver what is left.
final class FaultyExchange: TransportEvents {
    private struct State {
        var outer: ScriptedExchange?
        var inner: (any Transmission)?
        var head: HTTPResponseHead?
        var body = Data()
        var isOver = false
    }

    private let fault: Fault
    private let seed: UInt64
    private let state = LockBox(State())

    init(_ fault: Fault, seed: UInt64) {
        self.fault = fault
        self.seed = seed
    }

    func connect(to outer: ScriptedExchange) { state.withLock { $0.outer = outer } }

    func begin(_ request: HTTPRequest, over transport: any Transport) {
        switch fault {
        case .refuse:
            take()?.end(with: BatonError(.cannotConnect, "the connection was refused"))
        case .timeOutBeforeSending:
            break
        case .unavailable(_, let wait):
            var fields = HTTPFields()
            if let wait { fields[.retryAfter] = String(Int(wait.inSeconds.rounded(.up))) }
            take()?.perform(.response(HTTPResponse(status: 503, fields: fields)))
        default:
            let inner = transport.send(request, to: TransportReceiver(self))
            let isOver = state.withLock { state in
                if !state.isOver { state.inner = inner }
                return state.isOver
            }
            if isOver { inner.cancel() }
        }
    }

    /// The receiver was told the end, whoever brought it about.
    func outerEnded() {
        let inner = state.withLock { state in
            defer { state = State(isOver: true) }
            return state.inner
        }
        inner?.cancel()
    }

    /// The way to the receiver, once.
    private func take() -> ScriptedExchange? {
        state.withLock { state in
            defer { state.outer = nil }
            return state.outer
        }
    }

    // MARK: What the wrapped transport says

    func receiveHead(_ head: HTTPResponseHead, token: UInt64) {
        state.withLock { $0.head = head }
        lookAtBody()
    }

    func receiveChunk(_ bytes: Data, token: UInt64) -> Demand {
        state.withLock { $0.body.append(bytes) }
        lookAtBody()
        return .more
    }

    func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64) {
        state.withLock { $0.outer }?.tell { $0.sent(bytes, of: total) }
    }

    func receiveEnd(_ metrics: TransportMetrics?, token: UInt64) {
        let (head, body) = state.withLock { ($0.head, $0.body) }
        guard let head else {
            take()?.end(with: BatonError(.invalidResponse, "the transport ended the exchange without a response"))
            return
        }
        land(head, body)
    }

    func receiveResponse(_ response: HTTPResponse, token: UInt64) { land(response.head, response.body) }

    func receiveFailure(_ error: BatonError, token: UInt64) {
        take()?.end(with: error)
    }

    /// A body that is cut or stalls need not be complete for that: it may be one without end.
    private func lookAtBody() {
        switch fault {
        case .cutBody(let count), .stallBody(let count):
            let (head, body, inner) = state.withLock { ($0.head, $0.body, $0.inner) }
            guard let head, body.count > count else { return }
            land(head, body)
            inner?.cancel()
        case .loseReply:
            take()?.end(with: Self.lost)
        default: return
        }
    }

    private static let lost = BatonError(.connectionLost, "the connection was lost")

    private func land(_ head: HTTPResponseHead, _ body: Data) {
        guard let outer = take() else { return }
        var head = head
        var parts = [body]
        var interval = Duration.zero
        var ending = MockReply.Chunks.Ending.complete
        switch fault {
        case .refuse, .timeOutBeforeSending, .unavailable: return
        case .loseReply: return outer.end(with: Self.lost)
        case .cutBody(let count): (parts, ending) = ([body.prefix(count)], .failure(Self.lost))
        case .stallBody(let count): (parts, ending) = ([body.prefix(count)], .never)
        case .drip(let count, let every): (parts, interval) = (Self.pieces(body, max(1, count)), every)
        case .wrongLength(let difference):
            let length = max(0, body.count + difference)
            head.fields[.contentLength] = String(length)
            parts = [body.prefix(length)]
            if length > body.count { ending = .failure(Self.lost) }
        case .garbageBody: parts = [noise(body.count)]
        }
        let chunks = MockReply.Chunks(
            head: head, parts: parts.filter { !$0.isEmpty }.map { Data($0) }, interval: interval, ending: ending)
        outer.perform(.chunks(chunks))
    }

    private static func pieces(_ body: Data, _ size: Int) -> [Data] {
        stride(from: body.startIndex, to: body.endIndex, by: size).map { start in
            body[start..<min(start + size, body.endIndex)]
        }
    }

    private func noise(_ count: Int) -> Data {
        var generator = SeededGenerator(seed: seed)
        return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
    }
}
