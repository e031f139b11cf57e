/// One who waits. The waiter itself is kept beside, under the same index.
struct QueuePlace {
    var flow: Int32
    /// Counts the uses of the index, so that a ticket of an earlier use says nothing.
    var generation: UInt32
}

/// Those of one line who want the same host, in order; never empty.
struct QueueFlow {
    let line: Int32
    let host: Int32
    /// The host's lane for the line's priority.
    let lane: Int32
    var places = IndexList()
    /// Whether it is among its line's ready flows; else it is parked at its host, or held by a paused run.
    var isReady = false
    /// Whether it is among its line's fresh flows: it is ready, and its host has nothing in flight.
    var isFresh = false
}

/// The flows of one run at one priority; never without one.
struct QueueLine {
    enum Standing: UInt8 {
        /// It has no ready flow.
        case none
        /// It had no turn in this round and came back to the ring.
        case overdue
        /// It waits for its turn: in the next round if it had the one of this round.
        case listed
    }

    let run: UInt64
    let level: UInt8
    var isPaused: Bool
    /// The round in which it had its last turn.
    var round: UInt32
    var standing = Standing.none
    /// All of its flows.
    var flows = IndexList()
    /// Those whose host has room, in the order of their turns.
    var ready = IndexList()
    /// Those of them whose host has nothing in flight.
    var fresh = IndexList()
}

/// One priority: the lines that have ready flows, each once a round.
struct QueueLevel {
    var round: UInt32 = 0
    /// Lines that had no turn in this round and came back to the ring; they go first.
    var overdue = IndexList()
    var current = IndexList()
    var next = IndexList()
    /// How many new lines may still enter this round as if they were overdue.
    var guests: Int32 = 1
    /// How many slots in a row others got while this level had someone to send.
    var passed: Int32 = 0
    /// Lines with fresh flows, in the order of their turns at the slots that are kept for these.
    var fresh = IndexList()

    var hasNobody: Bool { overdue.isEmpty && current.isEmpty && next.isEmpty }

    mutating func startRound() {
        round &+= 1
        current = next
        next = IndexList()
        guests = max(1, current.count)
    }
}

/// The flows of one host at one priority. They take turns; the ready ones are in front.
struct QueueLane {
    var flows = IndexList()
    /// Where the parked ones begin; -1 when all are ready.
    var firstParked: Int32 = -1
    /// Where those begin that are not fresh; -1 when all are. The fresh ones are the first of the ready ones.
    var firstStale: Int32 = -1
    /// How many of the host's slots in a row went to other priorities while this one had someone waiting.
    var passed: Int32 = 0
}

/// What the queue knows about one host.
struct QueueHost {
    static let none = Int32.max

    var generation: UInt32 = 0
    var inFlight: Int32 = 0
    var waiting: Int32 = 0
    /// The limit in force.
    var limit: Int32
    /// How many may be sent before one more comes back; `none` when resumption is not staggered.
    var allowance: Int32 = none
    var hasOwnLimit = false
    var isPaused = false
    var isThawing = false
    var isListedAsIdle = false
    /// A bit for each priority at which flows are here.
    var lanes: UInt8 = 0

    @inline(__always)
    var hasRoom: Bool { inFlight < limit && allowance > 0 && !isPaused }
    mutating func takeSlot() {
        inFlight &+= 1
        if allowance != Self.none { allowance &-= 1 }
    }

    @inline(__always)
    mutating func giveBackSlot() {
        inFlight &-= 1
        if allowance != Self.none { allowance = waiting == 0 ? Self.none : allowance &+ 1 }
    }

    @inline(__always)
    var isIdle: Bool { inFlight == 0 && waiting == 0 }
    /// Whether a slot that was given away changes anything for those who wait: it was the last one or the first one,
    /// or there are parked flows, one of which may now be at the front.
    @inline(__always)
    var mustSettleAfterGrant: Bool { !hasRoom || inFlight == 1 || isThawing }
    /// Whether it may be forgotten.
    var isDisposable: Bool { isIdle && !isPaused && !hasOwnLimit }
}
