/// What became of each item of a batch, without its value: status, attempts and times, and errors where there are any.
///
/// It knows no types, so that noting an outcome costs no look-up of generic metadata. The values' memory is kept here
/// too, as raw bytes that the typed owner fills and empties.
package final class BatchLog: Sendable {
    enum Status: UInt8 {
        case notStarted, running, succeeded, failed, cancelled
    }

    struct Record {
        var began: Int64 = 0
        var ended: Int64 = 0
        var attempts: UInt32 = 0
        var status = Status.notStarted

        mutating func end(_ status: Status, _ attempts: Int, _ time: Int64) {
            self.status = status
            self.attempts += UInt32(clamping: attempts)
            ended = time
        }
    }

    struct State {
        var records: ContiguousArray<Record> = []
        var errors: [Int: BatonError] = [:]
        /// Values in chunks that never move, so that one can be written while others are added.
        var chunks: ContiguousArray<UnsafeMutableRawPointer> = []
    }

    /// How many values a chunk holds.
    static let chunk = 1_024

    let state = LockBox(State())
    let start: Int64
    private let stride: Int
    private let alignment: Int

    init(start: Instant, stride: Int, alignment: Int) {
        self.start = start.nanoseconds
        self.stride = stride
        self.alignment = alignment
    }

    deinit {
        for chunk in state.withLock({ $0.chunks }) { chunk.deallocate() }
    }

    package var count: Int { state.withLock { $0.records.count } }

    /// Makes room for so many items.
    package func reserve(_ count: Int) {
        state.withLock { state in
            guard count > state.records.count else { return }
            state.records.append(contentsOf: repeatElement(Record(), count: count - state.records.count))
            addChunks(&state)
        }
    }

    package func began(_ index: Int, at time: Int64) {
        state.withLock { state in
            if index == state.records.count {
                state.records.append(Record())
                addChunks(&state)
            }
            state.records[index].status = .running
            state.records[index].began = time
        }
    }

    private func addChunks(_ state: inout State) {
        guard stride > 0 else { return }
        while state.chunks.count * Self.chunk < state.records.count {
            state.chunks.append(.allocate(byteCount: Self.chunk * stride, alignment: alignment))
        }
    }

    /// Where the value of that index belongs; it is written at most once before it is taken out again.
    func place(of index: Int) -> UnsafeMutableRawPointer? {
        guard stride > 0 else { return nil }
        return state.withLock { $0.chunks[index / Self.chunk] } + (index % Self.chunk) * stride
    }

    /// Puts the value in its place, which `store` is told, and notes it. Storing only moves memory about.
    func succeeded(_ index: Int, attempts: Int, at time: Int64, _ store: (UnsafeMutableRawPointer) -> Void) {
        let old: BatonError? = state.withLock { state in
            if stride > 0 { store(state.chunks[index / Self.chunk] + (index % Self.chunk) * stride) }
            state.records[index].end(.succeeded, attempts, time)
            return state.errors.isEmpty ? nil : state.errors.removeValue(forKey: index)
        }
        withExtendedLifetime(old) {}
    }

    package func failed(_ index: Int, _ error: BatonError, attempts: Int, at time: Int64) {
        let old = state.withLock { state in
            state.records[index].end(error.isCancelled ? .cancelled : .failed, attempts, time)
            return state.errors.updateValue(error, forKey: index)
        }
        withExtendedLifetime(old) {}
    }

    /// The item is sent again: it is running, its attempts and its beginning stay.
    package func reopen(_ index: Int) {
        state.withLock { $0.records[index].status = .running }
    }

    func isDone(_ index: Int) -> Bool {
        state.withLock { index < $0.records.count && $0.records[index].status == .succeeded }
    }

    /// Attempts of an earlier run count on.
    func keepAttempts(of records: ContiguousArray<Record>) {
        state.withLock { state in
            for index in records.indices { state.records[index].attempts = records[index].attempts }
        }
    }

    package func failure(at index: Int) -> (error: BatonError, attempts: Int)? {
        state.withLock { state in
            state.errors[index].map { ($0, Int(state.records[index].attempts)) }
        }
    }

    var failedIndices: [Int] {
        state.withLock { state in
            state.errors.keys.filter { state.records[$0].status == .failed }.sorted()
        }
    }

    func progress(total: Int?) -> BatchProgress {
        state.withLock { state in
            var progress = BatchProgress()
            progress.total = total
            for record in state.records {
                switch record.status {
                case .notStarted: progress.pending += 1
                case .running: progress.running += 1
                case .succeeded: progress.succeeded += 1
                case .failed: progress.failed += 1
                case .cancelled: progress.cancelled += 1
                }
            }
            return progress
        }
    }
}
