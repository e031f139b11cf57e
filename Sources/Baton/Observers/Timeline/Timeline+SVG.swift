extension Timeline {
    /// The waterfall as a picture for a page or a README: it follows the reader's light or dark setting, needs no
    /// script, and marks failures by more than colour. Nothing in it depends on when it is made.
    ///
    /// - Parameter maxRows: how many calls are drawn, at least 1. Default: 60; a line says how many are missing.
    public func svg(maxRows: Int = 60) -> String { TimelinePicture(model, maxRows: max(1, maxRows)).svg }
}

/// The lines of an SVG.
private struct TimelinePicture {
    private static let width = 960.0
    private static let label = 300.0
    private static let row = 20.0

    private let model: TimelineModel
    private var body: [String] = []
    private var y = 34.0

    init(_ model: TimelineModel, maxRows: Int) {
        self.model = model
        var left = maxRows
        for run in model.runs where left > 0 {
            let end = run.isCancelled ? ", cancelled" : run.error.map { ", ✗ \($0.prefix { $0 != ":" })" } ?? ""
            head("\(run.name)\(end)", from: run.start, to: run.end ?? model.span, indent: 8, isBold: true)
            for group in run.groups where left > 0 {
                if !group.name.isEmpty {
                    let attempts = group.calls.flatMap(\.attempts)
                    head(
                        "\(group.name) · \(group.calls.count.grouped)",
                        from: attempts.map(\.begin).min() ?? 0, to: attempts.map(\.ended).max() ?? 0, indent: 20)
                }
                for call in group.calls.prefix(left) {
                    left -= 1
                    add(call, indent: group.name.isEmpty ? 20 : 32)
                }
            }
        }
        if model.callCount > maxRows {
            text("… and \((model.callCount - maxRows).grouped) more requests", x: 20, "f")
            y += Self.row
        }
    }

