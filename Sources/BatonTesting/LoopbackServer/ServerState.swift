internal import Baton

/// What a server's users and its loop share.
final class ServerState: Sendable {
    private struct State {
        var routes = RouteTable()
        var enqueued: [PreparedReply] = []
        var requests: [LoopbackServer.ReceivedRequest] = []
        var activity = LoopbackServer.Activity()
        /// How often the activity has changed.
        var changes = 0
        var waiters = Waiters()
        var isStopped = false

        mutating func takeMetWaiters() -> [Waiters.Waiter] {
            changes += 1
            return waiters.takeMet(requests: activity.requests, changes: changes)
        }
    }

    private let recording: LoopbackServer.Recording
    private let box = LockBox(State())

    init(recording: LoopbackServer.Recording) {
        self.recording = recording
    }

    var requests: [LoopbackServer.ReceivedRequest] { box.withLock { $0.requests } }
    var activity: LoopbackServer.Activity { box.withLock { $0.activity } }
    var isStopped: Bool { box.withLock { $0.isStopped } }

    func addRoute(
        _ method: HTTPMethod?, _ path: String, _ bodyPolicy: LoopbackServer.BodyPolicy,
        _ responder: RouteTable.Responder
    ) {
        box.withLock { $0.routes.add(method, path, bodyPolicy, responder) }
    }

    func enqueue(_ replies: [PreparedReply]) {
        box.withLock { $0.enqueued += replies }
    }

    /// Takes the routes out, so that what their closures hold is released under no lock.
    func removeRoutes() {
        let removed = box.withLock { state in
            defer { (state.routes, state.enqueued) = (RouteTable(), []) }
            return (state.routes, state.enqueued)
        }
        withExtendedLifetime(removed) {}
    }

    func forgetRequests() {
        box.withLock { $0.requests = [] }
    }

    /// Marks the server as stopped and ends every wait. Returns false when it was stopped before.
    func stop() -> Bool {
        let (isFirst, waiters) = box.withLock { state in
            defer { state.isStopped = true }
            return (!state.isStopped, state.waiters.takeAll())
        }
        for waiter in waiters { waiter.resume() }
        return isFirst
    }
}

/// What the loop calls.
extension ServerState {
    func route(_ head: RequestHead) -> (number: Int?, bodyPolicy: LoopbackServer.BodyPolicy) {
        box.withLock { state in
            let number = state.routes.find(method: head.method, target: head.target)
            return (number, number.map { state.routes.bodyPolicy(of: $0) } ?? .kept)
        }
    }

    /// Records a request and says what answers it; nil when there is nothing.
    func receive(_ request: LoopbackServer.ReceivedRequest, route: Int?) -> RouteTable.Answer? {
        let (answer, waiters) = box.withLock { state -> (RouteTable.Answer?, [Waiters.Waiter]) in
            if recording == .all { state.requests.append(request) }
            state.activity.requests += 1
            let waiters = state.takeMetWaiters()
            if !state.enqueued.isEmpty { return (.reply(state.enqueued.removeFirst()), waiters) }
            return (route.flatMap { state.routes.next(of: $0) }, waiters)
        }
        for waiter in waiters { waiter.resume() }
        return answer
    }

    /// Notes what happened on the connections.
    func note(_ change: (inout LoopbackServer.Activity) -> Void) {
        let waiters = box.withLock { state in
            change(&state.activity)
            return state.takeMetWaiters()
        }
        for waiter in waiters { waiter.resume() }
    }
}

/// Waiting without a thread.
extension ServerState {
    func wait(forRequests count: Int) async {
        await wait(for: .requests(count))
    }

    /// Waits until `condition` is true; it is called under no lock.
    func wait(until condition: @Sendable (LoopbackServer.Activity) -> Bool) async {
        while !Task.isCancelled {
            let (activity, changes, isStopped) = box.withLock { ($0.activity, $0.changes, $0.isStopped) }
            if isStopped || condition(activity) { return }
            await wait(for: .changes(after: changes))
        }
    }

    private func wait(for condition: Waiters.Condition) async {
        let number = box.withLock { $0.waiters.announce() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiters.Waiter(number: number, condition: condition, continuation: continuation)
                let waits = box.withLock { state in
                    let waits = state.waiters.add(
                        waiter, requests: state.isStopped ? .max : state.activity.requests,
                        changes: state.isStopped ? .max : state.changes)
                    return waits
                }
                if !waits { waiter.resume() }
            }
        } onCancel: {
            box.withLock { $0.waiters.cancel(number) }?.resume()
        }
    }
}
