import Baton

/// The rules of the queue in their plainest form: one array, searched each time. It decides nothing about turns; it
/// says whether what the queue did was allowed, and whether it left somebody out.
struct NaiveQueue {
    struct Entry: Equatable {
        var id: Int
        var host: Int
        var run: UInt64
        var priority: Priority
    }

    var limit: Int
    var hostLimit: Int?
    var ownLimits: [Int: Int] = [:]
    var allowances: [Int: Int] = [:]
    var pausedHosts: Set<Int> = []
    var pausedRuns: Set<UInt64> = []
    var isSuspended = false
    var waiting: [Entry] = []
    var inFlight: [Entry] = []

    init(limit: Int, hostLimit: Int? = nil) {
        self.limit = limit
        self.hostLimit = hostLimit
    }

    func inFlight(at host: Int) -> Int { inFlight.count { $0.host == host } }

    func mayBeSent(_ entry: Entry) -> Bool {
        if isSuspended || inFlight.count >= limit { return false }
        if pausedRuns.contains(entry.run) || pausedHosts.contains(entry.host) { return false }
        let atHost = inFlight(at: entry.host)
        if let bound = ownLimits[entry.host] ?? hostLimit, atHost >= bound { return false }
        if let allowance = allowances[entry.host], allowance < 1 { return false }
        let reserve = limit < 2 ? 0 : max(1, limit / 8)
        return inFlight.count < limit - reserve || atHost == 0 || !worksElsewhere(than: entry.host)
    }

    private func worksElsewhere(than host: Int) -> Bool {
        inFlight.contains { $0.host != host } || waiting.contains { $0.host != host }
    }

    mutating func send(_ entry: Entry) {
        inFlight.append(entry)
        if let allowance = allowances[entry.host] { allowances[entry.host] = allowance - 1 }
    }

    mutating func release(_ entry: Entry) {
        inFlight.remove(at: inFlight.firstIndex(of: entry)!)
        guard let allowance = allowances[entry.host] else { return }
        allowances[entry.host] = waiting.contains { $0.host == entry.host } ? allowance + 1 : nil
    }

    mutating func enqueue(_ entry: Entry, first: Bool) {
        if first { waiting.insert(entry, at: 0) } else { waiting.append(entry) }
    }

    /// What is wrong with these grants, made one after the other; nil if nothing is.
    mutating func objection(to granted: [Int]) -> String? {
        for id in granted {
            guard let index = waiting.firstIndex(where: { $0.id == id }) else { return "\(id) does not wait" }
            let entry = waiting[index]
            guard mayBeSent(entry) else { return "\(entry) may not be sent" }
            let isFirst = !waiting[..<index].contains {
                $0.run == entry.run && $0.host == entry.host && $0.priority == entry.priority
            }
            guard isFirst else { return "\(entry) overtook another of its own" }
            waiting.remove(at: index)
            send(entry)
        }
        return waiting.first(where: mayBeSent).map { "\($0) was left out" }
    }
}
