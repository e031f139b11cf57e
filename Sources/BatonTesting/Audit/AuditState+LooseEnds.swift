internal import Baton

/// What is not over although everything should be.
extension AuditState {
    func looseEnds(_ facts: EngineFacts) -> [String] {
        unfinished() + leftInMemory(facts) + slots(facts) + timers(facts)
    }

    private func hasCompleted(_ run: UInt64) -> Bool { (runs[run]?.completions ?? 0) > 0 }

    private func unfinished() -> [String] {
        let open = runs.filter { $0.value.completions == 0 }.keys.sorted().map { "run \($0) never completed" }
        let items = openItems.values.joined().filter { hasCompleted($0.run) }
            .sorted { ($0.run, $0.index) < ($1.run, $1.index) }
            .map { "item \($0.index) of a batch of run \($0.run) never completed" }
        let exchanges = exchanges.sorted { ($0.key.run, $0.key.token) < ($1.key.run, $1.key.token) }
            .compactMap { exchange, record -> String? in
                if record.ends == 0 { return "an attempt of run \(exchange.run) never ended" }
                guard record.transportEnds == 0, !record.isForfeited else { return nil }
                return "the transport never ended an exchange of run \(exchange.run)"
            }
        return open + items + exchanges
    }

    private func leftInMemory(_ facts: EngineFacts) -> [String] {
        runs.keys.sorted().compactMap { run in
            guard hasCompleted(run) else { return nil }
            if facts.registered.contains(run) { return "run \(run) is still registered after its end" }
            return runs[run]?.root == nil ? nil : "run \(run) is kept in memory after its end"
        }
    }

    private func slots(_ facts: EngineFacts) -> [String] {
        var sentences: [String] = []
        if slots > 0 { sentences.append("\(slots) slots did not come back") }
        if facts.slots != slots {
            sentences.append("the queue counts \(facts.slots) slots as taken where requests hold \(slots)")
        }
        if facts.waiting > 0 { sentences.append("\(facts.waiting) requests still wait in the queue") }
        return sentences
    }

    /// A call whose run is over has the timers of its forfeits and no others.
    private func timers(_ facts: EngineFacts) -> [String] {
        var allowed: [ObjectIdentifier: Int] = [:]
        for (exchange, record) in exchanges where record.transportEnds == 0 && !record.isForfeited {
            allowed[exchange.call, default: 0] += 1
        }
        var sentences: [String] = []
        for timer in facts.callTimers where hasCompleted(timer.run) {
            if let count = allowed[timer.job], count > 0 {
                allowed[timer.job] = count - 1
            } else {
                sentences.append("a timer of run \(timer.run) outlived it")
            }
        }
        if facts.otherTimers > 0, !runs.isEmpty, runs.keys.allSatisfy(hasCompleted) {
            sentences.append(
                "\(facts.otherTimers) timers are still set that belong to no run, such as the delay of a reply or the sleep of a closure"
            )
        }
        return sentences
    }
}
