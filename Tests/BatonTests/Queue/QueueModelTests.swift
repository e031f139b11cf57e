import Baton
import Testing

/// Runs the queue and the naive one side by side through random operations.
private struct ModelRun {
    var random: SplitMix64
    var queue: QueueState<Int>
    var model: NaiveQueue
    var tickets: [Int: QueueState<Int>.Ticket] = [:]
    var hosts: [HostID] = []
    var nextID = 0
    var granted: [Int] = []
    private(set) var trace: [String] = []
    private let isTracing: Bool

    init(seed: UInt64, isTracing: Bool = false) {
        self.isTracing = isTracing
        random = SplitMix64(seed: seed)
        let limit = 1 + random.below(10)
        let hostLimit = random.chance(60) ? 1 + random.below(3) : nil
        queue = QueueState(limit: limit, hostLimit: hostLimit)
        model = NaiveQueue(limit: limit, hostLimit: hostLimit)
        for index in 0..<1 + random.below(5) { hosts.append(queue.host(for: HostKey(host: "host\(index)"))) }
    }

    /// What went wrong at the first step where the two differ; nil if they never do.
    mutating func firstDisagreement(steps: Int) -> String? {
        for _ in 0..<steps {
            if let problem = step() { return problem }
        }
        return finish()
    }

    private mutating func note(_ event: @autoclosure () -> String) {
        if isTracing { trace.append(event()) }
    }

    private mutating func step() -> String? {
        granted.removeAll(keepingCapacity: true)
        switch random.below(100) {
        case ..<45: return admit()
        case ..<70: release()
        case ..<84: if let problem = cancel() { return problem }
        default: control()
        }
        return compare()
    }

    private mutating func admit() -> String? {
        let host = random.below(hosts.count)
        let entry = NaiveQueue.Entry(
            id: nextID, host: host, run: UInt64(random.below(4)), priority: Priority.allCases[random.below(3)])
        let first = random.chance(15)
        nextID += 1
        note("admit \(entry.id)@\(host) run \(entry.run) \(entry.priority)\(first ? " first" : "")")
        let admission = queue.admit(
            entry.id, host: hosts[host], run: entry.run, priority: entry.priority, position: first ? .front : .back)
        switch admission {
        case .granted:
            guard model.mayBeSent(entry) else { return "\(entry) was sent too early" }
            model.send(entry)
        case .queued(let ticket):
            guard !model.mayBeSent(entry) else { return "\(entry) was not sent" }
            model.enqueue(entry, first: first)
            tickets[entry.id] = ticket
        case .rejected: return "\(entry) was rejected"
        }
        return compare()
    }

    private mutating func release() {
        guard !model.inFlight.isEmpty else { return }
        let entry = model.inFlight[random.below(model.inFlight.count)]
        note("release \(entry.id)")
        model.release(entry)
        queue.release(host: hosts[entry.host], into: &granted)
    }

    /// Cancels one that waits, or one that was granted or cancelled long ago.
    private mutating func cancel() -> String? {
        guard nextID > 0 else { return nil }
        let id =
            model.waiting.isEmpty || random.chance(20)
            ? random.below(nextID) : model.waiting[random.below(model.waiting.count)].id
        guard let ticket = tickets[id] else { return nil }
        note("cancel \(id)")
        let expected = model.waiting.firstIndex { $0.id == id }
        if let expected { model.waiting.remove(at: expected) }
        let found = queue.cancel(ticket, into: &granted)
        return found == (expected == nil ? nil : id) ? nil : "cancel of \(id) returned \(String(describing: found))"
    }

    private mutating func control() {
        let host = random.below(hosts.count)
        let run = UInt64(random.below(4))
        let number = 1 + random.below(4)
        let kind = random.below(9)
        note("control \(kind) host \(host) run \(run) number \(number)")
        switch kind {
        case 0:
            model.limit = number * 3 - 2
            queue.setLimit(number * 3 - 2, into: &granted)
        case 1:
            model.hostLimit = number == 4 ? nil : number
            queue.setHostLimit(model.hostLimit, into: &granted)
        case 2:
            model.ownLimits[host] = number == 4 ? nil : number
            queue.setLimit(model.ownLimits[host], of: hosts[host], into: &granted)
        case 3:
            model.isSuspended = true
            queue.suspend()
        case 4:
            model.isSuspended = false
            queue.resume(into: &granted)
        case 5:
            model.pausedHosts.insert(host)
            queue.pause(hosts[host])
        case 6:
            model.pausedHosts.remove(host)
            model.allowances[host] = number == 4 ? nil : number
            queue.resume(hosts[host], burst: model.allowances[host], into: &granted)
        case 7:
            model.pausedRuns.insert(run)
            queue.pause(run: run)
        default:
            model.pausedRuns.remove(run)
            queue.resume(run: run, into: &granted)
        }
    }

    private mutating func compare() -> String? {
        if let problem = model.objection(to: granted) { return problem }
        if queue.inFlight != model.inFlight.count { return "in flight: \(queue.inFlight)" }
        if queue.waiting != model.waiting.count { return "waiting: \(queue.waiting)" }
        // Asking is slow without optimization, so not at every step.
        if !nextID.isMultiple(of: 4) { return nil }
        for (index, host) in hosts.enumerated() where queue.inFlight(at: host) != model.inFlight(at: index) {
            return "in flight at \(index): \(queue.inFlight(at: host))"
        }
        return nil
    }

    /// Lifts all that holds back, then lets everything come back.
    private mutating func finish() -> String? {
        granted.removeAll()
        model.isSuspended = false
        queue.resume(into: &granted)
        if let problem = compare() { return "\(problem) at the end" }
        for host in hosts.indices {
            granted.removeAll()
            model.pausedHosts.remove(host)
            model.allowances[host] = nil
            queue.resume(hosts[host], into: &granted)
            if let problem = compare() { return "\(problem) at the end" }
        }
        for run in 0..<4 as Range<UInt64> {
            granted.removeAll()
            model.pausedRuns.remove(run)
            queue.resume(run: run, into: &granted)
            if let problem = compare() { return "\(problem) at the end" }
        }
        while let entry = model.inFlight.first {
            granted.removeAll()
            model.release(entry)
            queue.release(host: hosts[entry.host], into: &granted)
            if let problem = compare() { return "\(problem) at the end" }
        }
        return queue.waiting == 0 && queue.inFlight == 0 ? nil : "not all were sent"
    }
}

@Suite struct QueueModelTests {
    @Test(
        "Z03: through random operations, 10,000 seeds (1,000 by default) agree with a naive model at each step",
        arguments: 0..<10)
    func model(part: Int) {
        let share = Scale.count(1_000, everyday: 100)
        for seed in part * share..<(part + 1) * share {
            var run = ModelRun(seed: UInt64(seed))
            guard run.firstDisagreement(steps: 40) != nil else { continue }
            var again = ModelRun(seed: UInt64(seed), isTracing: true)
            let problem = again.firstDisagreement(steps: 40) ?? "gone"
            Issue.record("seed \(seed): \(problem) after \(again.trace)")
            return
        }
    }
}
