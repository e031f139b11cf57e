public import Baton
public import Foundation

/// Requests that wait at a ``MockTransport`` until they are released by hand.
///
/// Each release answers one request, the one that has waited longest; when none waits, the next one that comes. After
/// ``releaseAll(status:fields:body:)`` all are answered that wait and all that come.
public struct MockHold<Subject>: Sendable {
    let core: HoldCore
    let coding: BodyCoding

    /// How many requests wait.
    public var waiting: Int { core.waiting }

    /// Answers one request.
    public func release(status: Int = 200, fields: HTTPFields = [:], body: Data = Data()) {
        core.release(.bytes(body, nil, status, fields))
    }

    /// Answers one request with a JSON text.
    public func release(status: Int = 200, fields: HTTPFields = [:], json: String) {
        core.release(.bytes(Data(json.utf8), "application/json", status, fields))
    }

    /// Fails one request.
    public func fail(_ code: BatonError.Code, _ message: String = "the mock fails so") {
        core.release(.failure(BatonError(code, message)))
    }

    /// Fails one request.
    public func fail(_ error: BatonError) {
        core.release(.failure(error))
    }

    /// Answers all requests that wait, and all that come.
    public func releaseAll(status: Int = 200, fields: HTTPFields = [:], body: Data = Data()) {
        core.open(.bytes(body, nil, status, fields))
    }
}

extension MockHold where Subject: Request, Subject.Output: Encodable {
    /// Answers one request with a value of its output.
    public func release(_ output: Subject.Output, status: Int = 200, fields: HTTPFields = [:]) {
        core.release(.value(output, status: status, fields: fields, coding: coding))
    }
}

extension MockHold where Subject == MockTransport.AnyRequest {
    /// Answers one request with a value as JSON.
    public func release(_ value: some Encodable, status: Int = 200, fields: HTTPFields = [:]) {
        core.release(.value(value, status: status, fields: fields, coding: coding))
    }
}

/// The requests that wait, and the answers that were given before there was a request for them.
final class HoldCore: Sendable {
    private struct State {
        var waiting: [ScriptedExchange] = []
        var answers: [MockReply.Answer] = []
        var standing: MockReply.Answer?
    }

    private let state = LockBox(State())

    var waiting: Int { state.withLock { $0.waiting.count } }

    /// The answer for a request if there is one already; otherwise it waits.
    func admit(_ exchange: ScriptedExchange) -> MockReply.Answer? {
        state.withLock { state in
            if let answer = state.standing { return answer }
            if !state.answers.isEmpty { return state.answers.removeFirst() }
            state.waiting.append(exchange)
            return nil
        }
    }

    func remove(_ exchange: ScriptedExchange) {
        state.withLock { $0.waiting.removeAll { $0 === exchange } }
    }

    func release(_ answer: MockReply.Answer) {
        let exchange: ScriptedExchange? = state.withLock { state in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.answers.append(answer)
            return nil
        }
        exchange?.perform(answer)
    }

    func open(_ answer: MockReply.Answer) {
        let waiting = state.withLock { state in
            state.standing = answer
            defer { state.waiting = [] }
            return state.waiting
        }
        for exchange in waiting { exchange.perform(answer) }
    }
}
