public import Baton

/// What was sent to the mock.
extension MockTransport {
    /// Every request so far, in the order of arrival, those included that matched no stub.
    public var calls: [MockCall] { state.withLock { $0.calls } }

    /// The requests of one type, in the order of arrival.
    public func calls<R: Request>(of type: R.Type) -> [MockCall] {
        calls.filter { $0.isOf(type) }
    }

    /// The requests with a method and a path, in the order of arrival; the path may be a pattern.
    public func calls(_ method: HTTPMethod, _ path: String) -> [MockCall] {
        let pattern = PathPattern(path)
        return calls.filter { $0.method == method && pattern.matches($0.path) }
    }

    /// How many requests are under way.
    public var inFlight: Int { state.withLock { $0.open.count } }

    /// The most requests that were under way at once.
    public var maxInFlight: Int { state.withLock { $0.maxInFlight } }

    struct Waiter {
        var id: UInt64
        var count: Int
        var continuation: CheckedContinuation<Void, Never>
    }

    /// Waits until so many requests have arrived in all, with their bodies; returns them. Returns early when the task
    /// is cancelled.
    ///
    /// ```swift
    /// let held = mock.on(.get, "/slow").hold()
    /// let run = client.start(Call("/slow", as: EmptyResponse.self))
    /// await mock.waitForRequests(1)
    /// run.cancel()
    /// ```
    @discardableResult
    public func waitForRequests(_ count: Int) async -> [MockCall] {
        await scheduler.waiting { await arrival(of: count) }
        return calls
    }

    private func arrival(of count: Int) async {
        let id = Numbering.next()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isThere = state.withLock { state in
                    if state.received >= count || Task.isCancelled { return true }
                    state.waiters.append(Waiter(id: id, count: count, continuation: continuation))
                    return false
                }
                if isThere { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume()
        }
    }
}
