/// The state of a request queue: who has a slot, who waits for one, and who is next.
///
/// It has no lock, clock or thread of its own and calls nobody. Its owner changes it under a lock and sends, after
/// unlocking, those who were granted a slot: they are appended to `granted`, in the order in which they got it.
/// Each of them, and each one admitted as `granted`, gives its slot back once with ``release(host:into:)``.
///
/// While a slot is free, nobody waits who may have it. Who may have it:
/// - Fewer than the limit are in flight, and fewer than the host's limit at its host; neither the queue nor the host
///   nor the run is paused.
/// - The last eighth of the limit (at least one, from a limit of 2 up) is kept, while more than one host has
///   something in flight or waiting, for hosts that have nothing in flight.
///
/// Who is next:
/// - The higher priority; but one that could be served and was not, seven times in a row, is owed a slot, so it is
///   passed over at most eight times. The same holds at each host, and what a host owes comes first.
/// - Within a priority, runs take turns, one slot each a round, so a run waits for one slot of each other run; within
///   a run, the hosts that have room take turns. Where a host is short of room, the runs that want it take turns there.
/// - Within one run, host and priority: in the order of admission.
///
/// Every operation is O(1) amortised, whatever waits, unless it says otherwise.
///
/// It has one owner: a copy would share memory with the original, so it is never copied.
package struct QueueState<Waiter> {
    var core: QueueCore
    private var waiters: ContiguousArray<Waiter?> = []
    private let maxWaiting: Int32

    /// - Parameters:
    ///   - limit: how many may be in flight; at least 1, a smaller one counts as 1.
    ///   - hostLimit: how many may be in flight at one host, in so far as that has no limit of its own; nil for no limit.
    ///   - maxWaiting: how many may wait before the next is rejected; nil for no bound.
    ///   - idleHosts: how many hosts are remembered that have nothing to do.
    package init(limit: Int, hostLimit: Int? = nil, maxWaiting: Int? = nil, idleHosts: Int = 1024) {
        core = QueueCore(limit: limit, hostLimit: hostLimit, idleHostLimit: idleHosts)
        self.maxWaiting = Int32(clamping: max(0, maxWaiting ?? .max))
    }

    /// What became of one who asked for a slot.
    package enum Admission: Equatable, Sendable {
        /// It has one.
        case granted
        /// It waits; the ticket takes it out of the line again.
        case queued(Ticket)
        /// It neither has one nor waits: too many wait.
        case rejected
    }

    /// Where to stand among those of the same run, host and priority.
    package enum Position: Sendable {
        /// Behind them.
        case back
        /// Ahead of them, for one that was sent before. If nobody else of its run waits, it goes ahead of the runs that
        /// had their turn; there may be at most as many such as there were turns in the round.
        case front
    }

    /// Names one who waits; it says nothing any more once that one was granted a slot or taken out.
    package struct Ticket: Hashable, Sendable {
        fileprivate let place: Int32
        fileprivate let generation: UInt32
    }

    /// Gives `waiter` a slot at once, or lets it wait; it is made only where it has to. `host` must be current, see
    /// ``host(for:cached:)``.
    @inline(__always)
    package mutating func admit(
        _ waiter: @autoclosure () -> Waiter, host: HostID, run: UInt64, priority: Priority = .normal,
        position: Position = .back
    ) -> Admission {
        assert(isCurrent(host), "the host was forgotten: ask for it under the same lock")
        if core.take(host.index, run: run) { return .granted }
        return enqueue(waiter(), host: host.index, run: run, priority: priority, position: position)
    }

    private mutating func enqueue(
        _ waiter: Waiter, host: Int32, run: UInt64, priority: Priority, position: Position
    ) -> Admission {
        assert(core.places.isUnshared, "the state was copied")
        guard core.waiting < maxWaiting else { return .rejected }
        let place = core.enqueue(host, run: run, level: priority.rawValue, first: position == .front)
        if Int(place) == waiters.count { waiters.append(waiter) } else { waiters[Int(place)] = waiter }
        return .queued(Ticket(place: place, generation: core.places[place].generation))
    }

    /// A slot came back. Without one out at that host this does nothing, and fails an assertion.
    @inline(__always)
    package mutating func release(host: HostID, into granted: inout [Waiter]) {
        guard isCurrent(host), core.giveBack(host.index) else {
            assertionFailure("a slot was released more often than it was granted")
            return
        }
        if core.waiting > 0 { grant(into: &granted) }
    }

    /// Takes one who waits out of the line and returns it; nil when it was granted a slot or taken out before.
    ///
    /// Others may be granted a slot by that: the last of a host's work frees what is kept for other hosts.
    package mutating func cancel(_ ticket: Ticket, into granted: inout [Waiter]) -> Waiter? {
        guard core.withdraw(ticket.place, generation: ticket.generation) else { return nil }
        let waiter = waiters[Int(ticket.place)].take()
        grant(into: &granted)
        return waiter
    }

    mutating func grant(into granted: inout [Waiter]) {
        while true {
            let place = core.grantNext()
            if place < 0 { return }
            granted.append(waiters[Int(place)].take().unsafelyUnwrapped)
        }
    }
}
