internal import Foundation

/// What comes from the transport.
extension FileSink {
    func prepare(_ request: inout HTTPRequest) {
        if !request.fields.contains(.acceptEncoding) {
            // A part of a compressed body is of no use by itself, and its length says nothing about the file's.
            request.fields[.acceptEncoding] = "identity"
        }
        guard isResumable else { return }
        let part: (Int64, String)? = state.withLock { state in
            let part = state.offset > 0 ? state.validator.map { (state.offset, $0.text) } : nil
            state.asksForRange = part != nil
            return part
        }
        request.fields[.range] = part.map { "bytes=\($0.0)-" }
        request.fields[.ifRange] = part?.1
    }

    func open(_ head: HTTPResponseHead, _ exchange: SinkExchange) -> SinkAnswer {
        let (answer, isWriting): (SinkAnswer, Bool) = state.withLock { state in
            if let fault = state.fault { return (.fail(fault), true) }
            guard state.file != nil, !state.isAbandoned else { return (.fail(BatonError(.cancelled)), true) }
            state.exchange = exchange
            state.isComplete = false
            state.isHeld = false
            if head.status == 206, state.asksForRange {
                guard let range = ContentRange(head.fields[.contentRange]), range.start <= state.offset,
                    range.end >= state.offset - 1, head.isPlain, let validator = state.validator,
                    validator.fits(head.fields), state.total == nil || range.total == nil || state.total == range.total
                else {
                    state.exchange = nil
                    return (.again, true)
                }
                state.skip = state.offset - range.start
                state.start = state.offset
                state.total = range.total ?? state.total
                return (.take(offset: range.start, total: state.total), true)
            }
            let startsOver = state.offset > 0
            if startsOver { startOver(&state) }
            state.exchange = exchange
            (state.start, state.skip) = (0, 0)
            state.total = head.plainLength
            let mayResume =
                isResumable && head.status == 200 && head.isPlain
                && head.fields["Accept-Ranges"]?.lowercased() != "none"
            state.validator = mayResume ? ResumeNote.Validator(head.fields) : nil
            defer { if startsOver { state.isWriting = true } }
            return (.take(offset: 0, total: state.total), !startsOver || state.isWriting)
        }
        writeSoon(isWriting)
        return answer
    }

    /// What is there is of no use.
    private func startOver(_ state: inout State) {
        state.steps.append(.startOver)
        (state.offset, state.start, state.skip) = (0, 0, 0)
        (state.total, state.validator, state.exchange) = (nil, nil, nil)
    }

    func again(after head: HTTPResponseHead, _ request: HTTPRequest) -> HTTPRequest? {
        let isWriting: Bool? = state.withLock { state in
            guard state.asksForRange, head.status == 206 || head.status == 416, !state.isAbandoned else { return nil }
            state.asksForRange = false
            startOver(&state)
            defer { state.isWriting = true }
            return state.isWriting
        }
        guard let isWriting else { return nil }
        writeSoon(isWriting)
        var request = request
        request.fields[.range] = nil
        request.fields[.ifRange] = nil
        return request
    }

    func take(_ bytes: Data, of exchange: UInt64) -> Demand {
        let (demand, isWriting): (Demand, Bool) = state.withLock { state in
            guard state.exchange?.id == exchange, state.fault == nil else { return (.more, true) }
            var bytes = bytes
            if state.skip > 0 {
                let known = min(state.skip, Int64(bytes.count))
                state.skip -= known
                bytes = bytes.dropFirst(Int(known))
            }
            if bytes.isEmpty { return (.more, true) }
            state.steps.append(.write(bytes, at: state.offset))
            state.offset += Int64(bytes.count)
            state.pending += bytes.count
            state.isHeld = state.isHeld || state.pending > Self.high
            defer { state.isWriting = true }
            return (state.isHeld ? .wait : .more, state.isWriting)
        }
        writeSoon(isWriting)
        return demand
    }

    func close(_ exchange: UInt64, done: @escaping @Sendable (BatonError?) -> Void) {
        let fault: BatonError?? = state.withLock { state in
            guard state.exchange?.id == exchange else {
                return .some(state.fault ?? BatonError(.cancelled, "the download was cancelled"))
            }
            state.exchange = nil
            if let total = state.total, state.offset != total {
                let isShort = state.offset < total
                return .some(
                    BatonError(
                        isShort ? .connectionLost : .invalidResponse,
                        "the response ended after \(state.offset) of \(total) bytes"))
            }
            state.isComplete = true
            if state.isWriting {
                state.whenWritten.append(done)
                return nil
            }
            return .some(state.fault)
        }
        if let fault { done(fault) }
    }

    func interrupt(_ exchange: UInt64, done: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            if state.exchange?.id == exchange { state.exchange = nil }
            guard state.isWriting else { return false }
            state.whenWritten.append { _ in done() }
            return true
        }
        if !waits { done() }
    }

    var mayRetry: Bool { state.withLock { $0.fault == nil } }
}