    var svg: String {
        let height = y + 30
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.number(Self.width)) \(Self.number(height))" \
            width="\(Self.number(Self.width))" height="\(Self.number(height))" role="img" aria-label="\(summary)">
            <style>
            svg { font: 12px system-ui, sans-serif; --p: #fff; --t: #1b1f24; --f: #59636e; --l: #d5dae0; --b: #2f6fb3; --q: #8a6d1a; --x: #b3261e }
            @media (prefers-color-scheme: dark) { svg { --p: #14171a; --t: #e8eaed; --f: #a3abb5; --l: #363c43; --b: #6aa5e3; --q: #d6b656; --x: #ff8a80 } }
            .p { fill: var(--p) } .t { fill: var(--t) } .f { fill: var(--f) } .x { fill: var(--x) } .b { fill: var(--b) }
            .l { stroke: var(--l) } .k { stroke: var(--f); fill: none } .d { stroke: var(--f); stroke-dasharray: 2 3 }
            .qs { stroke: var(--q) } .xs { stroke: var(--x) } .s { font-weight: 600 }
            </style>
            <defs>
            <pattern id="q" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V5" class="qs"/></pattern>
            <pattern id="x" width="3" height="3" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path d="M0 0V3" class="xs"/></pattern>
            </defs>
            <rect width="100%" height="100%" class="p"/>
            \((axis(to: y) + body + legend(at: y + 16)).joined(separator: "\n"))
            </svg>

            """
    }

    private var summary: String {
        "Waterfall of \(model.callCount) requests in \(model.span.milliseconds), \(model.failedCount) with failures"
    }

    // MARK: Rows

    private mutating func head(_ name: String, from: Double, to: Double, indent: Double, isBold: Bool = false) {
        text(name, x: indent, isBold ? "t s" : "t")
        let (left, right, middle) = (Self.number(x(from)), Self.number(x(to)), Self.number(y))
        body.append("<path d=\"M\(left) \(Self.number(y + 4))V\(middle)H\(right)v4\" class=\"k\"/>")
        y += Self.row
    }

    private mutating func add(_ call: TimelineModel.Call, indent: Double) {
        text("\(call.place.isEmpty ? "" : "\(call.place) ")\(call.method) \(call.path)", x: indent, "t")
        for attempt in call.attempts {
            if let queued = attempt.queued {
                box(queued, attempt.started ?? attempt.ended, height: 8, "fill=\"url(#q)\" class=\"qs\"")
            }
            if let backoff = attempt.backoff {
                let (left, right) = (Self.number(x(attempt.ended)), Self.number(x(attempt.ended + backoff)))
                body.append("<path d=\"M\(left) \(Self.number(y))H\(right)\" class=\"d\"/>")
            }
            guard let started = attempt.started else { continue }
            let style =
                switch attempt.end {
                case .ok: "class=\"b\""
                case .failed: "fill=\"url(#x)\" class=\"xs\""
                case .cancelled, .open: "class=\"k\""
                }
            box(started, attempt.ended, height: 12, style)
        }
        if let last = call.attempts.last {
            let words = last.word + (call.attempts.count > 1 ? " ×\(call.attempts.count)" : "")
            text(words, x: x(last.ended) + 5, last.end == .failed ? "x" : "f")
        }
        y += Self.row
    }

    private mutating func box(_ from: Double, _ to: Double, height: Double, _ style: String) {
        let width = max(2, x(to) - x(from))
        body.append(
            "<rect x=\"\(Self.number(x(from)))\" y=\"\(Self.number(y - height / 2))\" "
                + "width=\"\(Self.number(width))\" height=\"\(Self.number(height))\" \(style)/>")
    }

    private mutating func text(_ text: String, x: Double, _ style: String) {
        body.append(Self.text(text, x: x, y: y + 4, style))
    }

    private static func text(_ text: String, x: Double, y: Double, _ style: String) -> String {
        // About 44 characters fit the column of names.
        let room = x < label ? Int((label - x) / 6.6) : 200
        let shown = text.count > room ? text.prefix(room - 1) + "…" : text[...]
        return "<text x=\"\(number(x))\" y=\"\(number(y))\" class=\"\(style)\">\(String(shown).escapedForMarkup)</text>"
    }

    // MARK: Around

    private func axis(to bottom: Double) -> [String] {
        let raw = model.span / 6
        var power = 1.0
        while power * 10 <= raw { power *= 10 }
        while power > raw { power /= 10 }
        let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= raw } ?? raw
        return (0...Int(model.span / step)).flatMap { index -> [String] in
            let time = Double(index) * step
            let at = Self.number(x(time))
            return [
                "<path d=\"M\(at) 22V\(Self.number(bottom - 8))\" class=\"l\"/>",
                Self.text(index == 0 ? "0" : time.milliseconds, x: x(time) + 3, y: 16, "f"),
            ]
        }
    }

    private func legend(at y: Double) -> [String] {
        let parts = [
            ("waits for a slot", "<rect x=\"X\" y=\"Y\" width=\"24\" height=\"8\" fill=\"url(#q)\" class=\"qs\"/>"),
            ("under way", "<rect x=\"X\" y=\"Y\" width=\"24\" height=\"8\" class=\"b\"/>"),
            ("failed", "<rect x=\"X\" y=\"Y\" width=\"24\" height=\"8\" fill=\"url(#x)\" class=\"xs\"/>"),
            ("waits to be sent again", "<path d=\"MX Zh24\" class=\"d\"/>"),
        ]
        var x = 20.0
        return parts.flatMap { name, shape in
            defer { x += 44 + Double(name.count) * 6.6 }
            var drawn = ""
            for character in shape {
                switch character {
                case "X": drawn += Self.number(x)
                case "Y": drawn += Self.number(y - 8)
                case "Z": drawn += Self.number(y - 4)
                default: drawn.append(character)
                }
            }
            return [drawn, "<text x=\"\(Self.number(x + 30))\" y=\"\(Self.number(y))\" class=\"f\">\(name)</text>"]
        }
    }

    private func x(_ time: Double) -> Double { Self.label + time / model.span * (Self.width - Self.label - 70) }

    /// With one digit after the point, the same everywhere.
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }
}
