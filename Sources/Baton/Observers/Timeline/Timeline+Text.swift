extension Timeline {
    /// The waterfall as lines of text, for a terminal. It needs no colours: `·` waits for a slot, `█` is under way, `-`
    /// waits before the next attempt, `✗` has failed, `⊘` was cancelled, `…` is not over.
    ///
    /// - Parameters:
    ///   - width: characters in a line, at least 60. Default: 100.
    ///   - maxRows: how many calls are drawn. Default: 200; the last line says how many are missing.
    public func text(width: Int = 100, maxRows: Int = 200) -> String {
        model.text(width: max(60, width), maxRows: max(1, maxRows))
    }
}

extension TimelineModel {
    fileprivate func text(width: Int, maxRows: Int) -> String {
        let label = min(44, width * 2 / 5)
        let chart = width - label - 11
        var lines: [String] = []
        var left = maxRows
        for run in runs {
            guard left > 0 else { break }
            let end = run.error.map { $0.prefix { $0 != ":" } }.map { "✗ \($0)" } ?? (run.end == nil ? "…" : "done")
            let length = ((run.end ?? span) - run.start).milliseconds
            lines.append(Self.row("\(run.name), \(end), \(length)", label, axis(chart)))
            for group in run.groups where left > 0 {
                if !group.name.isEmpty {
                    lines.append("  \(group.name): \(group.calls.count.grouped) requests")
                }
                for call in group.calls.prefix(left) {
                    left -= 1
                    let name = "\(group.name.isEmpty ? "  " : "    ")\(call.place) \(call.method) \(call.path)"
                    lines.append(Self.row(name, label, bar(call, chart)))
                }
            }
        }
        if callCount > maxRows { lines.append("… and \((callCount - maxRows).grouped) more") }
        if omitted > 0 { lines.append("\(omitted.grouped) older attempts were dropped") }
        if runs.isEmpty { lines.append("nothing was sent yet") }
        return lines.joined(separator: "\n")
    }

    private static func row(_ name: String, _ width: Int, _ rest: String) -> String {
        let name = name.count > width ? name.prefix(width - 1) + "…" : name[...]
        var line = name + String(repeating: " ", count: width - name.count) + " " + rest
        while line.last == " " { line.removeLast() }
        return line
    }

    /// Zero at the left and the end at the right.
    private func axis(_ width: Int) -> String {
        let end = span.milliseconds
        return "0" + String(repeating: " ", count: max(1, width - 1 - end.count)) + end
    }

    private func bar(_ call: Call, _ width: Int) -> String {
        var cells = [Character](repeating: " ", count: width)
        func fill(_ character: Character, _ from: Double, _ to: Double) {
            let first = min(width - 1, Int(from / span * Double(width)))
            let last = max(first, min(width - 1, Int((to / span * Double(width)).rounded(.up)) - 1))
            for cell in first...last where cells[cell] == " " || character != "-" { cells[cell] = character }
        }
        for attempt in call.attempts {
            if let queued = attempt.queued { fill("·", queued, attempt.started ?? attempt.ended) }
            if let backoff = attempt.backoff { fill("-", attempt.ended, min(span, attempt.ended + backoff)) }
            if let started = attempt.started { fill("█", started, attempt.ended) }
        }
        let words = call.attempts.last.map { last in
            last.word + (call.attempts.count > 1 ? " ×\(call.attempts.count)" : "")
        }
        return String(cells) + " " + (words ?? "")
    }
}

extension Double {
    /// A number of milliseconds in the unit that fits.
    var milliseconds: String { Duration.nanoseconds(Int64((self * 1_000_000).rounded())).briefly }
}
