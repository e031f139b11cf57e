import Foundation
import Testing

@testable import Baton

/// A receiver that writes down what it hears, and lets a test wait for it.
final class ExchangeRecorder: TransportEvents, Sendable {
    struct Record: Sendable {
        var head: HTTPResponseHead?
        var body = Data()
        var sent: [Int64] = []
        var total: Int64?
        var metrics: TransportMetrics?
        var error: BatonError?
        /// How often the end was told, and how many events came where none may come.
        var ends = 0
        var misplaced = 0

        var isComplete: Bool { ends == 1 && error == nil && misplaced == 0 }
        var text: String { String(decoding: body, as: UTF8.self) }
    }

    private struct State {
        var record = Record()
        var waiters: [(condition: @Sendable (Record) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
        var reactions: [(condition: @Sendable (Record) -> Bool, act: @Sendable () -> Void)] = []
    }

    private let state = LockBox(State())

    var record: Record { state.withLock { $0.record } }

    /// Returns as soon as what was heard fulfils the condition.
    @discardableResult
    func wait(until condition: @escaping @Sendable (Record) -> Bool) async -> Record {
        await withCheckedContinuation { continuation in
            let isMet = state.withLock { state in
                if condition(state.record) { return true }
                state.waiters.append((condition, continuation))
                return false
            }
            if isMet { continuation.resume() }
        }
        return record
    }

    /// Waits for the end.
    @discardableResult
    func ended() async -> Record { await wait { $0.ends > 0 } }

    /// Acts inside the first event after which the condition is fulfilled.
    func react(when condition: @escaping @Sendable (Record) -> Bool, _ act: @escaping @Sendable () -> Void) {
        state.withLock { $0.reactions.append((condition, act)) }
    }

    private func note(_ change: (inout Record) -> Void) {
        let (woken, acts) = state.withLock { state in
            if state.record.ends > 0 { state.record.misplaced += 1 }
            change(&state.record)
            let record = state.record
            let woken = state.waiters.filter { $0.condition(record) }.map(\.continuation)
            state.waiters.removeAll { $0.condition(record) }
            let acts = state.reactions.filter { $0.condition(record) }.map(\.act)
            state.reactions.removeAll { $0.condition(record) }
            return (woken, acts)
        }
        for act in acts { act() }
        for continuation in woken { continuation.resume() }
    }

    func receiveHead(_ head: HTTPResponseHead, token: UInt64) {
        note {
            if $0.head != nil { $0.misplaced += 1 }
            $0.head = head
        }
    }

    func receiveChunk(_ bytes: Data, token: UInt64) -> Demand {
        note {
            if $0.head == nil || bytes.isEmpty { $0.misplaced += 1 }
            $0.body += bytes
        }
        return .more
    }

    func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64) {
        note {
            $0.sent.append(bytes)
            $0.total = total
        }
    }

    func receiveEnd(_ metrics: TransportMetrics?, token: UInt64) {
        note {
            if $0.head == nil { $0.misplaced += 1 }
            $0.metrics = metrics
            $0.ends += 1
        }
    }

    func receiveResponse(_ response: HTTPResponse, token: UInt64) {
        note {
            if $0.head != nil { $0.misplaced += 1 }
            $0.head = response.head
            $0.body = response.body
            $0.metrics = response.metrics
            $0.ends += 1
        }
    }

    func receiveFailure(_ error: BatonError, token: UInt64) {
        note {
            $0.error = error
            $0.ends += 1
        }
    }
}

extension Transport {
    /// Sends a request and waits for its end.
    func exchange(
        _ method: HTTPMethod = .get, _ url: String, fields: HTTPFields = [:], body: HTTPBody = .none
    ) async throws -> ExchangeRecorder.Record {
        let (recorder, _) = try start(method, url, fields: fields, body: body)
        return await recorder.ended()
    }

    /// Sends a request; the recorder hears what becomes of it.
    func start(
        _ method: HTTPMethod = .get, _ url: String, fields: HTTPFields = [:], body: HTTPBody = .none,
        recorder: ExchangeRecorder = ExchangeRecorder()
    ) throws -> (ExchangeRecorder, any Transmission) {
        let parts = try #require(URLComponents(string: url))
        let origin = try HTTPOrigin(base: "\(parts.scheme!)://\(parts.host!)" + (parts.port.map { ":\($0)" } ?? ""))
        let query = parts.percentEncodedQuery.map { "?" + $0 } ?? ""
        let request = HTTPRequest(
            method: method, origin: origin, target: parts.percentEncodedPath + query, fields: fields, body: body)
        return (recorder, send(request, to: TransportReceiver(recorder)))
    }
}
