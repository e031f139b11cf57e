import Baton

/// A report as a table: index, request, outcome, attempts, time.
struct Table: CustomStringConvertible {
    /// What was asked for at each index of the report.
    let requests: [String]
    let report: Report<GetOrder.Output>

    var description: String {
        let rows = report.indices.map { row(at: $0) }
        let head = ["#", "request", "outcome", "attempts", "time"]
        return ([head] + rows).map(line).joined(separator: "\n") + "\n\n\(report)"
    }

    private func row(at index: Int) -> [String] {
        let outcome = report[index]
        return [
            String(index), requests[index], word(for: outcome), String(outcome.attempts),
            outcome.duration.map(milliseconds) ?? "–",
        ]
    }

    private func word(for outcome: Outcome<GetOrder.Output>) -> String {
        switch outcome.result {
        case .succeeded: "succeeded"
        case .failed(let error): "failed: \(error.response.map { String($0.status) } ?? error.code.rawValue)"
        case .cancelled: "cancelled"
        case .notStarted: "not started"
        }
    }

    private func milliseconds(_ duration: Duration) -> String {
        let tenths = duration / .microseconds(100)
        return "\(Int(tenths) / 10).\(Int(tenths) % 10) ms"
    }

    private func line(_ cells: [String]) -> String {
        let padded = [
            left(cells[0], 2), right(cells[1], 15), right(cells[2], 14), left(cells[3], 8), left(cells[4], 10),
        ]
        return padded.joined(separator: "  ")
    }

    private func left(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private func right(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }
}
