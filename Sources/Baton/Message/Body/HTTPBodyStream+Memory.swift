public import Foundation

extension HTTPBodyStream {
    /// Bytes in memory as a stream: of known length, replayable.
    public static func data(_ data: Data) -> HTTPBodyStream {
        HTTPBodyStream(length: Int64(data.count), isReplayable: true) { MemoryReader(data) }
    }

    /// Everything that a new reader yields, at most `limit` bytes.
    ///
    /// - Throws: what the reader throws; a `MessageFault` beyond the limit; `CancellationError` when the task was
    ///   cancelled, at the next piece.
    package func bytes(limit: Int = .max) async throws -> Data {
        let reader = try open()
        defer { reader.close() }
        var bytes = Data()
        while true {
            try Task.checkCancellation()
            let ready = OneShotSignal()
            switch try reader.read(upTo: 65_536, whenReady: { ready.send() }) {
            case .bytes(let piece):
                guard bytes.count + piece.count <= limit else {
                    throw MessageFault("body", "is longer than the limit of \(limit) bytes")
                }
                bytes += piece
            case .later: await ready.wait()
            case .end: return bytes
            }
        }
    }
}

/// Hands out bytes that are in memory already.
private final class MemoryReader: HTTPBodyReader {
    private let rest: LockBox<Data>

    init(_ data: Data) { rest = LockBox(data) }

    func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) -> HTTPBodyPiece {
        rest.withLock { rest in
            if rest.isEmpty { return .end }
            let piece = rest.prefix(max(limit, 1))
            rest = rest.dropFirst(piece.count)
            return .bytes(piece)
        }
    }

    func close() {}
}

/// One task that waits for one event; the event may come first.
struct OneShotSignal: Sendable {
    private enum State {
        case idle
        case waiting(CheckedContinuation<Void, Never>)
        case sent
    }

    private let state = LockBox(State.idle)

    func send() {
        let waiting: CheckedContinuation<Void, Never>? = state.withLock { state in
            defer { state = .sent }
            return if case .waiting(let continuation) = state { continuation } else { nil }
        }
        waiting?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isSent = state.withLock { state in
                if case .sent = state { return true }
                state = .waiting(continuation)
                return false
            }
            if isSent { continuation.resume() }
        }
    }
}
