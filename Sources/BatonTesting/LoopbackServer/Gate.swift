internal import Baton

extension LoopbackServer {
    /// Holds replies until a test releases them.
    ///
    /// ```swift
    /// let gate = server.hold(.get, "/slow", .text("at last"))
    /// …
    /// gate.release()
    /// ```
    public final class Gate: Sendable {
        fileprivate struct State {
            var isOpen = false
            var permits = 0
            var wakers: [Waker] = []
        }

        private let state = LockBox(State())

        /// A gate that is closed; replies are held by it through ``Reply/held(by:at:)``.
        public init() {}

        /// Lets through every reply that is held and every later one.
        public func release() {
            let wakers = state.withLock { state in
                state.isOpen = true
                return state.takeWakers()
            }
            for waker in wakers { waker.wake() }
        }

        /// Lets through so many replies, those that were held first, and stays closed for the others. What is not
        /// used at once counts for later ones.
        public func release(_ count: Int) {
            let wakers = state.withLock { state in
                state.permits += max(count, 0)
                return state.takeWakers()
            }
            for waker in wakers { waker.wake() }
        }

        /// Whether a reply may pass; if not, the loop is woken when that may have changed.
        func pass(_ waker: Waker) -> Bool {
            state.withLock { state in
                if state.isOpen { return true }
                if state.permits > 0 {
                    state.permits -= 1
                    return true
                }
                if !state.wakers.contains(where: { $0 === waker }) { state.wakers.append(waker) }
                return false
            }
        }
    }
}

extension LoopbackServer.Gate.State {
    fileprivate mutating func takeWakers() -> [Waker] {
        defer { wakers = [] }
        return wakers
    }
}
