/// The operation queue: hands out slots to attempts that want to travel, and never more than the limits allow.
///
/// What is decided is decided by ``QueueState`` under one lock; who got a slot is told after it, as engine work of the
/// scheduler. A slot is held from the moment it is granted until `release`.
package final class RequestQueue: Sendable {
    package typealias Ticket = QueueState<Work>.Ticket
    package typealias Admission = QueueState<Work>.Admission

    private let state: LockBox<QueueState<Work>>
    private let scheduler: any Scheduler

    package init(limit: Int, hostLimit: Int?, maxWaiting: Int?, scheduler: any Scheduler) {
        state = LockBox(QueueState(limit: limit, hostLimit: hostLimit, maxWaiting: maxWaiting))
        self.scheduler = scheduler
    }

    /// Asks for a slot at the origin's host. When it is not granted at once, the job is told with `kind` and `token` as
    /// soon as it is; the signal's value names the host to ``release(_:)``.
    ///
    /// - Parameter host: what the queue called the host the last time; nil, or for another origin, it is looked up.
    package func admit(
        _ job: any Job, kind: UInt8, token: UInt64, origin: HTTPOrigin, host: inout HostID?, run: UInt64,
        priority: Priority, isRetry: Bool
    ) -> Admission {
        state.withLock { state in
            let id = state.host(for: HostKey(origin), cached: host)
            host = id
            return state.admit(
                Work(job, Signal(kind: kind, token: token, value: id.index)), host: id, run: run, priority: priority,
                position: isRetry ? .front : .back)
        }
    }

    /// Gives a slot back, by the index of its host.
    package func release(_ host: Int32) {
        change { state, granted in state.release(host: state.host(at: host), into: &granted) }
    }

    /// Takes a waiting attempt back; false when its slot was granted already and has to be released.
    package func withdraw(_ ticket: Ticket) -> Bool {
        var withdrawn: Work?
        change { state, granted in withdrawn = state.cancel(ticket, into: &granted) }
        return withdrawn != nil
    }

    /// Changes how many may be in flight, at least 1: a raise lets more go at once, a cut drains.
    package func setLimit(_ limit: Int) {
        change { state, granted in state.setLimit(max(1, limit), into: &granted) }
    }

    /// Changes how many may be in flight at each host; nil for no limit.
    package func setHostLimit(_ limit: Int?) {
        change { state, granted in state.setHostLimit(limit.map { max(1, $0) }, into: &granted) }
    }

    /// Gives one host a limit of its own, in place of the one for all hosts; nil takes it away.
    package func setLimit(_ limit: Int?, of origin: HTTPOrigin) {
        change { state, granted in
            state.setLimit(limit.map { max(1, $0) }, of: state.host(for: HostKey(origin)), into: &granted)
        }
    }

    /// Nothing new is sent until `resume`.
    package func suspend() { state.withLock { $0.suspend() } }
    package func resume() { change { state, granted in state.resume(into: &granted) } }

    /// Nothing new is sent to a host until it is resumed.
    package func pause(host origin: HTTPOrigin) {
        state.withLock { state in state.pause(state.host(for: HostKey(origin))) }
    }

    package func resume(host origin: HTTPOrigin) {
        change { state, granted in state.resume(state.host(for: HostKey(origin)), into: &granted) }
    }

    /// How many attempts wait for a host.
    package func waiting(at origin: HTTPOrigin) -> Int {
        state.withLock { state in state.waiting(at: state.host(for: HostKey(origin))) }
    }

    /// Nothing new is sent for a run until it is resumed.
    package func pause(run: UInt64) { state.withLock { $0.pause(run: run) } }
    package func resume(run: UInt64) { change { state, granted in state.resume(run: run, into: &granted) } }

    /// How many attempts may hold a slot at once.
    package var limit: Int { state.withLock { $0.limit } }

    /// How many attempts hold a slot, and how many wait for one.
    package var counts: (inFlight: Int, waiting: Int) { state.withLock { ($0.inFlight, $0.waiting) } }

    private func change(_ body: (inout QueueState<Work>, inout [Work]) -> Void) {
        var granted: [Work] = []
        state.withLock { body(&$0, &granted) }
        for work in granted { scheduler.post(work.job, work.signal) }
    }
}
