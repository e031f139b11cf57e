/// Flows at their hosts: ready while the host has room, parked while it has none.
///
/// The ready ones are the first of their lane, and while the host has nothing in flight, the fresh ones are the first
/// of these. Both kinds are made one at a time, and all are unmade when the host has no room or something in flight;
/// so what is unmade was paid for before.
extension QueueCore {
    /// Lets a flow wait at its host, behind the others or ahead of them. `settle` must follow.
    mutating func attach(_ flow: Int32, first: Bool) {
        let lane = Int(flows[flow].lane)
        let host = flows[flow].host
        let hasRoom = hosts[host].hasRoom
        let isReady = hasRoom && (first || lanes[lane].firstParked < 0)
        let isFresh = isReady && hosts[host].inFlight == 0 && (first || lanes[lane].firstStale < 0)
        hosts[host].lanes |= 1 << (lane % 3)
        if first {
            laneLinks.prepend(flow, to: &lanes[lane].flows)
            if !isReady { lanes[lane].firstParked = flow }
            if !isFresh { lanes[lane].firstStale = flow }
        } else {
            laneLinks.append(flow, to: &lanes[lane].flows)
            if !isReady, lanes[lane].firstParked < 0 { lanes[lane].firstParked = flow }
            if !isFresh, lanes[lane].firstStale < 0 { lanes[lane].firstStale = flow }
        }
        if isReady { makeReady(flow) }
        if isFresh { makeFresh(flow) }
    }

    /// Takes a flow away from its host. `settle` must follow.
    mutating func detach(_ flow: Int32) {
        let lane = Int(flows[flow].lane)
        if flows[flow].isReady { makeUnready(flow) }
        if lanes[lane].firstParked == flow { lanes[lane].firstParked = laneLinks.next(after: flow) }
        if lanes[lane].firstStale == flow { lanes[lane].firstStale = laneLinks.next(after: flow) }
        laneLinks.remove(flow, from: &lanes[lane].flows)
        if lanes[lane].flows.isEmpty { hosts[flows[flow].host].lanes &= ~(1 << (lane % 3)) }
    }

    /// After a slot was given to a flow that still has someone waiting: it goes behind the host's other flows.
    @inline(__always)
    mutating func rotate(_ flow: Int32) {
        let lane = Int(flows[flow].lane)
        if lanes[lane].flows.tail == flow { return }
        // Behind parked ones it is parked, and behind stale ones stale.
        if lanes[lane].firstParked >= 0 {
            makeUnready(flow)
        } else if lanes[lane].firstStale >= 0, flows[flow].isFresh {
            makeStale(flow)
        }
        if lanes[lane].firstStale == flow { lanes[lane].firstStale = laneLinks.next(after: flow) }
        laneLinks.moveToBack(flow, of: &lanes[lane].flows)
    }

    /// Brings the host's flows in line with the room it has: without any, all are parked; with some, the first of
    /// each priority is ready, and fresh if nothing is in flight. Amortised O(1); must follow every change at the host.
    @inline(__always)
    mutating func settle(_ host: Int32) {
        if hosts[host].lanes != 0 || hosts[host].isThawing { settleLanes(host) }
    }

    private mutating func settleLanes(_ host: Int32) {
        let hasRoom = hosts[host].hasRoom
        let isFresh = hasRoom && hosts[host].inFlight == 0
        var hasMore = false
        var left = hosts[host].lanes
        while left != 0 {
            let lane = Int(host) * 3 + left.trailingZeroBitCount
            left &= left &- 1
            if hasRoom {
                if lanes[lane].firstParked == lanes[lane].flows.head { unpark(lane) }
                if lanes[lane].firstParked >= 0 { hasMore = true }
            } else {
                parkAll(lane)
            }
            if isFresh {
                if lanes[lane].firstStale == lanes[lane].flows.head { freshen(lane) }
                if lanes[lane].firstStale >= 0 { hasMore = true }
            } else {
                staleAll(lane)
            }
        }
        if hasMore != hosts[host].isThawing {
            hosts[host].isThawing = hasMore
            if hasMore {
                thawLinks.append(host, to: &thawing)
            } else {
                thawLinks.remove(host, from: &thawing)
            }
        }
    }

    /// While slots are short: makes one more flow of each priority ready, and fresh, at one host where that is due.
    /// So a run whose turn at a host comes late, because it waits for many, keeps the host's slot from nobody for long.
    mutating func thaw() {
        let host = thawing.head
        if host < 0 { return }
        thawLinks.moveToBack(host, of: &thawing)
        for lane in Int(host) * 3..<Int(host) * 3 + 3 {
            if lanes[lane].firstParked >= 0 { unpark(lane) }
            if hosts[host].inFlight == 0, lanes[lane].firstStale >= 0 { freshen(lane) }
        }
        settle(host)
    }

    private mutating func unpark(_ lane: Int) {
        let flow = lanes[lane].firstParked
        lanes[lane].firstParked = laneLinks.next(after: flow)
        makeReady(flow)
    }

    private mutating func freshen(_ lane: Int) {
        let flow = lanes[lane].firstStale
        if !flows[flow].isReady { return }
        lanes[lane].firstStale = laneLinks.next(after: flow)
        makeFresh(flow)
    }

    private mutating func parkAll(_ lane: Int) {
        var flow = lanes[lane].flows.head
        while flow != lanes[lane].firstParked {
            makeUnready(flow)
            flow = laneLinks.next(after: flow)
        }
        lanes[lane].firstParked = lanes[lane].flows.head
    }

    private mutating func staleAll(_ lane: Int) {
        var flow = lanes[lane].flows.head
        while flow != lanes[lane].firstStale {
            if flows[flow].isFresh { makeStale(flow) }
            flow = laneLinks.next(after: flow)
        }
        lanes[lane].firstStale = lanes[lane].flows.head
    }
}
