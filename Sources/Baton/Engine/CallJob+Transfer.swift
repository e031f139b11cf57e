internal import Foundation

/// What a call does for a body that moves.
extension CallJob {
    /// Lets what takes the body say in the request what is still wanted of it.
    func prepare(_ token: UInt64) {
        guard let original = state.withLock({ $0.original }), let sink = original.sink else { return }
        var request = original.request
        sink.prepare(&request)
        let changed = original.with(request)
        proceed(token) { state, now, sequel in
            sequel.change(to: changed, in: &state)
            return dress(&state, now, &sequel)
        }
    }

    /// Sends a request whose body, or whose response's, moves.
    func carry(_ call: CallDescription, _ token: UInt64) {
        let transfer = Transfer(self, call.sink, call.request)
        let transmission = engine.transport.send(
            withCookies(call.request), to: TransportReceiver(transfer, token: token))
        let isKept = keeps(transmission, token)
        transfer.began(transmission)
        if !isKept { transmission.cancel() }
    }

    /// Sends another request in place of one that the transport has ended: the same attempt, in the same slot.
    func resend(_ request: HTTPRequest, _ token: UInt64) {
        var sequel = Sequel()
        let call: CallDescription? = state.withLock { state in
            guard state.token == token, state.phase == .inFlight, let call = state.call?.with(request) else {
                return nil
            }
            sequel.change(to: call, in: &state)
            state.received = nil
            state.transmission = nil
            return call
        }
        // Where it was given up meanwhile, its slot goes back.
        guard let call else { return receiveFailure(Self.cancelled, token: token) }
        _ = touch(token)
        carry(call, token)
    }

    /// A sign of life: the timeout begins anew. False when the exchange is not the present one any more.
    func touch(_ token: UInt64) -> Bool {
        let now = scheduler.now
        return state.withLock { state in
            guard state.token == token, state.phase == .inFlight else { return false }
            state.deadline = deadline(&state, now)
            if state.timer == nil { armTimer(&state) }
            return true
        }
    }

    /// The exchange waits for a reader of ours, so no time runs.
    func hold(_ token: UInt64) {
        state.withLock { state in
            if state.token == token, state.phase == .inFlight { state.deadline = .distantFuture }
        }
    }

    /// Whether the body of a response with that head is what was asked for.
    func accepts(_ head: HTTPResponseHead) -> Bool {
        guard let validation = settings.rules(for: state.withLock { $0.options })?.validation else {
            return (200..<300).contains(head.status)
        }
        if RedirectRules.leadsOn(head) { return false }
        // Whether there is a body at all is not known yet; where there is one, its type counts.
        let body = head.contentLength == 0 ? Data() : Data([0])
        return validation.refusal(of: HTTPResponse(head: head, body: body)) == nil
    }

    // MARK: Progress

    /// Tells those who listen how far a body is. Within batches only the items count.
    func report(_ direction: TransferProgress.Direction, _ bytes: Int64, of total: Int64?, _ token: UInt64) {
        guard run.isHeard, run.batch == nil else { return }
        let attempt: Int? = state.withLock { state in
            state.token == token && state.phase == .inFlight ? max(1, state.attempt) : nil
        }
        guard let attempt else { return }
        run.note(
            direction, bytes, of: total, attempt: attempt,
            exchange: TransferMeter.Exchange(call: ObjectIdentifier(self), token: token), at: scheduler.now)
    }

    /// The same for a body that is kept in memory.
    func reportReceived(_ token: UInt64) {
        let received: (Int64, Int64?)? = state.withLock { state in
            guard state.token == token, state.phase == .inFlight else { return nil }
            return (Int64(state.received?.body.count ?? 0), state.received?.head?.plainLength)
        }
        if let (bytes, total) = received { report(.download, bytes, of: total, token) }
    }
}

extension HTTPResponseHead {
    /// The number of bytes that a receiver gets; nil where it is not announced, or is that of a coded body.
    package var plainLength: Int64? {
        guard isPlain else { return nil }
        return contentLength
    }

    /// Whether the body comes as it is.
    package var isPlain: Bool {
        guard let coding = fields[.contentEncoding] else { return true }
        return coding.isEmpty || coding.lowercased() == "identity"
    }
}
