/// What a running batch knows of its items without their type: status, attempts and times for each index.
package protocol AnyBatchResults: AnyObject, Sendable {
    /// Makes room for so many items.
    func reserve(_ count: Int)
    func began(_ index: Int, at time: Int64)
    /// Stores a value for an index. The type is the one that the batch's plans have.
    func succeed(_ index: Int, _ value: any Sendable, attempts: Int, at time: Int64)
    func fail(_ index: Int, _ error: BatonError, attempts: Int, at time: Int64)
    /// The item is sent again: it is running, its attempts and its beginning stay.
    func reopen(_ index: Int)
    func failure(at index: Int) -> (error: BatonError, attempts: Int)?
    /// The report as the output of the batch's plan.
    var report: any Sendable { get }
}

/// The results of one batch: a status byte, a record and a value for each index, errors only where there are any.
package final class BatchResults<Item: Sendable>: AnyBatchResults {
    private enum Status: UInt8 {
        case notStarted, running, succeeded, failed, cancelled
    }

    private struct Record {
        var status = Status.notStarted
        var attempts: UInt32 = 0
        var began: Int64 = 0
        var ended: Int64 = 0
    }

    private struct Store {
        var records: ContiguousArray<Record> = []
        var values: ContiguousArray<Item?> = []
        var errors: [Int: BatonError] = [:]
    }

    private let store = LockBox(Store())
    private let start: Int64

    package init(start: Instant) {
        self.start = start.nanoseconds
    }

    package var count: Int { store.withLock { $0.records.count } }

    package func reserve(_ count: Int) {
        store.withLock { store in
            guard count > store.records.count else { return }
            store.records.append(contentsOf: repeatElement(Record(), count: count - store.records.count))
            store.values.append(contentsOf: repeatElement(nil, count: count - store.values.count))
        }
    }

    package func began(_ index: Int, at time: Int64) {
        store.withLock { store in
            if index == store.records.count {
                store.records.append(Record())
                store.values.append(nil)
            }
            store.records[index].status = .running
            store.records[index].began = time
        }
    }

    package func succeed(_ index: Int, _ value: any Sendable, attempts: Int, at time: Int64) {
        guard let item = Erased.value(value, as: Item.self) else {
            let error = BatonError(.decodingFailed, "the item's value is no \(Item.self)", underlying: nil)
            return fail(index, error, attempts: attempts, at: time)
        }
        store.withLock { store in
            store.records[index].status = .succeeded
            store.records[index].attempts += UInt32(clamping: attempts)
            store.records[index].ended = time
            store.values[index] = item
            if !store.errors.isEmpty { store.errors[index] = nil }
        }
    }

    package func fail(_ index: Int, _ error: BatonError, attempts: Int, at time: Int64) {
        let old = store.withLock { store in
            store.records[index].status = error.isCancelled ? .cancelled : .failed
            store.records[index].attempts += UInt32(clamping: attempts)
            store.records[index].ended = time
            return store.errors.updateValue(error, forKey: index)
        }
        withExtendedLifetime(old) {}
    }

    package func reopen(_ index: Int) {
        store.withLock { $0.records[index].status = .running }
    }

    package func failure(at index: Int) -> (error: BatonError, attempts: Int)? {
        store.withLock { store in
            store.errors[index].map { ($0, Int(store.records[index].attempts)) }
        }
    }

    package var report: any Sendable { Report(self) }

    package var failedIndices: [Int] {
        store.withLock { store in
            store.errors.keys.filter { store.records[$0].status == .failed }.sorted()
        }
    }

    package func outcome(at index: Int) -> Outcome<Item> {
        store.withLock { store in
            let record = store.records[index]
            let result: Outcome<Item>.Result =
                switch record.status {
                case .notStarted, .running: .notStarted
                case .succeeded: store.values[index].map { .succeeded($0) } ?? .notStarted
                case .failed: .failed(store.errors[index] ?? BatonError(.cancelled))
                case .cancelled: .cancelled
                }
            let isBegun = record.status != .notStarted
            return Outcome(
                result: result, attempts: Int(record.attempts),
                started: isBegun ? .nanoseconds(record.began - start) : nil,
                duration: isBegun ? .nanoseconds(max(0, record.ended - record.began)) : nil)
        }
    }

    package func progress(total: Int?) -> BatchProgress {
        store.withLock { store in
            var progress = BatchProgress()
            progress.total = total
            for record in store.records {
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
