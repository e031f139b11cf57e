package typealias HostID = Int32
package struct Ticket: Sendable, Equatable { var number: UInt64 }
package enum Admission: Sendable { case granted, queued(Ticket), rejected }

struct QueueState<Waiter> {
    var limit: Int
    var inFlight = 0
    var queue: [(UInt64, Waiter)] = []
    var number: UInt64 = 0
    var waiting: Int { queue.count }
    init(limit: Int) { self.limit = limit }
    mutating func admit(_ waiter: Waiter, host: HostID, run: UInt64) -> Admission {
        if inFlight < limit { inFlight += 1; return .granted }
        number += 1
        queue.append((number, waiter))
        return .queued(Ticket(number: number))
    }
    mutating func release(host: HostID, into granted: inout [Waiter]) {
        inFlight -= 1
        while inFlight < limit, !queue.isEmpty { inFlight += 1; granted.append(queue.removeFirst().1) }
    }
    mutating func cancel(_ ticket: Ticket) -> Waiter? {
        guard let place = queue.firstIndex(where: { $0.0 == ticket.number }) else { return nil }
        return queue.remove(at: place).1
    }
}
