internal import Baton

/// What an audit knows: each step changes it, and what may not be becomes a sentence.
struct AuditState {
    struct Run {
        weak var root: (any Job)?
        var ends = 0
        var completions = 0
        var isCancelled = false
    }

    struct Exchange {
        /// How often the engine ended the attempt, and how often the transport said that it had.
        var ends = 0
        var transportEnds = 0
        var isForfeited = false
    }

    /// One fault is often many; nobody reads on.
    static let mostViolations = 50

    private(set) var violations: [String] = []
    private(set) var unlisted = 0
    private(set) var runs: [UInt64: Run] = [:]
    private(set) var exchanges: [ProbedExchange: Exchange] = [:]
    private(set) var openItems: [ObjectIdentifier: Set<ProbedItem>] = [:]
    private(set) var itemCount = 0
    private(set) var slots = 0
    /// Exchanges that need a slot: sent, and neither ended nor forfeited.
    private var travelling = 0
    /// Exchanges that were given up and that the transport has not ended.
    private var orphans = 0

    var awaitsTransport: Bool { orphans > 0 }

    private mutating func report(_ sentence: String) {
        if violations.count < Self.mostViolations { violations.append(sentence) } else { unlisted += 1 }
    }

    mutating func note(_ step: EngineStep) {
        switch step {
        case .runBegan(let run, let root): runs[run] = Run(root: root)
        case .runCancelled(let run): runs[run]?.isCancelled = true
        case .runEnded(let run):
            runs[run, default: Run()].ends += 1
            if runs[run]?.ends == 2 { report("run \(run) ended twice") }
        case .runCompleted(let run):
            runs[run, default: Run()].completions += 1
            if runs[run]?.completions == 2 { report("run \(run) completed twice") }
        case .itemOpened(let item, let limit): open(item, limit)
        case .itemClosed(let item): close(item)
        case .slotTaken(let limit):
            slots += 1
            if slots > limit { report("\(slots) requests had a slot at once, with a limit of \(limit)") }
        case .slotReturned:
            slots -= 1
            if slots < 0 {
                report("a slot was given back twice")
                slots = 0
            }
        case .exchangeSent(let exchange, let isUndo): send(exchange, isUndo)
        case .exchangeLanded(let exchange): end(exchange, isGivenUp: false)
        case .exchangeGivenUp(let exchange): end(exchange, isGivenUp: true)
        case .exchangeForfeited(let exchange): forfeit(exchange)
        case .transportTold(let exchange, let isEnd): hear(exchange, isEnd)
        }
    }

    // MARK: Items

    private mutating func open(_ item: ProbedItem, _ limit: Int) {
        itemCount += 1
        if !openItems[item.batch, default: []].insert(item).inserted {
            report("item \(item.index) of a batch of run \(item.run) was begun while it was under way")
        }
        let count = openItems[item.batch]?.count ?? 0
        if count > limit { report("\(count) items of a batch of run \(item.run) were open, with a limit of \(limit)") }
        if hasCompleted(item.run) { report("run \(item.run) began item \(item.index) of a batch after its end") }
    }

    private mutating func close(_ item: ProbedItem) {
        if openItems[item.batch]?.remove(item) == nil {
            report("item \(item.index) of a batch of run \(item.run) completed twice")
        }
        if openItems[item.batch]?.isEmpty == true { openItems[item.batch] = nil }
    }

    // MARK: Exchanges

    private func hasCompleted(_ run: UInt64) -> Bool { (runs[run]?.completions ?? 0) > 0 }

    private mutating func send(_ exchange: ProbedExchange, _ isUndo: Bool) {
        let run = exchange.run
        exchanges[exchange] = Exchange()
        travelling += 1
        if travelling > slots { report("run \(run) sent a request without a slot") }
        if runs[run]?.isCancelled == true, !isUndo { report("run \(run) sent a request after it was cancelled") }
        if hasCompleted(run) { report("run \(run) sent a request after its end") }
    }

    private mutating func end(_ exchange: ProbedExchange, isGivenUp: Bool) {
        exchanges[exchange, default: Exchange()].ends += 1
        if exchanges[exchange]?.ends == 2 { report("an attempt of run \(exchange.run) ended twice") }
        if isGivenUp, exchanges[exchange]?.transportEnds == 0 { orphans += 1 } else { travelling -= 1 }
    }

    private mutating func forfeit(_ exchange: ProbedExchange) {
        exchanges[exchange, default: Exchange()].isForfeited = true
        travelling -= 1
        orphans -= 1
        report("the transport did not end an exchange of run \(exchange.run) within a second of its cancel")
    }

    private mutating func hear(_ exchange: ProbedExchange, _ isEnd: Bool) {
        let run = exchange.run
        guard let known = exchanges[exchange] else {
            return report("the transport told something of an exchange of run \(run) that was never sent")
        }
        if known.transportEnds > 0 {
            report(
                isEnd
                    ? "the transport completed an exchange of run \(run) twice"
                    : "the transport went on with an exchange of run \(run) after it had completed it")
        } else if known.isForfeited {
            report("the transport was late with an exchange of run \(run): its slot had been taken back")
        }
        guard isEnd else { return }
        exchanges[exchange]?.transportEnds += 1
        if known.ends > 0, known.transportEnds == 0, !known.isForfeited {
            // It was given up, and has kept its slot until now.
            travelling -= 1
            orphans -= 1
        }
    }
}
