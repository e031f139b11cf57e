package import Baton
package import Foundation

/// A receiver that writes down what it hears, and lets a test wait for it.
package final class ExchangeRecorder: TransportEvents, Sendable {
    package struct Record: Sendable {
        package var head: HTTPResponseHead?
        package var body = Data()
        package var chunks = 0
        package var sent: [Int64] = []
        package var total: Int64?
        package var metrics: TransportMetrics?
        package var error: BatonError?
        /// How often the end was told, and how many events came where none may come.
        package var ends = 0
        package var misplaced = 0

        package var isComplete: Bool { ends == 1 && error == nil && misplaced == 0 }
        package var text: String { String(decoding: body, as: UTF8.self) }
    }

    private struct Waiter {
        var id: UInt64
        var condition: @Sendable (Record) -> Bool
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var record = Record()
        var waiters: [Waiter] = []
        var reactions: [(condition: @Sendable (Record) -> Bool, act: @Sendable () -> Void)] = []
        var demand: @Sendable (Int) -> Demand = { _ in .more }
    }

    private let state = LockBox(State())

    package init() {}

    package var record: Record { state.withLock { $0.record } }

    /// Returns as soon as what was heard fulfils the condition, or the task is cancelled.
    @discardableResult
    package func wait(until condition: @escaping @Sendable (Record) -> Bool) async -> Record {
        let id = Numbering.next()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMet = state.withLock { state in
                    if condition(state.record) || Task.isCancelled { return true }
                    state.waiters.append(Waiter(id: id, condition: condition, continuation: continuation))
                    return false
                }
                if isMet { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
        return record
    }

    /// Waits for the end.
    @discardableResult
    package func ended() async -> Record { await wait { $0.ends > 0 } }

    /// Acts inside the first event after which the condition is fulfilled.
    package func react(when condition: @escaping @Sendable (Record) -> Bool, _ act: @escaping @Sendable () -> Void) {
        state.withLock { $0.reactions.append((condition, act)) }
    }

    /// Answers each chunk by its number, from 1; the default is `.more` for all.
    package func demand(_ demand: @escaping @Sendable (Int) -> Demand) {
        state.withLock { $0.demand = demand }
    }

    @discardableResult
    private func note(_ change: (inout Record) -> Void) -> Demand {
        let (woken, acts, demand) = state.withLock { state in
            if state.record.ends > 0 { state.record.misplaced += 1 }
            change(&state.record)
            let record = state.record
            let woken = state.waiters.filter { $0.condition(record) }.map(\.continuation)
            if !woken.isEmpty { state.waiters.removeAll { $0.condition(record) } }
            let acts = state.reactions.filter { $0.condition(record) }.map(\.act)
            if !acts.isEmpty { state.reactions.removeAll { $0.condition(record) } }
            return (woken, acts, state.demand(record.chunks))
        }
        for act in acts { act() }
        for continuation in woken { continuation.resume() }
        return demand
    }

    package func receiveHead(_ head: HTTPResponseHead, token: UInt64) {
        note {
            if $0.head != nil { $0.misplaced += 1 }
            $0.head = head
        }
    }

    package func receiveChunk(_ bytes: Data, token: UInt64) -> Demand {
        note {
            if $0.head == nil || bytes.isEmpty { $0.misplaced += 1 }
            $0.chunks += 1
            $0.body += bytes
        }
    }

    package func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64) {
        note {
            $0.sent.append(bytes)
            $0.total = total
        }
    }

    package func receiveEnd(_ metrics: TransportMetrics?, token: UInt64) {
        note {
            if $0.head == nil { $0.misplaced += 1 }
            $0.metrics = metrics
            $0.ends += 1
        }
    }

    package func receiveResponse(_ response: HTTPResponse, token: UInt64) {
        note {
            if $0.head != nil { $0.misplaced += 1 }
            $0.head = response.head
            $0.body = response.body
            $0.metrics = response.metrics
            $0.ends += 1
        }
    }

    package func receiveFailure(_ error: BatonError, token: UInt64) {
        note {
            $0.error = error
            $0.ends += 1
        }
    }
}
