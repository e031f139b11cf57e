extension LoopbackServer {
    /// The requests that were received, in the order in which they were complete. A request is here before its
    /// reply is sent.
    public var requests: [ReceivedRequest] { state.requests }

    /// How much the server has done so far.
    public var activity: Activity { state.activity }

    /// Forgets the requests that were received; ``Activity/requests`` goes on counting.
    public func forgetRequests() {
        state.forgetRequests()
    }

    /// Waits until so many requests have been received in all. Returns at once when they have, and early when the
    /// server is stopped or the task is cancelled.
    ///
    /// - Returns: the requests that are recorded then.
    @discardableResult
    public func waitForRequests(_ count: Int) async -> [ReceivedRequest] {
        await state.wait(forRequests: count)
        return state.requests
    }

    /// Waits until the activity is such that `condition` is true. Returns early when the server is stopped or the
    /// task is cancelled.
    ///
    /// ```swift
    /// await server.wait { $0.openConnections == 0 }
    /// ```
    public func wait(until condition: @Sendable (Activity) -> Bool) async {
        await state.wait(until: condition)
    }
}
