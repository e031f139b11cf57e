/// Query parameters that go with every request which has none of their names.
package struct CommonQuery: Sendable {
    /// Percent-encoded names, with the pairs as they are sent.
    private let pairs: [(name: Substring, pair: Substring)]

    package var isEmpty: Bool { pairs.isEmpty }

    package init(_ parameters: QueryParameters, style: ParameterStyle = ParameterStyle()) {
        let text = parameters.isEmpty ? "" : parameters.encoded(.query, defaultStyle: style)
        pairs = text.split(separator: "&").map { (Self.name(of: $0), $0) }
    }

    /// The target with those of its parameters that it does not have itself.
    package func added(to target: String) -> String {
        guard !pairs.isEmpty else { return target }
        var result = target
        var own: Set<Substring> = []
        var separator = "?"
        if let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) {
            let query = target[target.utf8.index(after: mark)...]
            own = Set(query.split(separator: "&").map { Self.name(of: $0) })
            separator = query.isEmpty ? "" : "&"
        }
        for (name, pair) in pairs where !own.contains(name) {
            result += separator
            result += pair
            separator = "&"
        }
        return result
    }

    private static func name(of pair: Substring) -> Substring { pair.prefix { $0 != "=" } }
}
