/// The results of a batch as its engine sees them.
package protocol AnyBatchResults: AnyObject, Sendable {
    var log: BatchLog { get }
    /// Puts the value of an item in its place; false when it is not of the items' type.
    func succeed(_ index: Int, _ value: any Sendable, attempts: Int, at time: Int64) -> Bool
    /// The report as the output of the batch's plan.
    var report: any Sendable { get }
}

/// The results of one batch: its log, and the items' values.
package final class BatchResults<Item: Sendable>: AnyBatchResults {
    package let log: BatchLog

    package init(start: Instant) {
        log = BatchLog(start: start, stride: MemoryLayout<Item>.stride, alignment: MemoryLayout<Item>.alignment)
    }

    deinit {
        let records = log.state.withLock { $0.records }
        for index in records.indices where records[index].status == .succeeded {
            log.place(of: index)?.assumingMemoryBound(to: Item.self).deinitialize(count: 1)
        }
    }

    package func succeed(_ index: Int, _ value: any Sendable, attempts: Int, at time: Int64) -> Bool {
        func store<Value: Sendable>(_ value: Value) -> Bool {
            guard Value.self == Item.self else { return storeCast(value, at: index) }
            guard let place = log.place(of: index) else { return true }
            withUnsafePointer(to: value) { value in
                UnsafeRawPointer(value).withMemoryRebound(to: Item.self, capacity: 1) { item in
                    place.assumingMemoryBound(to: Item.self).initialize(from: item, count: 1)
                }
            }
            return true
        }
        guard store(value) else { return false }
        log.succeeded(index, attempts: attempts, at: time)
        return true
    }

    /// For items whose type is an existential or an optional of the value's.
    private func storeCast(_ value: any Sendable, at index: Int) -> Bool {
        guard let item = value as? Item else { return false }
        log.place(of: index)?.assumingMemoryBound(to: Item.self).initialize(to: item)
        return true
    }

    package var report: any Sendable { Report(self) }

    package func outcome(at index: Int) -> Outcome<Item> {
        let (record, error) = log.state.withLock { ($0.records[index], $0.errors[index]) }
        let result: Outcome<Item>.Result =
            switch record.status {
            case .notStarted, .running: .notStarted
            case .succeeded: .succeeded(value(at: index))
            case .failed: .failed(error ?? BatonError(.cancelled))
            case .cancelled: .cancelled
            }
        let isBegun = record.status != .notStarted
        return Outcome(
            result: result, attempts: Int(record.attempts),
            started: isBegun ? .nanoseconds(record.began - log.start) : nil,
            duration: isBegun ? .nanoseconds(max(0, record.ended - record.began)) : nil)
    }

    private func value(at index: Int) -> Item {
        guard let place = log.place(of: index) else { return unsafeBitCast((), to: Item.self) }
        return place.assumingMemoryBound(to: Item.self).pointee
    }
}
