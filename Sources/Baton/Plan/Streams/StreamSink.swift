package import Foundation

/// The body of a response on its way to one reader: what it has not taken yet waits here, and holds the transport up
/// when it is much.
package final class StreamSink: ResponseSink {
    private struct State {
        var pieces: [Data] = []
        var count = 0
        var exchange: SinkExchange?
        var isHeld = false
        var hasBegun = false
        var reader: CheckedContinuation<Void, Never>?
        var head: HTTPResponseHead?
        var end: Result<Void, BatonError>?
    }

    /// So many bytes wait at most before the transport is asked to wait.
    private static let high = 1 << 16

    private let state = LockBox(State())
    private let check: @Sendable (HTTPResponseHead) -> BatonError?

    /// - Parameter check: what is wrong with an accepted response; nil when nothing is.
    package init(check: @escaping @Sendable (HTTPResponseHead) -> BatonError?) {
        self.check = check
    }

    /// The head of the response, as soon as it is there.
    package var head: HTTPResponseHead? { state.withLock { $0.head } }

    /// Whether anything of the body has come.
    package var hasBegun: Bool { state.withLock { $0.hasBegun } }

    package func open(_ head: HTTPResponseHead, _ exchange: SinkExchange) -> SinkAnswer {
        if let fault = check(head) { return .fail(fault) }
        let isUsed = state.withLock { state in
            if state.hasBegun { return true }
            (state.head, state.exchange) = (head, exchange)
            return false
        }
        if isUsed {
            return .fail(BatonError(.notReplayable, "a part of the stream was read already, so it cannot begin again"))
        }
        return .take(offset: 0, total: head.plainLength)
    }

    package func take(_ bytes: Data, of exchange: UInt64) -> Demand {
        let (demand, reader): (Demand, CheckedContinuation<Void, Never>?) = state.withLock { state in
            guard state.exchange?.id == exchange, state.end == nil else { return (.more, nil) }
            state.pieces.append(bytes)
            state.count += bytes.count
            state.hasBegun = true
            state.isHeld = state.isHeld || state.count > Self.high
            defer { state.reader = nil }
            return (state.isHeld ? .wait : .more, state.reader)
        }
        reader?.resume()
        return demand
    }

    package func close(_ exchange: UInt64, done: @escaping @Sendable (BatonError?) -> Void) { done(nil) }

    package var mayRetry: Bool { !hasBegun }

    /// The run is over.
    package func finish(_ result: Result<any Sendable, BatonError>) {
        let reader = state.withLock { state in
            // An interceptor answered, and nothing came from a transport.
            if case .success(let value) = result, let response = value as? HTTPResponse, !state.hasBegun {
                state.head = response.head
                if !response.body.isEmpty { state.pieces.append(response.body) }
            }
            if state.end == nil { state.end = result.map { _ in } }
            state.exchange = nil
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    private enum Look {
        case pieces([Data], SinkExchange?)
        case end(Result<Void, BatonError>)
        case wait
    }

    /// What has come since the last time; nil at the end.
    package func next(_ scheduler: any Scheduler) async throws(BatonError) -> [Data]? {
        while true {
            switch state.withLock(look) {
            case .pieces(let pieces, let exchange):
                exchange?.resume()
                return pieces
            case .end(let result):
                try result.get()
                return nil
            case .wait:
                await scheduler.waiting {
                    await withCheckedContinuation { continuation in
                        let waits = state.withLock { state in
                            guard state.pieces.isEmpty, state.end == nil else { return false }
                            state.reader = continuation
                            return true
                        }
                        if !waits { continuation.resume() }
                    }
                }
            }
        }
    }

    private func look(_ state: inout State) -> Look {
        guard !state.pieces.isEmpty else { return state.end.map { .end($0) } ?? .wait }
        let pieces = state.pieces
        let isHeld = state.isHeld
        (state.pieces, state.count, state.isHeld) = ([], 0, false)
        return .pieces(pieces, isHeld ? state.exchange : nil)
    }
}
