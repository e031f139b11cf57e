/// The operation queue: hands out slots to attempts that want to travel, and never more than the limit.
///
/// What is decided is decided by ``QueueState`` under one lock; who got a slot is told after it, as engine work of the
/// scheduler. A slot is held from the moment it is granted until `release`.
package final class RequestQueue: Sendable {
    private let state: LockBox<QueueState<Work>>
    private let scheduler: any Scheduler

    package init(limit: Int, scheduler: any Scheduler) {
        state = LockBox(QueueState(limit: limit))
        self.scheduler = scheduler
    }

    package func host(for origin: HTTPOrigin) -> HostID { 0 }

    /// Asks for a slot. When it is not granted at once, `work` is posted as soon as it is.
    package func admit(_ work: Work, host: HostID, run: UInt64) -> Admission {
        state.withLock { $0.admit(work, host: host, run: run) }
    }

    /// Gives a slot back.
    package func release(_ host: HostID) {
        var granted: [Work] = []
        state.withLock { $0.release(host: host, into: &granted) }
        for work in granted { scheduler.post(work.job, work.signal) }
    }

    /// Takes a waiting attempt back; false when its slot was granted already and has to be released.
    package func withdraw(_ ticket: Ticket) -> Bool {
        let work = state.withLock { $0.cancel(ticket) }
        return work != nil
    }

    /// How many attempts may hold a slot at once.
    package var limit: Int { state.withLock { $0.limit } }

    /// How many attempts hold a slot, and how many wait for one.
    package var counts: (inFlight: Int, waiting: Int) { state.withLock { ($0.inFlight, $0.waiting) } }
}
