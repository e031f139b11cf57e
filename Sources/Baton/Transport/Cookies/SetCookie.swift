/// Set-Cookie lines that were joined with commas.
enum SetCookie {
    /// The lines: a comma is between two when a name and an equals sign follow it, which they do not within a date.
    static func lines(in text: String) -> [String] {
        var lines: [String] = []
        var start = text.startIndex
        for comma in text.indices where text[comma] == "," {
            let rest = text[text.index(after: comma)...].drop { $0 == " " }
            let name = rest.prefix { $0.asciiValue.map(\.isTokenByte) ?? false }
            guard !name.isEmpty, rest[name.endIndex...].first == "=" else { continue }
            lines.append(String(text[start..<comma]))
            start = rest.startIndex
        }
        return lines + [String(text[start...])]
    }
}
