import Baton

/// A queue of numbered waiters, with hosts named by number; it remembers who has a slot and where.
final class QueueHarness {
    var state: QueueState<Int>
    private(set) var hosts: [HostID?] = []
    /// All who got a slot, in the order in which they got it.
    private(set) var sent: [Int] = []
    private(set) var inFlight: Set<Int> = []
    private var hostOf: [Int] = []
    private var tickets: [QueueState<Int>.Ticket?] = []

    init(limit: Int, hostLimit: Int? = nil, maxWaiting: Int? = nil, idleHosts: Int = 1024) {
        state = QueueState(limit: limit, hostLimit: hostLimit, maxWaiting: maxWaiting, idleHosts: idleHosts)
    }

    func host(_ number: Int) -> HostID {
        while hosts.count <= number { hosts.append(nil) }
        let id = state.host(for: HostKey(host: "host\(number)"), cached: hosts[number])
        hosts[number] = id
        return id
    }

    /// Admits one; its number tells it from the others, and counts up from 0.
    @discardableResult
    func admit(
        host number: Int = 0, run: UInt64 = 1, _ priority: Priority = .normal,
        _ position: QueueState<Int>.Position = .back
    ) -> Int {
        let waiter = hostOf.count
        hostOf.append(number)
        tickets.append(nil)
        let id = host(number)
        switch state.admit(waiter, host: id, run: run, priority: priority, position: position) {
        case .granted: note([waiter])
        case .queued(let ticket): tickets[waiter] = ticket
        case .rejected: break
        }
        return waiter
    }

    func admit(
        _ count: Int, host number: Int = 0, run: UInt64 = 1, _ priority: Priority = .normal
    ) {
        for _ in 0..<count { admit(host: number, run: run, priority) }
    }

    func release(_ waiter: Int) {
        precondition(inFlight.remove(waiter) != nil)
        let id = host(hostOf[waiter])
        change { $0.release(host: id, into: &$1) }
    }

    /// Cancels one; whether it still waited.
    @discardableResult
    func cancel(_ waiter: Int) -> Bool {
        guard let ticket = tickets[waiter] else { return false }
        var granted: [Int] = []
        let found = state.cancel(ticket, into: &granted)
        note(granted)
        return found == waiter
    }

    /// Changes the state, and takes note of those who got a slot by it.
    func change(_ body: (inout QueueState<Int>, inout [Int]) -> Void) {
        var granted: [Int] = []
        body(&state, &granted)
        note(granted)
    }

    private func note(_ granted: [Int]) {
        sent += granted
        inFlight.formUnion(granted)
    }

    /// Gives the slot of the one who has had it longest back, again and again; returns who was sent meanwhile.
    @discardableResult
    func drain(_ count: Int = .max) -> [Int] {
        let before = sent.count
        var oldest = 0
        for _ in 0..<count {
            while oldest < sent.count, !inFlight.contains(sent[oldest]) { oldest += 1 }
            if oldest == sent.count { break }
            release(sent[oldest])
        }
        return Array(sent[before...])
    }
}
