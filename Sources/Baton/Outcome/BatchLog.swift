/// When an item was begun, and when it ended, in nanoseconds of the scheduler's clock.
package struct ItemTimes: Sendable {
    package var began: Int64
    package var ended: Int64

    package init(began: Int64, ended: Int64) {
        (self.began, self.ended) = (began, ended)
    }
}

/// What became of each item of a batch, without its value: status, attempts and times, and errors where there are any.
///
/// It knows no types, so that noting an outcome costs no look-up of generic metadata. The values' memory is kept here
/// too, as raw bytes that the typed owner fills and empties.
package final class BatchLog: Sendable {
    enum Status: UInt8 {
        case notStarted, succeeded, failed, cancelled
    }

    struct Record {
        var began: Int64 = 0
        var ended: Int64 = 0
        var attempts: UInt32 = 0
        var status = Status.notStarted

        mutating func end(_ status: Status, _ attempts: Int, _ times: ItemTimes) {
            if self.status == .notStarted { began = times.began }
            self.status = status
            self.attempts += UInt32(clamping: attempts)
            ended = times.ended
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
    package func reserve(_ count: Int) { state.withLock { makeRoom(count, &$0) } }

    /// Items end in any order, and how many there are may not be known before.
    private func makeRoom(_ count: Int, _ state: inout State) {
        guard count > state.records.count else { return }
        state.records.append(contentsOf: repeatElement(Record(), count: count - state.records.count))
        guard stride > 0 else { return }
        while state.chunks.count * Self.chunk < state.records.count {
            state.chunks.append(.allocate(byteCount: Self.chunk * stride, alignment: alignment))
        }
    }

    /// Where the value of that index belongs; it is written at most once before it is taken out again.
    func place(of index: Int) -> UnsafeMutableRawPointer? {
        guard stride > 0 else { return nil }
        return state.withLock { place(of: index, in: $0.chunks) }
    }

    private func place(
        of index: Int, in chunks: ContiguousArray<UnsafeMutableRawPointer>
    ) -> UnsafeMutableRawPointer {
        chunks[index / Self.chunk] + (index % Self.chunk) * stride
    }

    /// Shows where each value lies.
    func forEachValue(_ body: (UnsafeMutableRawPointer) -> Void) {
        guard stride > 0 else { return }
        let (records, chunks) = state.withLock { ($0.records, $0.chunks) }
        for index in records.indices where records[index].status == .succeeded {
            body(place(of: index, in: chunks))
        }
    }

    /// Puts the value in its place, which `store` is told, and notes it. Storing only moves memory about.
    func succeeded(_ index: Int, attempts: Int, _ times: ItemTimes, _ store: (UnsafeMutableRawPointer) -> Void) {
        let old: BatonError? = state.withLock { state in
            makeRoom(index + 1, &state)
            if stride > 0 { store(place(of: index, in: state.chunks)) }
            state.records[index].end(.succeeded, attempts, times)
            return state.errors.isEmpty ? nil : state.errors.removeValue(forKey: index)
        }
        withExtendedLifetime(old) {}
    }

    package func failed(_ index: Int, _ error: BatonError, attempts: Int, _ times: ItemTimes) {
        let old = state.withLock { state in
            makeRoom(index + 1, &state)
            state.records[index].end(error.isCancelled ? .cancelled : .failed, attempts, times)
            return state.errors.updateValue(error, forKey: index)
        }
        withExtendedLifetime(old) {}
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
                case .succeeded: progress.succeeded += 1
                case .failed: progress.failed += 1
                case .cancelled: progress.cancelled += 1
                }
            }
            return progress
        }
    }
}
