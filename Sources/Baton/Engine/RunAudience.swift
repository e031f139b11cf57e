/// Those who read how far a run is, and what they are told: the latest report, never the ones before.
final class RunAudience: Sendable {
    private struct State {
        var progress = RunProgress()
        var upload = TransferMeter()
        var download = TransferMeter()
        /// Tells a later report from an earlier one; 0 as long as there is none.
        var reported: UInt64 = 0
        var readers: [UInt64: CheckedContinuation<Void, Never>] = [:]
        /// Readers whose task was cancelled before they came to wait.
        var cancelledReaders: Set<UInt64> = []
        /// Whether the plan has ended, and whether the run is over too.
        var isClosed = false
        var isOver = false
    }

    private let state: LockBox<State>
    private let scheduler: any Scheduler

    init(_ scheduler: any Scheduler, isOver: Bool) {
        self.scheduler = scheduler
        state = LockBox(State(isClosed: isOver, isOver: isOver))
    }

    /// Takes a report, unless a later one has overtaken it.
    func report(_ progress: RunProgress, number: UInt64) {
        tell { state in
            guard number > state.reported else { return false }
            state.progress = progress
            state.reported = number
            return true
        }
    }

    /// Takes note of a body that moves.
    func note(
        _ direction: TransferProgress.Direction, _ bytes: Int64, of total: Int64?, attempt: Int,
        exchange: TransferMeter.Exchange, at now: Instant
    ) {
        tell { state in
            var progress = state.progress
            progress.batch = nil
            switch direction {
            case .upload:
                let part = state.upload.note(bytes, of: total, attempt: attempt, exchange: exchange, at: now)
                guard let part else { return false }
                progress.upload = part
            case .download:
                let part = state.download.note(bytes, of: total, attempt: attempt, exchange: exchange, at: now)
                guard let part else { return false }
                progress.download = part
            }
            state.progress = progress
            state.reported = Numbering.next()
            return true
        }
    }

    /// The plan has ended: what still comes is late.
    func close() { state.withLock { $0.isClosed = true } }

    /// The run is over: readers see the last report, and no further one.
    func finish() {
        let readers = state.withLock { state in
            (state.isClosed, state.isOver) = (true, true)
            return Self.takeReaders(&state)
        }
        for reader in readers { reader.resume() }
    }

    private func tell(_ change: (inout State) -> Bool) {
        let readers = state.withLock { state in
            !state.isClosed && change(&state) ? Self.takeReaders(&state) : []
        }
        for reader in readers { reader.resume() }
    }

    private static func takeReaders(_ state: inout State) -> [CheckedContinuation<Void, Never>] {
        defer { state.readers = [:] }
        return Array(state.readers.values)
    }

    // MARK: Reading

    /// The newest report each time it is asked for, so that readers are never behind, and see the last one.
    var progress: AsyncStream<RunProgress> {
        let seen = LockBox<UInt64>(0)
        return AsyncStream { [self] in
            while !Task.isCancelled {
                let last = seen.withLock { $0 }
                let (progress, number, isOver) = state.withLock { ($0.progress, $0.reported, $0.isOver) }
                if number > last {
                    seen.withLock { $0 = number }
                    return progress
                }
                if isOver { return nil }
                await news(after: last)
            }
            return nil
        }
    }

    /// Waits until there is a later report than that, the run is over, or the task is cancelled.
    private func news(after number: UInt64) async {
        let reader = Numbering.next()
        await scheduler.waiting {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let waits = state.withLock { state in
                        guard !state.isOver, state.reported <= number, state.cancelledReaders.remove(reader) == nil
                        else { return false }
                        state.readers[reader] = continuation
                        return true
                    }
                    if !waits { continuation.resume() }
                }
            } onCancel: {
                let continuation = state.withLock { state in
                    let continuation = state.readers.removeValue(forKey: reader)
                    if continuation == nil { state.cancelledReaders.insert(reader) }
                    return continuation
                }
                continuation?.resume()
            }
        }
        state.withLock { _ = $0.cancelledReaders.remove(reader) }
    }
}
