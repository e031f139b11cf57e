internal import Baton
internal import Foundation

/// A body in pieces.
extension ScriptedExchange {
    private enum Step {
        case chunk(Data)
        case end(MockReply.Chunks.Ending)
        case nothing
    }

    /// Hands out pieces until there is a wait, or there are no more.
    func sendChunks() {
        while true {
            let step: Step = state.withLock { state in
                guard !state.isOver, !state.isPaused, let chunks = state.chunks else { return .nothing }
                guard state.position < chunks.parts.count else { return .end(chunks.ending) }
                state.wasResumed = false
                defer { state.position += 1 }
                return .chunk(chunks.parts[state.position])
            }
            switch step {
            case .nothing: return
            case .end(.complete): return finish { $0.end() }
            case .end(.failure(let error)): return end(with: error)
            case .end(.never): return
            case .chunk(let bytes):
                var demand = Demand.more
                tell { demand = $0.chunk(bytes) }
                if waits(after: demand) { return }
            }
        }
    }

    private func waits(after demand: Demand) -> Bool {
        state.withLock { state in
            if case .wait = demand, !state.wasResumed {
                state.isPaused = true
                return true
            }
            return setTimer(&state)
        }
    }

    /// Sets the timer for the next piece; false when it is due now.
    private func setTimer(_ state: inout State) -> Bool {
        guard !state.isOver, let chunks = state.chunks, chunks.interval > .zero, state.position < chunks.parts.count
        else { return false }
        state.timer = scheduler.schedule(
            self, Signal(kind: Self.nextChunk), at: scheduler.now.advanced(by: chunks.interval))
        return true
    }

    func resume() {
        if let onResume = state.withLock({ $0.onResume }) { return onResume() }
        let isDue = state.withLock { state in
            guard state.isPaused else {
                state.wasResumed = true
                return false
            }
            state.isPaused = false
            return !setTimer(&state)
        }
        if isDue { scheduler.post(self, Signal(kind: Self.nextChunk)) }
    }
}
