/// Runs and their flows.
extension QueueCore {
    /// The flow of a run at a host and a priority; it is made if there is none.
    @inline(__always)
    mutating func flow(run: UInt64, level: UInt8, host: Int32, first: Bool) -> Int32 {
        if latestFlow >= 0, flows[latestFlow].host == host {
            let line = flows[latestFlow].line
            if lines[line].run == run, lines[line].level == level { return latestFlow }
        }
        let known = line(run: run, level: level)
        let line = known >= 0 ? known : makeLine(run: run, level: level, first: first)
        let hash = IndexTable.hash(UInt64(UInt32(line)), UInt64(UInt32(host)))
        let flow = flowTable.find(hash) { flows[$0].line == line && flows[$0].host == host }
        latestFlow = flow >= 0 ? flow : makeFlow(line: line, host: host, hash: hash, first: first)
        return latestFlow
    }

    @inline(__always)
    private func line(run: UInt64, level: UInt8) -> Int32 {
        lineTable.find(IndexTable.hash(run, UInt64(level))) { lines[$0].run == run && lines[$0].level == level }
    }

    private mutating func makeLine(run: UInt64, level: UInt8, first: Bool) -> Int32 {
        var round = levels[Int(level)].round
        // One that waited before goes ahead of those who wait for the next round. Only as many as had a turn in
        // this one: others would otherwise wait for as long as retries keep coming.
        if first, levels[Int(level)].guests > 0 {
            levels[Int(level)].guests &-= 1
            round &-= 1
        }
        let isPaused = !pausedRuns.isEmpty && pausedRuns.contains(run)
        let line = lines.insert(QueueLine(run: run, level: level, isPaused: isPaused, round: round))
        turnLinks.cover(line)
        freshTurnLinks.cover(line)
        lineTable.insert(line, hash: IndexTable.hash(run, UInt64(level)))
        return line
    }

    private mutating func makeFlow(line: Int32, host: Int32, hash: UInt32, first: Bool) -> Int32 {
        let flow = flows.insert(QueueFlow(line: line, host: host, lane: host * 3 + Int32(lines[line].level)))
        siblingLinks.cover(flow)
        readyLinks.cover(flow)
        freshLinks.cover(flow)
        laneLinks.cover(flow)
        flowTable.insert(flow, hash: hash)
        siblingLinks.append(flow, to: &lines[line].flows)
        if !lines[line].isPaused {
            attach(flow, first: first)
            settle(host)
        }
        return flow
    }

    /// Forgets a flow that nobody waits in any more; true if its line went with it.
    mutating func removeFlow(_ flow: Int32) -> Bool {
        let line = flows[flow].line
        if latestFlow == flow { latestFlow = -1 }
        if !lines[line].isPaused { detach(flow) }
        siblingLinks.remove(flow, from: &lines[line].flows)
        flowTable.remove(flow)
        flows.remove(flow)
        guard lines[line].flows.isEmpty else { return false }
        lineTable.remove(line)
        lines.remove(line)
        return true
    }

    /// Holds back the run's flows. O(hosts it waits for).
    mutating func pause(run: UInt64) {
        guard pausedRuns.insert(run).inserted else { return }
        forEachLine(of: run) { core, line in
            core.forEachFlow(of: line) { core, flow in
                core.detach(flow)
                core.settle(core.flows[flow].host)
            }
            core.lines[line].isPaused = true
        }
    }

    /// Puts the run's flows behind those that wait at their hosts. O(hosts it waits for).
    mutating func resume(run: UInt64) {
        guard pausedRuns.remove(run) != nil else { return }
        forEachLine(of: run) { core, line in
            core.lines[line].isPaused = false
            core.forEachFlow(of: line) { core, flow in
                core.attach(flow, first: false)
                core.settle(core.flows[flow].host)
            }
        }
    }

    private mutating func forEachLine(of run: UInt64, _ body: (inout QueueCore, Int32) -> Void) {
        for priority in Priority.allCases {
            let line = line(run: run, level: priority.rawValue)
            if line >= 0 { body(&self, line) }
        }
    }

    private mutating func forEachFlow(of line: Int32, _ body: (inout QueueCore, Int32) -> Void) {
        var flow = lines[line].flows.head
        while flow >= 0 {
            body(&self, flow)
            flow = siblingLinks.next(after: flow)
        }
    }
}
