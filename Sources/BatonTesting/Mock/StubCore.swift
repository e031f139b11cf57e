internal import Baton

/// One stub: what it fits, what it replies, and how often it was used.
final class StubCore: Sendable {
    private struct State {
        var matcher: RequestMatcher
        var replies: [MockReply] = []
        /// The reply whose turn it is.
        var turn = 0
        var used = 0
        var expected: Int?
    }

    private let state: LockBox<State>
    /// File and line where it was registered.
    let place: String

    init(_ matcher: RequestMatcher, place: String) {
        state = LockBox(State(matcher: matcher))
        self.place = place
    }

    var matcher: RequestMatcher { state.withLock { $0.matcher } }
    var used: Int { state.withLock { $0.used } }
    var expected: Int? { state.withLock { $0.expected } }
    var summary: String { "\(matcher.description) (\(place))" }

    /// Why it has no reply although it fits.
    var exhaustion: String {
        state.withLock { $0.replies.isEmpty ? "it was given no reply" : "its replies are used up after \($0.used)" }
    }

    func change(_ change: (inout RequestMatcher) -> Void) { state.withLock { change(&$0.matcher) } }
    func add(_ reply: MockReply) { state.withLock { $0.replies.append(reply) } }
    func expect(_ count: Int) { state.withLock { $0.expected = count } }

    /// The reply whose turn it is; nil when there are no more.
    ///
    /// A reply without a number is used once when another follows it, and for good when none does.
    func next() -> MockReply? {
        state.withLock { state in
            while state.turn < state.replies.count {
                let reply = state.replies[state.turn]
                let isLast = state.turn == state.replies.count - 1
                if reply.used < reply.times ?? (isLast ? .max : 1) {
                    state.replies[state.turn].used += 1
                    state.used += 1
                    return reply
                }
                state.turn += 1
            }
            return nil
        }
    }
}
