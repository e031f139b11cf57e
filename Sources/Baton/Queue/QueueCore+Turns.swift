/// Whose turn it is within a priority. Each line with ready flows has one turn a round.
extension QueueCore {
    mutating func makeReady(_ flow: Int32) {
        let line = flows[flow].line
        flows[flow].isReady = true
        readyLinks.append(flow, to: &lines[line].ready)
        if lines[line].standing == .none { enter(line) }
    }

    mutating func makeUnready(_ flow: Int32) {
        let line = flows[flow].line
        if flows[flow].isFresh { makeStale(flow) }
        flows[flow].isReady = false
        readyLinks.remove(flow, from: &lines[line].ready)
        if lines[line].ready.isEmpty { leave(line) }
    }

    /// Lets a line have a turn: in this round if it had none yet, else in the next.
    @inline(__always)
    mutating func enter(_ line: Int32) {
        let level = Int(lines[line].level)
        if lines[line].round == levels[level].round {
            lines[line].standing = .listed
            turnLinks.append(line, to: &levels[level].next)
        } else {
            // It lost its place only because its hosts were full.
            lines[line].standing = .overdue
            turnLinks.append(line, to: &levels[level].overdue)
        }
        readyLevels |= 1 << lines[line].level
    }

    @inline(__always)
    mutating func leave(_ line: Int32) {
        let level = Int(lines[line].level)
        switch lines[line].standing {
        case .none: return
        case .overdue: turnLinks.remove(line, from: &levels[level].overdue)
        case .listed where lines[line].round == levels[level].round: turnLinks.remove(line, from: &levels[level].next)
        case .listed: turnLinks.remove(line, from: &levels[level].current)
        }
        lines[line].standing = .none
        if levels[level].hasNobody { readyLevels &= ~(1 << lines[line].level) }
    }

    /// The line whose turn it is; the level has one.
    @inline(__always)
    mutating func upcoming(_ level: Int) -> Int32 {
        if levels[level].overdue.head >= 0 { return levels[level].overdue.head }
        if levels[level].current.head < 0 { levels[level].startRound() }
        return levels[level].current.head
    }

    /// Lets a flow have a turn at the slots that are kept for hosts with nothing in flight.
    mutating func makeFresh(_ flow: Int32) {
        let line = flows[flow].line
        flows[flow].isFresh = true
        if lines[line].fresh.isEmpty {
            let level = Int(lines[line].level)
            freshTurnLinks.append(line, to: &levels[level].fresh)
            freshLevels |= 1 << level
        }
        freshLinks.append(flow, to: &lines[line].fresh)
    }

    mutating func makeStale(_ flow: Int32) {
        let line = flows[flow].line
        flows[flow].isFresh = false
        freshLinks.remove(flow, from: &lines[line].fresh)
        if lines[line].fresh.isEmpty {
            let level = Int(lines[line].level)
            freshTurnLinks.remove(line, from: &levels[level].fresh)
            if levels[level].fresh.isEmpty { freshLevels &= ~(1 << level) }
        }
    }
}
