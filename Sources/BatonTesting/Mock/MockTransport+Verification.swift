internal import Baton

/// What a mock found wrong when it was asked: one sentence for each thing.
public struct MockVerificationError: Error, Sendable, CustomStringConvertible {
    /// The sentences: wrong counts, stubs that were never used, requests that no stub had a reply for.
    public let problems: [String]

    public var description: String { problems.joined(separator: "\n") }
}

extension MockTransport {
    /// Checks that the stubs were used as expected. Throws when a count differs from what was expected, a stub without
    /// expectation was never used, or a request had no reply.
    ///
    /// ```swift
    /// mock.on(SignIn.self).reply(SignIn.Output(token: "t")).expect(count: 1)
    /// …
    /// try mock.verify()
    /// ```
    public func verify() throws(MockVerificationError) {
        let problems = problems
        if !problems.isEmpty { throw MockVerificationError(problems: problems) }
    }

    /// What ``verify()`` would complain of; empty when all is well.
    public var problems: [String] {
        let (stubs, calls) = state.withLock { ($0.stubs, $0.calls) }
        var problems: [String] = []
        for stub in stubs {
            let used = stub.used
            if let expected = stub.expected {
                if used != expected { problems.append("\(stub.summary): expected \(expected) requests, got \(used)") }
            } else if used == 0 {
                problems.append("\(stub.summary): never used")
            }
        }
        for call in calls where call.isUnmatched {
            problems.append("request \(call.number), \(call.method) \(call.path): no stub had a reply")
        }
        return problems
    }
}
