internal import Foundation

/// One exchange that moves a body which is not kept in memory: it stands between the transport and the call.
///
/// The body of an accepted response goes to the call's sink; any other is kept for the error, up to a bound. The call
/// hears of a whole response, or of a failure, and of every sign of life, so that its timeout is one of silence.
final class Transfer: TransportEvents {
    private enum Mode {
        /// No head yet, or no sink.
        case waiting
        /// The body goes to the sink.
        case taking
        /// The body is of a response that was not accepted.
        case keeping
        /// The response is of no use: another request follows when the transport has ended this one.
        case restarting
        case over
    }

    private struct State {
        var mode = Mode.waiting
        var head: HTTPResponseHead?
        var kept = Data()
        var position: Int64 = 0
        var total: Int64?
        var transmission: (any Transmission)?
        /// The sink wanted more before there was a transmission to tell.
        var owesResume = false
        var resumes = 0
    }

    /// How many bytes are kept of a response that is not accepted.
    private static let keptBytes = 1 << 20

    private let call: CallJob
    private let sink: (any ResponseSink)?
    private let request: HTTPRequest
    private let id = Numbering.next()
    private let state = LockBox(State())

    init(_ call: CallJob, _ sink: (any ResponseSink)?, _ request: HTTPRequest) {
        self.call = call
        self.sink = sink
        self.request = request
    }

    /// The transport has begun; what came before is made up for.
    func began(_ transmission: any Transmission) {
        let (owesResume, stops) = state.withLock { state in
            if state.mode != .over { state.transmission = transmission }
            defer { state.owesResume = false }
            return (state.owesResume, state.mode == .restarting)
        }
        if owesResume { transmission.resume() }
        if stops { transmission.cancel() }
    }

    private func resume(_ token: UInt64) {
        _ = call.touch(token)
        let transmission = state.withLock { state in
            state.resumes += 1
            if state.transmission == nil { state.owesResume = true }
            return state.transmission
        }
        transmission?.resume()
    }

    // MARK: What the transport says

    func receiveHead(_ head: HTTPResponseHead, token: UInt64) {
        call.receiveHead(head, token: token)
        guard call.touch(token) else { return }
        guard let sink else { return state.withLock { $0.head = head } }
        guard call.accepts(head) else {
            return state.withLock { state in
                state.head = head
                state.mode = .keeping
            }
        }
        let exchange = SinkExchange(id: id) { [self] in
            resume(token)
        } fail: { [self] error in
            state.withLock { $0.mode = .over }
            call.giveUp(error, token)
        }
        let answer = sink.open(head, exchange)
        let transmission: (any Transmission)? = state.withLock { state in
            state.head = head
            guard state.mode != .over else { return nil }
            switch answer {
            case .take(let offset, let total): (state.mode, state.position, state.total) = (.taking, offset, total)
            case .fail: state.mode = .over
            case .again:
                state.mode = .restarting
                return state.transmission
            }
            return nil
        }
        transmission?.cancel()
        if case .fail(let error) = answer { call.giveUp(error, token) }
    }

    func receiveChunk(_ bytes: Data, token: UInt64) -> Demand {
        guard let sink else {
            _ = call.touch(token)
            return call.receiveChunk(bytes, token: token)
        }
        guard call.touch(token) else { return .more }
        let (mode, position, total, resumes) = state.withLock { state in
            if state.mode == .keeping, state.kept.count < Self.keptBytes {
                state.kept.append(bytes.prefix(Self.keptBytes - state.kept.count))
            }
            if state.mode == .taking { state.position += Int64(bytes.count) }
            return (state.mode, state.position, state.total, state.resumes)
        }
        guard mode == .taking else { return .more }
        call.report(.download, position, of: total, token)
        guard sink.take(bytes, of: id) == .wait else { return .more }
        // While the reader has enough, silence is no fault; it may have asked for more meanwhile.
        call.hold(token)
        if state.withLock({ $0.resumes != resumes }) { _ = call.touch(token) }
        return .wait
    }

    func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64) {
        guard call.touch(token) else { return }
        call.receiveSent(bytes, of: total, token: token)
    }

    func receiveEnd(_ metrics: TransportMetrics?, token: UInt64) {
        if sink == nil { return call.receiveEnd(metrics, token: token) }
        end(metrics, url: nil, token)
    }

    func receiveResponse(_ response: HTTPResponse, token: UInt64) {
        if sink == nil { return call.receiveResponse(response, token: token) }
        receiveHead(response.head, token: token)
        if !response.body.isEmpty { _ = receiveChunk(response.body, token: token) }
        end(response.metrics, url: response.url, token)
    }

    func receiveFailure(_ error: BatonError, token: UInt64) {
        let old = take()
        if old.mode == .restarting { return restart(token) }
        guard let sink, old.mode == .taking else { return call.receiveFailure(error, token: token) }
        // What arrived is safe before another attempt asks for the rest.
        call.hold(token)
        sink.interrupt(id) { [self] in call.receiveFailure(error, token: token) }
    }

    // MARK: The end

    private func take() -> State {
        state.withLock { state in
            let old = state
            state.mode = .over
            state.transmission = nil
            return old
        }
    }

    private func end(_ metrics: TransportMetrics?, url: String?, _ token: UInt64) {
        let old = take()
        guard let sink, let head = old.head else { return call.receiveEnd(metrics, token: token) }
        switch old.mode {
        case .taking:
            call.hold(token)
            sink.close(id) { [self] fault in
                if let fault { return call.receiveFailure(fault, token: token) }
                call.receiveResponse(
                    HTTPResponse(head: head, body: Data(), metrics: metrics, url: url), token: token)
            }
        case .keeping:
            if let request = sink.again(after: head, request) { return call.resend(request, token) }
            call.receiveResponse(HTTPResponse(head: head, body: old.kept, metrics: metrics, url: url), token: token)
        case .restarting: restart(token)
        // Given up: only the slot is still to be given back.
        case .waiting, .over: call.receiveFailure(CallJob.cancelled, token: token)
        }
    }

    private func restart(_ token: UInt64) {
        guard let head = state.withLock({ $0.head }), let request = sink?.again(after: head, request) else {
            return call.receiveFailure(
                BatonError(.invalidResponse, "the response is not the one that was asked for"), token: token)
        }
        call.resend(request, token)
    }
}
