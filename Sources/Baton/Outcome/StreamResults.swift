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
/// At most `window` items may have ended without having been taken; then no further one is begun.
package final class StreamResults<Item: Sendable>: AnyBatchResults {
    package typealias Element = (index: Int, outcome: Outcome<Item>)

    private struct State {
        var open: [Int: (record: BatchLog.Record, value: Item?, error: BatonError?)] = [:]
        /// What is final and waits to be taken.
        var ready: [Int: Outcome<Item>] = [:]
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

    package init(start: Instant, order: StreamOrder, concurrency: Int) {
        self.start = start.nanoseconds
        switch order {
        case .completion: (window, keepsOrder) = (max(1, concurrency), false)
        case .input(let window): (self.window, keepsOrder) = (max(1, window), true)
        }
    }

    package func reserve(_ count: Int) {}

    package func began(_ index: Int, at time: Int64) {
        var record = BatchLog.Record()
        record.status = .running
        record.began = time
        state.withLock { $0.open[index] = (record, nil, nil) }
    }

    package func reopen(_ index: Int) {
        state.withLock { $0.open[index]?.record.status = .running }
    }

    package func succeed(_ index: Int, _ value: any Sendable, attempts: Int, at time: Int64) -> Bool {
        guard let item = Erased.value(value, as: Item.self) else { return false }
        state.withLock { state in
            state.open[index]?.record.end(.succeeded, attempts, time)
            state.open[index]?.value = item
        }
        return true
    }

    package func failed(_ index: Int, _ error: BatonError, attempts: Int, at time: Int64) {
        state.withLock { state in
            state.open[index]?.record.end(error.isCancelled ? .cancelled : .failed, attempts, time)
            state.open[index]?.error = error
        }
    }

    package func failure(at index: Int) -> (error: BatonError, attempts: Int)? {
        state.withLock { state in
            state.open[index].flatMap { item in item.error.map { ($0, Int(item.record.attempts)) } }
        }
    }

    package var keepsAll: Bool { false }

    package func finalize(_ index: Int) {
        let reader: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard let item = state.open.removeValue(forKey: index) else { return nil }
            state.ready[index] =
                if let value = item.value {
                    item.record.outcome(nil, since: start) { value }
                } else {
                    Outcome(
                        result: item.record.status == .failed
                            ? .failed(item.error ?? BatonError(.cancelled)) : .cancelled,
                        attempts: Int(item.record.attempts), started: .nanoseconds(item.record.began - start),
                        duration: .nanoseconds(max(0, item.record.ended - item.record.began)))
                }
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
        state.withLock { $0.whenRoom = body }
    }

    package var report: any Sendable { () }

    // MARK: Reading

    /// Nothing more will come.
    package func finish(_ result: Result<Void, BatonError>) {
        let reader = state.withLock { state in
            if state.end == nil { state.end = result }
            state.whenRoom = nil
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    private enum Look {
        case element(Element, whenRoom: (@Sendable () -> Void)?)
        case end(Result<Void, BatonError>)
        case wait
    }

    /// The next item; nil after the last one.
    package func next(_ scheduler: any Scheduler) async throws(BatonError) -> Element? {
        while true {
            switch state.withLock(take) {
            case .element(let element, let whenRoom):
                whenRoom?()
                return element
            case .end(let result):
                try result.get()
                return nil
            case .wait:
                await scheduler.waiting {
                    await withCheckedContinuation { continuation in
                        let waits = state.withLock { state in
                            if case .wait = look(state) {
                                state.reader = continuation
                                return true
                            }
                            return false
                        }
                        if !waits { continuation.resume() }
                    }
                }
            }
        }
    }

    private func nextIndex(_ state: State) -> Int? {
        if keepsOrder { return state.ready[state.next] == nil ? nil : state.next }
        return state.head < state.order.count ? state.order[state.head] : nil
    }

    private func look(_ state: State) -> Look {
        if nextIndex(state) != nil { return .end(.success(())) }
        return state.end.map { .end($0) } ?? .wait
    }

    private func take(_ state: inout State) -> Look {
        guard let index = nextIndex(state), let outcome = state.ready.removeValue(forKey: index) else {
            // What is left when an ordered batch ended early comes in its order.
            if let end = state.end, let index = state.ready.keys.min(),
                let outcome = state.ready.removeValue(forKey: index)
            {
                _ = end
                return .element((index, outcome), whenRoom: nil)
            }
            return state.end.map { .end($0) } ?? .wait
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
        return .element((index, outcome), whenRoom: state.whenRoom)
    }
}
