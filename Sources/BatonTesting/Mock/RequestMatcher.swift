internal import Baton
internal import Foundation

/// What a stub asks of a request. Every part that is set must fit.
struct RequestMatcher: Sendable {
    /// What the query must be.
    enum Query: Sendable {
        case any
        /// These pairs and no others, in any order.
        case exactly([String])
    }

    /// One more condition, with its name for messages.
    struct Condition: Sendable {
        var name: String
        var holds: @Sendable (HTTPRequest) -> Bool
    }

    var type: (any Sendable.Type)?
    var method: HTTPMethod?
    var path: PathPattern?
    var query = Query.any
    var conditions: [Condition] = []

    init(type: any Sendable.Type) {
        self.type = type
    }

    init(method: HTTPMethod?, path: String) {
        self.method = method
        let pattern = PathPattern(path)
        self.path = pattern
        query = .exactly(Self.sorted(pattern.query ?? ""))
    }

    init(predicate: @escaping @Sendable (HTTPRequest) -> Bool) {
        conditions = [Condition(name: "its condition", holds: predicate)]
    }

    /// The pairs of a query in a form that does not depend on their order.
    static func sorted(_ query: some StringProtocol) -> [String] {
        QueryText.pairs(query).map { "\($0.name)=\($0.value)" }.sorted()
    }

    /// Why a request does not fit; the first reason counts.
    struct Mismatch {
        /// The greater, the farther away.
        var rank: Int
        var explanation: String
    }

    /// Nil when the request fits.
    func mismatch(_ request: HTTPRequest) -> Mismatch? {
        if let type, request.requestType.map({ ObjectIdentifier($0) }) != ObjectIdentifier(type) {
            return Mismatch(rank: 5, explanation: "another type of request")
        }
        if let path, !path.matches(request) {
            return Mismatch(rank: 4, explanation: "another path")
        }
        if let method, method != request.method {
            return Mismatch(rank: 3, explanation: "another method")
        }
        if case .exactly(let pairs) = query, pairs != Self.sorted(request.query ?? "") {
            return Mismatch(
                rank: 2, explanation: pairs.isEmpty ? "it wants no query" : "another query")
        }
        for condition in conditions where !condition.holds(request) {
            return Mismatch(rank: 2, explanation: "\(condition.name) does not hold")
        }
        return nil
    }

    /// How unlike the stub's method and path are to those of the request, as a number of edits.
    func distance(to request: HTTPRequest) -> Int {
        guard let path else { return .max }
        let (a, b) = (Array(path.path.utf8.prefix(200)), Array(request.path.utf8.prefix(200)))
        var row = Array(0...b.count)
        for (i, byte) in a.enumerated() {
            var corner = row[0]
            row[0] = i + 1
            for (j, other) in b.enumerated() {
                let cost = byte == other ? corner : 1 + min(corner, row[j], row[j + 1])
                corner = row[j + 1]
                row[j + 1] = cost
            }
        }
        return row[b.count] + (method == nil || method == request.method ? 0 : 1)
    }

    var description: String {
        var text = type.map { "\($0)" } ?? method?.rawValue ?? (path == nil ? "a condition" : "any method")
        if let path { text += " \(path.description)" }
        if case .exactly(let pairs) = query, !pairs.isEmpty {
            // Names only: a value may be a secret.
            text += "?" + pairs.map { $0.prefix { $0 != "=" } + "=…" }.joined(separator: "&")
        }
        return text
    }
}
