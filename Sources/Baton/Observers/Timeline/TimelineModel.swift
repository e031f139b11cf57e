/// What is drawn: runs, the calls within them by group, and each call's attempts; times in milliseconds since the first.
struct TimelineModel {
    struct Run {
        var name: String
        var start: Double
        var end: Double?
        var error: String?
        var isCancelled: Bool
        var groups: [Group] = []
    }

    /// Calls of one batch, or one call that stands in none.
    struct Group {
        /// Where the batch stands; empty for calls outside of batches.
        var name: String
        var calls: [Call] = []
    }

    struct Call {
        /// Where it stands, within the group.
        var place: String
        var method: String
        var url: String
        var isUndo: Bool
        var attempts: [Attempt] = []

        /// The URL without scheme, host and query.
        var path: String {
            let rest = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
            let path = rest.firstIndex(of: "/").map { rest[$0...] } ?? "/"
            return String(path.prefix { $0 != "?" })
        }
        var isFailed: Bool { attempts.contains { $0.end == .failed } }
    }

    enum End: String {
        case ok, failed, cancelled
        /// Not over yet.
        case open
    }

    struct Attempt {
        var number: Int
        /// When it began to wait for a slot; nil where it did not wait.
        var queued: Double?
        /// Nil when it never got a slot.
        var started: Double?
        var ended: Double
        var end: End
        var status: Int?
        var error: String?
        var backoff: Double?
        var phases: [Phase] = []
        var facts: [(name: String, value: String)] = []

        var begin: Double { queued ?? started ?? ended }
        /// What stands beside its bar.
        var word: String {
            switch end {
            case .ok: status.map(String.init) ?? "ok"
            case .failed:
                "✗ \(status.map(String.init) ?? error.map { String($0.prefix { $0 != ":" && $0 != " " }) } ?? "")"
            case .cancelled: "⊘"
            case .open: "…"
            }
        }
    }

    struct Phase {
        var name: String
        var start: Double
        var length: Double
    }

    var runs: [Run] = []
    var marks: [(time: Double, text: String)] = []
    var omitted = 0
    /// The end of everything, at least a thousandth of a millisecond.
    var span = 0.001

    var callCount: Int { runs.reduce(0) { $0 + $1.groups.reduce(0) { $0 + $1.calls.count } } }
    var attemptCount: Int {
        runs.reduce(0) { $0 + $1.groups.reduce(0) { $0 + $1.calls.reduce(0) { $0 + $1.attempts.count } } }
    }
    var failedCount: Int {
        runs.reduce(0) { $0 + $1.groups.reduce(0) { $0 + $1.calls.filter(\.isFailed).count } }
    }
}

extension TimelineModel {
    init(_ state: TimelineState, _ redaction: Redaction) {
        omitted = state.dropped
        let begins = state.attempts.map(\.begin) + state.runs.values.map(\.started)
        guard let zero = begins.min() else { return }
        func ms(_ instant: Instant) -> Double {
            (zero.duration(to: instant).inSeconds * 1_000_000).rounded() / 1_000
        }
        var last = begins.max() ?? zero
        for attempt in state.attempts { last = max(last, attempt.ended ?? last) }
        for run in state.runs.values { last = max(last, run.ended ?? last) }
        for mark in state.marks where mark.instant >= zero { last = max(last, mark.instant) }
        span = max(0.001, ms(last))
        marks = state.marks.filter { $0.instant >= zero }.map { (ms($0.instant), redaction.text($0.text)) }

        var byRun: [UInt64: [TimelineAttempt]] = [:]
        for attempt in state.attempts { byRun[attempt.run, default: []].append(attempt) }
        // Numbers of runs are the process's; in a picture they count from 1.
        for (index, id) in Set(byRun.keys).union(state.runs.keys).sorted().enumerated() {
            let attempts = byRun[id] ?? []
            let known = state.runs[id]
            var run = Run(
                name: "run \(index + 1)", start: ms(known?.started ?? attempts.map(\.begin).min() ?? zero),
                end: known?.ended.map(ms), error: known?.error, isCancelled: known?.isCancelled ?? false)
            run.add(attempts, redaction, end: run.end ?? span, isOver: run.end != nil, ms)
            runs.append(run)
        }
    }
}

