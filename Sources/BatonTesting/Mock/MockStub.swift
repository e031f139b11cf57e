public import Baton
public import Foundation

/// What a ``MockTransport`` does with some requests: which ones, and what they are answered.
///
/// ```swift
/// mock.on(.post, "/orders").body(json: #"{"item": 3}"#)
///     .fail(.connectionLost, times: 2)
///     .then.reply(status: 201, after: .seconds(1))
///     .expect(count: 3)
/// ```
/// Replies are used in their order, each once, and the last one stays; one with `times` is used so often, also as the
/// last, and then the stub answers nothing more. `Subject` is the type of request it is for, where it is for one.
public struct MockStub<Subject>: Sendable {
    let core: StubCore
    let coding: BodyCoding

    /// The stub itself: a word between replies.
    public var then: MockStub { self }

    /// The number of requests it has answered.
    public var count: Int { core.used }

    /// What a verification asks for: that the stub answers so many requests.
    @discardableResult
    public func expect(count: Int) -> MockStub {
        core.expect(count)
        return self
    }

    // MARK: Which requests

    /// Only requests with exactly these parameters, in any order.
    @discardableResult
    public func query(_ parameters: QueryParameters) -> MockStub {
        narrowed { $0.query = .exactly(RequestMatcher.sorted(parameters.encoded(.query))) }
    }

    /// Requests with any query, or none.
    @discardableResult
    public func anyQuery() -> MockStub {
        narrowed { $0.query = .any }
    }

    /// Only requests with exactly these bytes as their body.
    @discardableResult
    public func body(_ data: Data) -> MockStub {
        condition("its body") { $0.body.bytes ?? Data() == data }
    }

    /// Only requests whose body is the same JSON; white space and the order of keys do not matter.
    @discardableResult
    public func body(json: String) -> MockStub {
        let wanted = JSONText.canonical(Data(json.utf8))
        return condition("its JSON body") { request in
            wanted != nil && JSONText.canonical(request.body.bytes ?? Data()) == wanted
        }
    }

    /// Only requests with this value of a field.
    @discardableResult
    public func field(_ name: HTTPFieldName, _ value: String) -> MockStub {
        condition("its field \(name)") { $0.fields.values(for: name).contains(value) }
    }

    /// Only requests that `matches` accepts as well. The body is there as bytes.
    @discardableResult
    public func matching(_ matches: @escaping @Sendable (HTTPRequest) -> Bool) -> MockStub {
        condition("its condition", matches)
    }

    private func condition(_ name: String, _ holds: @escaping @Sendable (HTTPRequest) -> Bool) -> MockStub {
        narrowed { $0.conditions.append(RequestMatcher.Condition(name: name, holds: holds)) }
    }

    private func narrowed(_ change: (inout RequestMatcher) -> Void) -> MockStub {
        core.change(change)
        return self
    }

    func adding(_ answer: MockReply.Answer, _ times: Int?, _ delay: Duration) -> MockStub {
        core.add(MockReply(answer, times: times, delay: delay))
        return self
    }
}

/// JSON for comparison.
enum JSONText {
    /// The JSON with sorted keys and without white space; nil when it is none.
    static func canonical(_ data: Data) -> Data? {
        guard let value = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed) else { return nil }
        return try? JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .fragmentsAllowed])
    }
}
