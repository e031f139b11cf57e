internal import Baton

/// What a server's users and its loop share.
final class ServerState: Sendable {
    private struct State {
        var routes = RouteTable()
        var enqueued: [LoopbackServer.Reply] = []
        var requests: [LoopbackServer.ReceivedRequest] = []
        var activity = LoopbackServer.Activity()
        var waiters = Waiters()
        var isStopped = false
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

    func enqueue(_ reply: LoopbackServer.Reply) {
        box.withLock { $0.enqueued.append(reply) }
    }

    func removeRoutes() {
        box.withLock { state in
            state.routes.removeAll()
            state.enqueued = []
        }
    }

    func forgetRequests() {
        box.withLock { $0.requests = [] }
    }

    // MARK: - What the loop calls

    func route(_ head: RequestHead) -> (number: Int?, bodyPolicy: LoopbackServer.BodyPolicy) {
        box.withLock { state in
            let number = state.routes.find(method: head.method, target: head.target)
            return (number, number.map { state.routes.bodyPolicy(of: $0) } ?? .kept)
        }
    }

    /// Records a request and says what answers it; nil when there is nothing.
    func receive(_ request: LoopbackServer.ReceivedRequest, route: Int?) -> RouteTable.Answer? {
        let (answer, satisfied) = box.withLock { state -> (RouteTable.Answer?, [Waiters.Waiter]) in
            if recording == .all { state.requests.append(request) }
            state.activity.requests += 1
            let satisfied = state.waiters.takeSatisfied(by: state.activity)
            if !state.enqueued.isEmpty { return (.reply(state.enqueued.removeFirst()), satisfied) }
            return (route.flatMap { state.routes.next(of: $0) }, satisfied)
        }
        for waiter in satisfied { waiter.resume() }
        return answer
    }

    /// Notes what happened on the connections.
    func note(_ change: (inout LoopbackServer.Activity) -> Void) {
        let satisfied = box.withLock { state in
            change(&state.activity)
            return state.waiters.takeSatisfied(by: state.activity)
        }
        for waiter in satisfied { waiter.resume() }
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

    // MARK: - Waiting

    func wait(for condition: @escaping @Sendable (LoopbackServer.Activity) -> Bool) async {
        let number = box.withLock { $0.waiters.nextNumber() }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiters.Waiter(number: number, condition: condition, continuation: continuation)
                let isOver = box.withLock { state in
                    if state.isStopped || condition(state.activity) { return true }
                    return !state.waiters.add(waiter)
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            box.withLock { $0.waiters.cancel(number) }?.resume()
        }
    }
}

/// Those who wait for the activity of a server. Pure.
struct Waiters {
    struct Waiter: Sendable {
        let number: Int
        let condition: @Sendable (LoopbackServer.Activity) -> Bool
        let continuation: CheckedContinuation<Void, Never>

        func resume() { continuation.resume() }
    }

    private var waiting: [Waiter] = []
    private var cancelledEarly: Set<Int> = []
    private var pending: Set<Int> = []
    private var lastNumber = 0

    mutating func nextNumber() -> Int {
        lastNumber += 1
        pending.insert(lastNumber)
        return lastNumber
    }

    /// Adds a waiter; false when it was cancelled before it came.
    mutating func add(_ waiter: Waiter) -> Bool {
        pending.remove(waiter.number)
        if cancelledEarly.remove(waiter.number) != nil { return false }
        waiting.append(waiter)
        return true
    }

    mutating func cancel(_ number: Int) -> Waiter? {
        if let index = waiting.firstIndex(where: { $0.number == number }) { return waiting.remove(at: index) }
        if pending.contains(number) { cancelledEarly.insert(number) }
        return nil
    }

    mutating func takeSatisfied(by activity: LoopbackServer.Activity) -> [Waiter] {
        guard !waiting.isEmpty else { return [] }
        let satisfied = waiting.filter { $0.condition(activity) }
        if !satisfied.isEmpty { waiting.removeAll { waiter in waiter.condition(activity) } }
        return satisfied
    }

    mutating func takeAll() -> [Waiter] {
        defer { waiting = [] }
        return waiting
    }
}
