public import Foundation

extension Timeline {
    /// The attempts that are over as an HTTP Archive (HAR 1.2), with a page for each run; bodies are not kept, so it has
    /// none. ``Capture`` has them.
    public func har() -> Data {
        let state = snapshot
        guard let origin = state.origin else { return HARLog(pages: [], entries: []).data }
        func date(_ instant: Instant) -> Date {
            origin.date.addingTimeInterval(origin.instant.duration(to: instant).inSeconds)
        }
        let ended = state.attempts.filter { $0.started != nil && $0.ended != nil }
        let pages = Set(ended.map(\.run)).sorted().enumerated().map { index, run in
            let start = state.runs[run]?.started ?? ended.first { $0.run == run }?.begin ?? origin.instant
            return (run, HARLog.Page(name: "run \(index + 1)", started: date(start)))
        }
        let names = Dictionary(uniqueKeysWithValues: pages.map { ($0.0, $0.1.name) })
        let entries = ended.map { attempt in
            var exchange = Capture.Exchange(
                number: 0, method: attempt.method, url: redaction.url(attempt.url),
                requestFields: redaction.fields(attempt.fields), requestBody: nil, started: date(attempt.begin),
                instant: attempt.begin)
            exchange.duration = attempt.begin.duration(to: attempt.ended ?? attempt.begin)
            exchange.queued = attempt.started.map { attempt.begin.duration(to: $0) }
            exchange.metrics = attempt.metrics
            exchange.status = attempt.status
            exchange.responseFields = redaction.fields(attempt.responseFields)
            exchange.error = attempt.error
            exchange.page = names[attempt.run]
            exchange.responseSize = attempt.responseSize
            return exchange
        }
        return HARLog(pages: pages.map(\.1), entries: entries).data
    }
}
