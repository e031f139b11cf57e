internal import Foundation

extension Timeline {
    /// The waterfall as one page for a browser, which can be zoomed and searched. It loads nothing from anywhere, has a
    /// light and a dark form, and marks failures by more than colour.
    public func html(title: String = "Timeline") -> String {
        let data = String(decoding: model.page.data, as: UTF8.self)
            // Nothing in the data may end the script that it stands in.
            .replacingOccurrences(of: "<", with: "\\u003c")
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
            <title>\(title.escapedForMarkup)</title>
            <style>
            \(TimelinePage.style)
            </style>
            </head>
            <body>
            <header>
            <h1>\(title.escapedForMarkup)</h1>
            \(TimelinePage.controls)
            </header>
            \(TimelinePage.main)
            <script type="application/json" id="data">\(data)</script>
            <script>
            \(TimelinePage.rows)
            \(TimelinePage.drawing)
            </script>
            </body>
            </html>

            """
    }
}

extension TimelineModel {
    /// What the page's script reads: rows in order, each a run, a group, the end of one, or a call.
    fileprivate var page: JSONValue {
        var rows: [JSONValue] = []
        for run in runs {
            var row: [String: JSONValue] = ["k": "run", "n": .string(run.name), "s": .double(run.start)]
            if let end = run.end { row["e"] = .double(end) }
            if let error = run.error { row["x"] = .string(error) }
            if run.isCancelled { row["c"] = true }
            rows.append(.object(row))
            for group in run.groups {
                if !group.name.isEmpty { rows.append(["k": "group", "n": .string(group.name)]) }
                rows += group.calls.map(\.page)
                if !group.name.isEmpty { rows.append(["k": "end"]) }
            }
        }
        return .object([
            "span": .double(span), "omitted": .int(Int64(omitted)), "rows": .array(rows),
            "marks": .array(marks.map { .array([.double($0.time), .string($0.text)]) }),
        ])
    }
}

extension TimelineModel.Call {
    fileprivate var page: JSONValue {
        var row: [String: JSONValue] = [
            "k": "call", "p": .string(place), "m": .string(method), "u": .string(url),
            "a": .array(attempts.map(\.page)),
        ]
        if isUndo { row["undo"] = true }
        return .object(row)
    }
}

extension TimelineModel.Attempt {
    fileprivate var page: JSONValue {
        var value: [String: JSONValue] = [
            "n": .int(Int64(number)), "e": .double(ended), "o": .string(end.rawValue), "w": .string(word),
        ]
        if let queued { value["q"] = .double(queued) }
        if let started { value["s"] = .double(started) }
        if let error { value["x"] = .string(error) }
        if let backoff { value["b"] = .double(backoff) }
        if !phases.isEmpty {
            value["ph"] = .array(
                phases.map { .array([.string($0.name), .double($0.start), .double($0.length)]) })
        }
        if !facts.isEmpty { value["f"] = .array(facts.map { .array([.string($0.name), .string($0.value)]) }) }
        return .object(value)
    }
}

extension String {
    /// The text between tags or in an attribute of HTML or SVG; control characters, which XML forbids, are left out.
    var escapedForMarkup: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            case "\t", "\n", "\r": text += " "
            case _ where scalar.value < 0x20 || scalar.value == 0x7F || scalar.value & 0xFFFE == 0xFFFE: break
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
