/// The order in which a stream yields the items of a batch.
public enum StreamOrder: Sendable, Hashable {
    /// As items end. The default.
    case completion
    /// By index: an item that ended early waits for those before it. Items are begun at most `window` ahead of the one
    /// that is to be yielded next.
    case input(window: Int)
}

/// The results of a batch that is read as it goes: nothing is kept but what is under way or not yet taken.
///
/// At most `window` items may have ended without having been taken; then no further one is begun. It knows no types, so
/// that passing an item on costs no look-up of generic metadata: the reader gives the value its type back.
package final class StreamResults: AnyBatchResults {
    /// An item that has ended.
    package struct Ended: Sendable {
        package internal(set) var index: Int
        var record = BatchLog.Record()
        var value: (any Sendable)?
        var error: BatonError?
    }

    private struct State {
        /// What has ended and may still be sent again.
        var ended: [Int: Ended] = [:]
        /// What is final and waits to be taken.
        var ready: [Int: Ended] = [:]
        var order: [Int] = []
        var head = 0
        /// The index that is yielded next, where the order is the input's.
        var next = 0
        var reader: CheckedContinuation<Void, Never>?
        var whenRoom: (@Sendable () -> Void)?
        var end: Result<Void, BatonError>?
    }

    private let state = LockBox(State())
    private let start: Int64
    private let window: Int
    private let keepsOrder: Bool
    private let accepts: @Sendable (any Sendable) -> Bool

    /// - Parameter accepts: whether a value is of the items' type.
    package init(
        start: Instant, order: StreamOrder, concurrency: Int, accepts: @escaping @Sendable (any Sendable) -> Bool
    ) {
        self.start = start.nanoseconds
        self.accepts = accepts
        switch order {
        case .completion: (window, keepsOrder) = (max(1, concurrency), false)
        case .input(let window): (self.window, keepsOrder) = (max(1, window), true)
        }
    }

    package func reserve(_ count: Int) {}

    package func succeed(_ index: Int, _ value: any Sendable, attempts: Int, _ times: ItemTimes) -> Bool {
        guard accepts(value) else { return false }
        note(index) { item in
            item.record.end(.succeeded, attempts, times)
            item.value = value
        }
        return true
    }

    package func failed(_ index: Int, _ error: BatonError, attempts: Int, _ times: ItemTimes) {
        note(index) { item in
            item.record.end(error.isCancelled ? .cancelled : .failed, attempts, times)
            item.error = error
        }
    }

    private func note(_ index: Int, _ change: (inout Ended) -> Void) {
        state.withLock { change(&$0.ended[index, default: Ended(index: index)]) }
    }

    package func failure(at index: Int) -> (error: BatonError, attempts: Int)? {
        state.withLock { state in
            state.ended[index].flatMap { item in item.error.map { ($0, Int(item.record.attempts)) } }
        }
    }

    package var keepsAll: Bool { false }

    package func finalize(_ index: Int) {
        let reader: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard let item = state.ended.removeValue(forKey: index) else { return nil }
            state.ready[index] = item
            if !keepsOrder { state.order.append(index) }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    package func hasRoom(for index: Int) -> Bool {
        state.withLock { state in
            keepsOrder ? index < state.next + window : state.ready.count < window
        }
    }

    package func whenRoom(_ body: @escaping @Sendable () -> Void) {
        state.withLock { if $0.end == nil { $0.whenRoom = body } }
    }

    package var report: any Sendable { () }

    // MARK: Reading

    /// Nothing more will come.
    package func finish(_ result: Result<Void, BatonError>) {
        let (reader, whenRoom) = state.withLock { state in
            if state.end == nil { state.end = result }
            defer { (state.reader, state.whenRoom) = (nil, nil) }
            return (state.reader, state.whenRoom)
        }
        // What calls for more knows the batch, which knows these results: the end undoes that.
        withExtendedLifetime(whenRoom) {}
        reader?.resume()
    }

    /// What there is for a reader.
    package enum Look {
        case item(Ended)
        case end(Result<Void, BatonError>)
        /// Nothing yet.
        case wait
    }

    /// Takes the next item, if there is one.
    package func take() -> Look {
        let (look, whenRoom) = state.withLock(take)
        whenRoom?()
        return look
    }

    /// Waits until there is something to take.
    package func news(_ scheduler: any Scheduler) async {
        await scheduler.waiting {
            await withCheckedContinuation { continuation in
                let waits = state.withLock { state in
                    guard nextIndex(state) == nil, state.end == nil else { return false }
                    state.reader = continuation
                    return true
                }
                if !waits { continuation.resume() }
            }
        }
    }

    /// The item as its reader gets it.
    package func outcome<Item: Sendable>(of item: Ended, as type: Item.Type) -> Outcome<Item> {
        item.record.outcome(item.error, since: start) {
            guard let value = item.value else { return nil }
            return Erased.value(value, as: Item.self)
        }
    }

    private func nextIndex(_ state: State) -> Int? {
        if keepsOrder { return state.ready[state.next] == nil ? nil : state.next }
        return state.head < state.order.count ? state.order[state.head] : nil
    }

    private func take(_ state: inout State) -> (Look, whenRoom: (@Sendable () -> Void)?) {
        guard let index = nextIndex(state), let item = state.ready.removeValue(forKey: index) else {
            guard let end = state.end else { return (.wait, nil) }
            // What is left when an ordered batch ended early comes in its order.
            if let index = state.ready.keys.min(), let item = state.ready.removeValue(forKey: index) {
                return (.item(item), nil)
            }
            return (.end(end), nil)
        }
        if keepsOrder {
            state.next += 1
        } else {
            state.head += 1
            if state.head >= 256 {
                state.order.removeSubrange(..<state.head)
                state.head = 0
            }
        }
        return (.item(item), state.whenRoom)
    }
}
