internal import Baton
internal import Foundation

/// A body that has so many bytes, and then neither more nor an end.
final class StalledReader: HTTPBodyReader {
    private struct State {
        var bytesLeft: Int
        var whenReady: (@Sendable () -> Void)?
        var closes = 0
    }

    private let state: LockBox<State>
    private let stalls = AsyncStream.makeStream(of: Void.self)
    private let ends = AsyncStream.makeStream(of: Void.self)

    init(bytesBefore count: Int) {
        state = LockBox(State(bytesLeft: count))
    }

    var closes: Int { state.withLock { $0.closes } }

    /// Waits until it was asked for what it has not.
    func stalled() async { for await _ in stalls.stream { return } }
    /// Waits until it is closed.
    func closed() async { for await _ in ends.stream { return } }
    /// Says that reading were worth while, as a source may do at any time.
    func wake() { state.withLock { $0.whenReady }?() }

    func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
        let count = state.withLock { state in
            let count = min(limit, state.bytesLeft)
            state.bytesLeft -= count
            if count == 0 { state.whenReady = whenReady }
            return count
        }
        if count > 0 { return .bytes(Data(count: count)) }
        stalls.continuation.yield()
        return .later
    }

    func close() {
        state.withLock { $0.closes += 1 }
        ends.continuation.yield()
    }
}
