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

    /// Somebody who waits for the mock to get somewhere.
    struct Waiter {
        enum Goal {
            case requests(Int)
            case idle
        }

        var id: UInt64
        var goal: Goal
        var continuation: CheckedContinuation<Void, Never>
    }

    /// Waits until so many requests have arrived in all, with their bodies, and are answered, delayed or held; returns
    /// them. Returns early when the task is cancelled.
    ///
    /// ```swift
    /// let held = mock.on(.get, "/slow").hold()
    /// let run = client.start(Call("/slow", as: EmptyResponse.self))
    /// await mock.waitForRequests(1)
    /// run.cancel()
    /// ```
    @discardableResult
    public func waitForRequests(_ count: Int) async -> [MockCall] {
        await wait(for: .requests(count))
        return calls
    }

    /// Waits until no request is under way: a run that is cancelled is over at once, its exchange a moment later.
    /// Returns early when the task is cancelled.
    public func waitUntilIdle() async {
        await wait(for: .idle)
    }

    private func wait(for goal: Waiter.Goal) async {
        let id = Numbering.next()
        await scheduler.waiting {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let waits = state.withLock { state in
                        guard !state.hasReached(goal), !Task.isCancelled else { return false }
                        state.waiters.append(Waiter(id: id, goal: goal, continuation: continuation))
                        return true
                    }
                    if !waits { continuation.resume() }
                }
            } onCancel: {
                let waiter = state.withLock { state in
                    state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
                }
                waiter?.continuation.resume()
            }
        }
    }
}

extension MockTransport.State {
    func hasReached(_ goal: MockTransport.Waiter.Goal) -> Bool {
        switch goal {
        case .requests(let count): received >= count
        case .idle: open.isEmpty
        }
    }

    /// Those whose goal is reached; they wait no more.
    mutating func takeReady() -> [MockTransport.Waiter] {
        guard !waiters.isEmpty else { return [] }
        let all = waiters
        waiters = all.filter { !hasReached($0.goal) }
        return all.filter { hasReached($0.goal) }
    }
}

/// Tells those who wait that they need not any longer.
///
/// As a job, so that they go on when `send` has returned: whoever then cancels at once finds the exchange in flight.
final class Arrival: Job {
    private let waiters: [MockTransport.Waiter]

    init(_ waiters: [MockTransport.Waiter]) {
        self.waiters = waiters
    }

    func run(_ signal: Signal) {
        for waiter in waiters { waiter.continuation.resume() }
    }
}
