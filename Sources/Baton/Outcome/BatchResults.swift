/// The results of a batch as its engine sees them.
package protocol AnyBatchResults: AnyObject, Sendable {
    /// Makes room for so many items.
    func reserve(_ count: Int)
    /// Puts the value of an item in its place; false when it is not of the items' type. Attempts add up over the times
    /// that the item was sent, and the first beginning stays.
    func succeed(_ index: Int, _ value: any Sendable, attempts: Int, _ times: ItemTimes) -> Bool
    func failed(_ index: Int, _ error: BatonError, attempts: Int, _ times: ItemTimes)
    func failure(at index: Int) -> (error: BatonError, attempts: Int)?
    /// An outcome is final. Called with no lock held.
    func finalize(_ index: Int)
    /// Whether outcomes stay here; otherwise they are taken as they come, and there may be no room for more.
    var keepsAll: Bool { get }
    /// Whether the next item may be begun, as far as those go that nobody has taken yet.
    func hasRoom(for index: Int) -> Bool
    /// What calls for more once there is room again.
    func whenRoom(_ body: @escaping @Sendable () -> Void)
    /// Whether the item has a value already, from an earlier run.
    func isDone(_ index: Int) -> Bool
    /// The idempotency keys of unfinished items.
    var keys: BatchKeys? { get }
    /// The report as the output of the batch's plan.
    var report: any Sendable { get }
}

extension AnyBatchResults {
    package var keepsAll: Bool { true }
    package func finalize(_ index: Int) {}
    package func hasRoom(for index: Int) -> Bool { true }
    package func whenRoom(_ body: @escaping @Sendable () -> Void) {}
    package func isDone(_ index: Int) -> Bool { false }
    package var keys: BatchKeys? { nil }
}

/// The idempotency keys under which unfinished items were sent, so that they can be sent again under the same.
package final class BatchKeys: Sendable {
    private let keys = LockBox<[Int: String]>([:])

    package subscript(index: Int) -> String? {
        get { keys.withLock { $0[index] } }
        set { keys.withLock { $0[index] = newValue } }
    }
}

/// The results of one batch: its log, and the items' values.
package final class BatchResults<Item: Sendable>: AnyBatchResults {
    package let log: BatchLog
    package let keys: BatchKeys?

    package init(start: Instant) {
        log = BatchLog(start: start, stride: MemoryLayout<Item>.stride, alignment: MemoryLayout<Item>.alignment)
        keys = BatchKeys()
    }

    /// The results of a run that goes on where another left off: what had succeeded is there.
    package init(start: Instant, goingOnFrom old: BatchResults<Item>) {
        log = BatchLog(start: start, stride: MemoryLayout<Item>.stride, alignment: MemoryLayout<Item>.alignment)
        keys = old.keys
        let records = old.log.state.withLock { $0.records }
        log.reserve(records.count)
        for index in records.indices where records[index].status == .succeeded {
            log.place(of: index)?.assumingMemoryBound(to: Item.self).initialize(to: old.value(at: index))
            log.state.withLock { $0.records[index] = records[index] }
        }
        log.keepAttempts(of: records)
    }

    deinit {
        guard !_isPOD(Item.self) else { return }
        log.forEachValue { $0.assumingMemoryBound(to: Item.self).deinitialize(count: 1) }
    }

    package func reserve(_ count: Int) { log.reserve(count) }
    package func failure(at index: Int) -> (error: BatonError, attempts: Int)? { log.failure(at: index) }
    package func isDone(_ index: Int) -> Bool { log.isDone(index) }

    package func failed(_ index: Int, _ error: BatonError, attempts: Int, _ times: ItemTimes) {
        log.failed(index, error, attempts: attempts, times)
    }

    package func succeed(_ index: Int, _ value: any Sendable, attempts: Int, _ times: ItemTimes) -> Bool {
        func store<Value: Sendable>(_ value: Value) -> Bool {
            guard Value.self == Item.self else { return cast(value) }
            note(value)
            return true
        }
        // Items whose type is an existential or an optional of the value's. Apart, because optionals of a type that is
        // known only at run time have to be looked up.
        @inline(never)
        func cast(_ value: any Sendable) -> Bool {
            guard let item = value as? Item else { return false }
            note(item)
            return true
        }
        /// - Parameter value: its type is the items'.
        func note<Value>(_ value: Value) {
            log.succeeded(index, attempts: attempts, times) { place in
                place.assumingMemoryBound(to: Value.self).initialize(to: value)
            }
        }
        return store(value)
    }

    package var report: any Sendable { Report(self) }

    package func outcome(at index: Int) -> Outcome<Item> {
        let (record, error) = log.state.withLock { ($0.records[index], $0.errors[index]) }
        return record.outcome(error, since: log.start) { value(at: index) }
    }

    private func value(at index: Int) -> Item {
        guard let place = log.place(of: index) else { return unsafeBitCast((), to: Item.self) }
        return place.assumingMemoryBound(to: Item.self).pointee
    }
}

extension BatchLog.Record {
    /// The outcome that the record stands for.
    ///
    /// - Parameter value: is asked of an item that has succeeded.
    func outcome<Item: Sendable>(
        _ error: BatonError?, since start: Int64, value: () -> Item?
    ) -> Outcome<Item> {
        let result: Outcome<Item>.Result =
            switch status {
            case .notStarted: .notStarted
            case .succeeded: if let value = value() { .succeeded(value) } else { .cancelled }
            case .failed: .failed(error ?? BatonError(.cancelled))
            case .cancelled: .cancelled
            }
        let isBegun = status != .notStarted
        return Outcome(
            result: result, attempts: Int(attempts), started: isBegun ? .nanoseconds(began - start) : nil,
            duration: isBegun ? .nanoseconds(max(0, ended - began)) : nil)
    }
}
