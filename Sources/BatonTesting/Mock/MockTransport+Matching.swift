internal import Baton
internal import Foundation

/// From a request to its reply.
extension MockTransport {
    /// The reply for a request whose body was read; finds the stub and takes the reply off its list.
    func reply(to request: HTTPRequest, number: Int) -> MockReply {
        note(number) { $0.body = request.body.bytes ?? Data() }
        let stubs = state.withLock { $0.stubs }
        // The matchers call code that is not ours, so the list is looked through outside the lock.
        for stub in stubs.reversed() where stub.matcher.mismatch(request) == nil {
            if let reply = stub.next() {
                note(number) { $0.stub = stub.summary }
                return reply
            }
        }
        note(number) { $0.isUnmatched = true }
        return MockReply(.failure(BatonError(.unmatchedRequest, Self.complaint(request, stubs))))
    }

    /// A request has come with its body, and is answered, delayed or held.
    func received() {
        let (ready, scheduler) = state.withLock { state in
            state.received += 1
            return (state.takeReady(), state.scheduler)
        }
        if !ready.isEmpty { scheduler.post(Arrival(ready), Signal(kind: 0)) }
    }

    private func note(_ number: Int, _ change: (inout MockCall) -> Void) {
        state.withLock { state in
            guard let first = state.calls.first?.number else { return }
            let index = number - first
            guard state.calls.indices.contains(index) else { return }
            change(&state.calls[index])
        }
    }

    /// What was asked for, and which stubs came nearest to it.
    private static func complaint(_ request: HTTPRequest, _ stubs: [StubCore]) -> String {
        let asked = "\(request.method) \(request.path)"
        guard !stubs.isEmpty else { return "no stub for \(asked): the mock has none at all" }
        let near = stubs.map { stub in
            (stub, reason: stub.matcher.mismatch(request), distance: stub.matcher.distance(to: request))
        }
        .sorted { ($0.reason?.rank ?? 0, $0.distance) < ($1.reason?.rank ?? 0, $1.distance) }
        .prefix(3)
        .map { "\($0.0.summary): \($0.reason?.explanation ?? $0.0.exhaustion)" }
        return "no stub for \(asked); nearest of \(stubs.count): \(near.joined(separator: "; "))"
    }
}
