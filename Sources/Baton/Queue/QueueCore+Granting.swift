/// Who gets the next slot.
extension QueueCore {
    /// How many slots in a row a priority leaves to others before it is owed one.
    static var patience: Int32 { 7 }

    /// Gives a slot to the next who may have one and returns the place that is free now; -1 if there is nobody.
    mutating func grantNext() -> Int32 {
        if waiting == 0 || isSuspended { return -1 }
        guard inFlight < limit else {
            thaw()
            return -1
        }
        let isReserved = inFlight >= reserveStart && activeHosts > 1
        let open = isReserved ? freshLevels : readyLevels
        guard open != 0 else {
            thaw()
            return -1
        }
        let level = level(among: open)
        let flow: Int32
        if isReserved {
            flow = lines[levels[level].fresh.head].fresh.head
        } else {
            flow = lines[upcoming(level)].ready.head
        }
        return grant(owed(insteadOf: flow), among: open)
    }

    /// The most urgent level, unless another was passed over too often.
    @inline(__always)
    private func level(among open: UInt8) -> Int {
        let best = open.trailingZeroBitCount
        if open & (open &- 1) == 0 { return best }
        var owed = best
        var passed = Self.patience - 1
        for level in 0..<levels.count where open & (1 << level) != 0 && levels[level].passed > passed {
            owed = level
            passed = levels[level].passed
        }
        return owed
    }

    /// The flow to which the host owes its next slot, if one priority was passed over there too often.
    ///
    /// The turns of the whole queue are not enough: a host may have room only at moments when others are served.
    @inline(__always)
    private mutating func owed(insteadOf flow: Int32) -> Int32 {
        let host = Int(flows[flow].host)
        let waiting = hosts[host].lanes
        if waiting & (waiting &- 1) == 0 { return flow }
        let chosen = Int(flows[flow].lane)
        var owed = chosen
        var passed = max(Self.patience - 1, lanes[chosen].passed)
        for lane in host * 3..<host * 3 + 3 where lanes[lane].flows.head >= 0 {
            let before = lanes[lane].passed
            lanes[lane].passed = before &+ 1
            if before > passed {
                owed = lane
                passed = before
            }
        }
        lanes[owed].passed = 0
        return owed == chosen ? flow : lanes[owed].flows.head
    }

    @inline(__always)
    private mutating func grant(_ flow: Int32, among open: UInt8) -> Int32 {
        let line = flows[flow].line
        let host = flows[flow].host
        let level = Int(lines[line].level)
        if open & (open &- 1) != 0 {
            for other in 0..<levels.count where open & (1 << other) != 0 {
                levels[other].passed &+= 1
            }
            levels[level].passed = 0
        }
        let place = flows[flow].places.head
        vacate(place, of: flow)
        count(host)

        leave(line)
        lines[line].round = levels[level].round
        var isGone = false
        if flows[flow].places.isEmpty {
            isGone = removeFlow(flow)
        } else {
            rotate(flow)
            if flows[flow].isReady { readyLinks.moveToBack(flow, of: &lines[line].ready) }
        }
        if hosts[host].mustSettleAfterGrant { settle(host) }
        if !isGone {
            if lines[line].standing == .none, !lines[line].ready.isEmpty { enter(line) }
            if !lines[line].fresh.isEmpty { freshTurnLinks.moveToBack(line, of: &levels[level].fresh) }
        }
        return place
    }
}