extension TimelineModel.Run {
    /// Sorts attempts into calls, and calls into groups, in the order in which they began.
    fileprivate mutating func add(
        _ attempts: [TimelineAttempt], _ redaction: Redaction, end: Double, isOver: Bool, _ ms: (Instant) -> Double
    ) {
        struct Item: Hashable {
            var path: String
            var request: String
        }
        var places: [UInt64: (group: Int, call: Int)] = [:]
        // An item of a batch that is sent again in another round stays in its row.
        var items: [Item: (group: Int, call: Int)] = [:]
        var named: [String: Int] = [:]
        for attempt in attempts {
            let drawn = TimelineModel.Attempt(attempt, redaction, end: end, isOver: isOver, ms)
            if let place = places[attempt.call] {
                groups[place.group].calls[place.call].attempts.append(drawn)
                continue
            }
            let path = attempt.place.path
            let (name, place) = Self.split(path)
            let item = Item(path: path, request: "\(attempt.method) \(attempt.url)")
            if !name.isEmpty, let known = items[item] {
                places[attempt.call] = known
                groups[known.group].calls[known.call].attempts.append(drawn)
                continue
            }
            let group: Int
            if !name.isEmpty, let known = named[name] {
                group = known
            } else {
                group = groups.count
                groups.append(TimelineModel.Group(name: name))
                if !name.isEmpty { named[name] = group }
            }
            let row = (group, groups[group].calls.count)
            places[attempt.call] = row
            if !name.isEmpty { items[item] = row }
            groups[group].calls.append(
                TimelineModel.Call(
                    place: place, method: attempt.method.rawValue, url: redaction.url(attempt.url),
                    isUndo: attempt.isUndo, attempts: [drawn]))
        }
    }

    /// `chain[2].batch[17].chain[0]` as `chain[2].batch` and `[17].chain[0]`.
    private static func split(_ path: String) -> (group: String, place: String) {
        var found: String.Index?
        for name in ["batch[", "zip["] {
            var rest = path[...]
            while let range = rest.firstRange(of: name) {
                let end = path.index(before: range.upperBound)
                found = max(found ?? end, end)
                rest = rest[range.upperBound...]
            }
        }
        guard let found else { return ("", path) }
        return (String(path[..<found]), String(path[found...]))
    }
}

extension TimelineModel.Attempt {
    fileprivate init(
        _ attempt: TimelineAttempt, _ redaction: Redaction, end runEnd: Double, isOver: Bool, _ ms: (Instant) -> Double
    ) {
        number = attempt.number
        queued = attempt.queued.map(ms)
        started = attempt.started.map(ms)
        ended = attempt.ended.map(ms) ?? runEnd
        status = attempt.status
        error = attempt.error
        backoff = attempt.backoff.map { ($0.inSeconds * 1_000_000).rounded() / 1_000 }
        end =
            attempt.ended == nil
            ? (isOver ? .cancelled : .open) : attempt.isCancelled ? .cancelled : attempt.error == nil ? .ok : .failed
        addPhases(attempt.metrics)
        if let size = attempt.responseSize { facts.append(("bytes", size.grouped)) }
        guard let metrics = attempt.metrics else { return }
        if let name = metrics.protocolName { facts.append(("protocol", name)) }
        if let address = metrics.remoteAddress { facts.append(("address", address)) }
        if let isReused = metrics.connectionReused { facts.append(("connection", isReused ? "reused" : "new")) }
    }

    /// The phases that the transport measured, one after the other from the start, and never beyond the end.
    private mutating func addPhases(_ metrics: TransportMetrics?) {
        guard let metrics, let started else { return }
        var at = started
        let measured = [
            ("name look-up", metrics.nameLookup), ("connect", metrics.connect), ("TLS", metrics.secureConnect),
            ("send", metrics.send), ("wait", metrics.wait), ("receive", metrics.receive),
        ]
        for (name, duration) in measured {
            guard let duration, at < ended else { continue }
            let length = min(max(0, (duration.inSeconds * 1_000_000).rounded() / 1_000), ended - at)
            if length > 0 { phases.append(TimelineModel.Phase(name: name, start: at, length: length)) }
            at += length
        }
    }
}
