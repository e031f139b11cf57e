/// Who waits, and whose turn it is: the part of ``QueueState`` that knows waiters by number only.
///
/// Each priority is a ring of lines (one for each run), each line a ring of ready flows (one for each host), each
/// flow a queue. A flow whose host is full is parked at that host, where flows take turns as well. Whatever is
/// ready can be sent, so the next one is found without a search. Parking what was ready is paid for by having
/// made it ready, so every operation is O(1) amortised, unless it says otherwise.
///
/// Between operations, while slots are free, nobody waits who could be sent.
struct QueueCore {
    var limit: Int32
    /// From so many in flight on, slots are kept for hosts that have nothing in flight.
    var reserveStart: Int32
    var hostLimit: Int32
    let idleHostLimit: Int32
    var isSuspended = false
    var inFlight: Int32 = 0
    var waiting: Int32 = 0
    /// How many hosts have something in flight or waiting.
    var activeHosts: Int32 = 0

    var places = Slab<QueuePlace>()
    var placeLinks = IndexLinks()

    var flows = Slab<QueueFlow>()
    var flowTable = IndexTable()
    /// The flow that was asked for last; -1 for none. Those of a batch come one after the other.
    var latestFlow: Int32 = -1
    var siblingLinks = IndexLinks()
    var readyLinks = IndexLinks()
    var freshLinks = IndexLinks()
    var laneLinks = IndexLinks()

    var lines = Slab<QueueLine>()
    var lineTable = IndexTable()
    var turnLinks = IndexLinks()
    var freshTurnLinks = IndexLinks()
    var pausedRuns: Set<UInt64> = []

    var levels = RawStore(repeating: QueueLevel(), count: Priority.allCases.count)
    /// A bit for each priority that has ready flows.
    var readyLevels: UInt8 = 0
    /// A bit for each priority that has flows of fresh hosts.
    var freshLevels: UInt8 = 0

    var hosts = RawStore<QueueHost>()
    /// Three for each host.
    var lanes = RawStore<QueueLane>()
    var hostKeys: ContiguousArray<HostKey> = []
    var hostIndices: [HostKey: Int32] = [:]
    var idleHosts = IndexList()
    var idleLinks = IndexLinks()
    /// Hosts that have room and parked flows: while slots are short, one more flow after the other is made ready.
    var thawing = IndexList()
    var thawLinks = IndexLinks()

    init(limit: Int, hostLimit: Int?, idleHostLimit: Int) {
        self.limit = 1
        self.reserveStart = 1
        self.hostLimit = Self.clamped(hostLimit)
        self.idleHostLimit = Int32(clamping: max(1, idleHostLimit))
        setLimit(limit)
    }

    static func clamped(_ limit: Int?) -> Int32 {
        limit.map { Int32(clamping: max(1, $0)) } ?? QueueHost.none
    }

    mutating func setLimit(_ limit: Int) {
        self.limit = Self.clamped(limit)
        reserveStart = self.limit - (self.limit < 2 ? 0 : max(1, self.limit / 8))
    }

    /// Takes a slot at once if one may be had.
    @inline(__always)
    mutating func take(_ host: Int32, run: UInt64) -> Bool {
        guard inFlight < limit, !isSuspended else { return false }
        let hostInFlight = hosts[host].inFlight
        guard hosts[host].hasRoom,
            inFlight < reserveStart || hostInFlight == 0 || activeHosts < 2,
            pausedRuns.isEmpty || !pausedRuns.contains(run)
        else { return false }
        if hosts[host].isIdle { activeHosts &+= 1 }
        // Whoever waits here is held by a paused run, or would have been sent before: no flow has to be told.
        assert(hosts[host].lanes == 0)
        count(host)
        return true
    }

    @inline(__always)
    mutating func count(_ host: Int32) {
        inFlight &+= 1
        hosts[host].takeSlot()
    }

    /// Takes a slot back. False if the host has none out.
    @inline(__always)
    mutating func giveBack(_ host: Int32) -> Bool {
        let before = hosts[host]
        guard before.inFlight > 0 else { return false }
        inFlight &-= 1
        hosts[host].giveBackSlot()
        if before.waiting == 0 {
            if before.inFlight == 1 { retire(host) }
        } else if before.inFlight == 1 || !before.hasRoom {
            settle(host)
        }
        return true
    }

    /// Puts one in line and returns its place.
    mutating func enqueue(_ host: Int32, run: UInt64, level: UInt8, first: Bool) -> Int32 {
        if hosts[host].isIdle { activeHosts &+= 1 }
        waiting &+= 1
        hosts[host].waiting &+= 1
        let flow = flow(run: run, level: level, host: host, first: first)
        let place = newPlace(in: flow)
        if first {
            placeLinks.prepend(place, to: &flows[flow].places)
        } else {
            placeLinks.append(place, to: &flows[flow].places)
        }
        return place
    }

    /// Takes one out of its line. False if it is there no more.
    mutating func withdraw(_ place: Int32, generation: UInt32) -> Bool {
        guard Int(place) < places.capacity, places[place].generation == generation else { return false }
        let flow = places[place].flow
        let host = flows[flow].host
        vacate(place, of: flow)
        if flows[flow].places.isEmpty {
            _ = removeFlow(flow)
            settle(host)
        }
        if hosts[host].isIdle { retire(host) }
        return true
    }

    private mutating func newPlace(in flow: Int32) -> Int32 {
        if let place = places.reclaim() {
            places[place].flow = flow
            return place
        }
        let place = places.insert(QueuePlace(flow: flow, generation: 0))
        placeLinks.cover(place)
        return place
    }

    /// Frees a place; the counts follow.
    @inline(__always)
    mutating func vacate(_ place: Int32, of flow: Int32) {
        placeLinks.remove(place, from: &flows[flow].places)
        places[place].generation &+= 1
        places.remove(place)
        waiting &-= 1
        hosts[Int(flows[flow].host)].waiting &-= 1
    }
}
