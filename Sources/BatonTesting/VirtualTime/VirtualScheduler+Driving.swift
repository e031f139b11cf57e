internal import Baton
internal import Dispatch

/// What a test's clock was asked to do.
struct ClockRequest: Sendable {
    enum Goal: Sendable {
        /// Everything up to that instant, which time then stands at.
        case reach(Instant)
        /// Everything that can run without time moving.
        case settle
        /// Everything, timers included, until nothing is left.
        case runToEnd
    }

    var goal: Goal
    var continuation: CheckedContinuation<Void, Never>
}

/// Why virtual time cannot go on.
enum Standstill: Error {
    /// Nothing will ever happen that the test waits for.
    case nothingLeft
    /// A task has been doing something else than waiting for the library for a second of real time.
    case busy(String)
}

extension VirtualScheduler {
    private enum Move {
        case perform(Item)
        case finish(CheckedContinuation<Void, Never>)
        case look
        case wait(String)
        case over
        case standstill
    }

    /// Works the list off, on this thread, until the test's body is over. Returns why it ended early, if it did.
    func drive(movesTime: Bool) -> Standstill? {
        while true {
            switch state.withLock({ nextMove(&$0, movesTime: movesTime) }) {
            case .perform(let item): perform(item)
            case .finish(let continuation): continuation.resume()
            case .look: continue
            case .over: return nil
            case .standstill: return .nothingLeft
            case .wait(let name):
                // Somebody is busy with something that we do not drive; only real time can end that.
                if wakeUp.wait(timeout: .now() + .seconds(1)) == .timedOut { return .busy(name) }
            }
        }
    }

    private func nextMove(_ state: inout State, movesTime: Bool) -> Move {
        if !state.runnable.isEmpty { return .perform(choose(&state)) }
        if state.isOver { return .over }
        if let busy = state.tasks.values.first(where: { $0.waits == 0 }) { return .wait(busy.name) }
        // Nothing can run and everybody waits: time may move.
        if let request = state.requests.first {
            switch request.goal {
            case .settle:
                state.requests.removeFirst()
                return .finish(request.continuation)
            case .reach(let instant):
                if let due = state.timers.earliest, due <= instant { return moveTime(&state, to: due) }
                state.now = max(state.now, instant)
                state.requests.removeFirst()
                return .finish(request.continuation)
            case .runToEnd:
                if let due = state.timers.earliest { return moveTime(&state, to: due) }
                state.requests.removeFirst()
                return .finish(request.continuation)
            }
        }
        if movesTime, let due = state.timers.earliest { return moveTime(&state, to: due) }
        return .standstill
    }

    private func moveTime(_ state: inout State, to instant: Instant) -> Move {
        state.now = max(state.now, instant)
        while let work = state.timers.popDue(at: state.now) { state.runnable.append(.work(work)) }
        return .look
    }

    /// The job that runs next: the seed's choice, or the oldest one.
    private func choose(_ state: inout State) -> Item {
        state.jobs += 1
        guard state.choosesBySeed, state.runnable.count > 1 else { return state.runnable.removeFirst() }
        let place = Int(state.generator.next() % UInt64(state.runnable.count))
        state.choices = (state.choices ^ UInt64(place &+ 1)) &* 0x100_0000_01b3
        return state.runnable.remove(at: place)
    }

    /// Goes on after the end, as long as that is needed and no longer than `limit` of virtual time.
    func driveOn(for limit: Duration, while isNeeded: () -> Bool) {
        let last = now.advanced(by: limit)
        while isNeeded() {
            let moves = state.withLock { state in
                guard let due = state.timers.earliest, due <= last else { return false }
                _ = moveTime(&state, to: due)
                return true
            }
            guard moves else { return }
            _ = drive(movesTime: false)
        }
    }

    /// Ends the drive as soon as nothing can run any more.
    func end() {
        state.withLock { $0.isOver = true }
        wakeUp.signal()
    }

    func request(_ goal: ClockRequest.Goal) async {
        await waiting {
            await withCheckedContinuation { continuation in
                state.withLock { $0.requests.append(ClockRequest(goal: goal, continuation: continuation)) }
            }
        }
    }
}
