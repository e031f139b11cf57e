/// Flows at their hosts: ready while the host has room, parked while it has none.
extension QueueCore {
    @inline(__always)
    func lane(of flow: Int32) -> Int { Int(flows[flow].host) * 3 + Int(lines[flows[flow].line].level) }

    /// Lets a flow wait at its host, behind the others or ahead of them. `settle` must follow.
    mutating func attach(_ flow: Int32, first: Bool) {
        let lane = lane(of: flow)
        let host = Int(flows[flow].host)
        hosts[host].lanes |= 1 << lines[flows[flow].line].level
        let isReady = hosts[host].hasRoom && (first || lanes[lane].firstParked < 0)
        if first {
            laneLinks.prepend(flow, to: &lanes[lane].flows)
            if !isReady { lanes[lane].firstParked = flow }
        } else {
            laneLinks.append(flow, to: &lanes[lane].flows)
            if !isReady, lanes[lane].firstParked < 0 { lanes[lane].firstParked = flow }
        }
        if isReady { makeReady(flow) }
    }

    /// Takes a flow away from its host. `settle` must follow.
    mutating func detach(_ flow: Int32) {
        let lane = lane(of: flow)
        if flows[flow].isReady { makeUnready(flow, lane) }
        if lanes[lane].firstParked == flow { lanes[lane].firstParked = laneLinks.next(after: flow) }
        laneLinks.remove(flow, from: &lanes[lane].flows)
        if lanes[lane].flows.isEmpty { hosts[Int(flows[flow].host)].lanes &= ~(1 << lines[flows[flow].line].level) }
    }

    /// After a slot was given to a flow that still has someone waiting: it goes behind the host's other flows.
    @inline(__always)
    mutating func rotate(_ flow: Int32) {
        let lane = lane(of: flow)
        if lanes[lane].flows.tail == flow { return }
        // The ready ones are in front, so behind parked ones it is parked.
        if lanes[lane].firstParked >= 0 { makeUnready(flow, lane) }
        laneLinks.moveToBack(flow, of: &lanes[lane].flows)
    }

    /// Brings the host's flows in line with the room it has: without any, all are parked; with some, the first of
    /// each priority is ready. Amortised O(1); must follow every change at the host.
    @inline(__always)
    mutating func settle(_ host: Int32) {
        if hosts[Int(host)].lanes != 0 || hosts[Int(host)].isThawing { settleLanes(host) }
    }

    private mutating func settleLanes(_ host: Int32) {
        let hasRoom = hosts[Int(host)].hasRoom
        let isFresh = hasRoom && hosts[Int(host)].inFlight == 0
        var hasParked = false
        var left = hosts[Int(host)].lanes
        while left != 0 {
            let lane = Int(host) * 3 + left.trailingZeroBitCount
            left &= left &- 1
            if hasRoom {
                if lanes[lane].firstParked == lanes[lane].flows.head { unpark(lane) }
                if lanes[lane].firstParked >= 0 { hasParked = true }
            } else {
                parkAll(lane)
            }
            let nominee = isFresh ? lanes[lane].flows.head : -1
            if nominee != lanes[lane].nominee { nominate(nominee, lane) }
        }
        if hasParked != hosts[Int(host)].isThawing {
            hosts[Int(host)].isThawing = hasParked
            if hasParked {
                thawLinks.append(host, to: &thawing)
            } else {
                thawLinks.remove(host, from: &thawing)
            }
        }
    }

    /// While slots are short: makes one more flow of each priority ready at one host that has room. A run whose
    /// turn comes late keeps a host's first slot from nobody for long, and the work is spread.
    mutating func thaw() {
        let host = thawing.head
        if host < 0 { return }
        thawLinks.moveToBack(host, of: &thawing)
        for lane in Int(host) * 3..<Int(host) * 3 + 3 where lanes[lane].firstParked >= 0 { unpark(lane) }
        settle(host)
    }

    private mutating func unpark(_ lane: Int) {
        let flow = lanes[lane].firstParked
        lanes[lane].firstParked = laneLinks.next(after: flow)
        makeReady(flow)
    }

    private mutating func parkAll(_ lane: Int) {
        var flow = lanes[lane].flows.head
        while flow != lanes[lane].firstParked {
            makeUnready(flow, lane)
            flow = laneLinks.next(after: flow)
        }
        lanes[lane].firstParked = lanes[lane].flows.head
    }
}
