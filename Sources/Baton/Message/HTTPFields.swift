/// The header fields of a message, in order and with repeats, looked up without regard to case.
///
/// ```swift
/// var fields: HTTPFields = ["Accept": "application/json"]
/// fields["accept"] = "text/plain"        // replaces
/// fields.append("a=1", for: .setCookie)  // adds a line
/// fields.values(for: .setCookie)         // every line, in order
/// ```
public struct HTTPFields: Hashable, Sendable, ExpressibleByDictionaryLiteral, RandomAccessCollection {
    /// One field line.
    public struct Line: Hashable, Sendable {
        /// The name, compared without regard to case.
        public var name: HTTPFieldName
        /// The value, without the blanks around it.
        public var value: String

        /// A line; nothing is checked before it is sent.
        public init(name: HTTPFieldName, value: String) {
            self.name = name
            self.value = value
        }
    }

    private var lines: [Line] = []

    /// No fields.
    public init() {}

    /// The fields in the order of the literal; a name that is repeated stays repeated.
    public init(dictionaryLiteral elements: (HTTPFieldName, String)...) {
        lines = elements.map { Line(name: $0.0, value: $0.1) }
    }

    /// The fields of a sequence of lines, in its order.
    public init(_ lines: some Sequence<Line>) {
        self.lines = Array(lines)
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { lines.count }
    /// The line at a place, counted from 0.
    public subscript(position: Int) -> Line { lines[position] }

    /// The first value of a field, nil when the field is absent. Setting a value replaces every line of that
    /// name by one, at the place of the first; setting nil removes them.
    public subscript(name: HTTPFieldName) -> String? {
        get {
            for line in lines where line.name == name { return line.value }
            return nil
        }
        set {
            guard let newValue else { return lines.removeAll { $0.name == name } }
            guard let first = lines.firstIndex(where: { $0.name == name }) else {
                return lines.append(Line(name: name, value: newValue))
            }
            lines[first] = Line(name: name, value: newValue)
            if lines.lastIndex(where: { $0.name == name }) != first {
                let head = lines[...first]
                lines = head + lines[(first + 1)...].filter { $0.name != name }
            }
        }
    }

    /// Every value of a field, in order; empty when it is absent.
    public func values(for name: HTTPFieldName) -> [String] {
        lines.filter { $0.name == name }.map(\.value)
    }

    /// Whether the field is present.
    public func contains(_ name: HTTPFieldName) -> Bool {
        lines.contains { $0.name == name }
    }

    /// Adds a line at the end, beside those of the same name.
    public mutating func append(_ value: String, for name: HTTPFieldName) {
        lines.append(Line(name: name, value: value))
    }

    /// Takes over the other fields: each name that occurs there replaces what was here under that name.
    public mutating func merge(_ other: HTTPFields) {
        guard !other.isEmpty else { return }
        guard !lines.isEmpty else { return self = other }
        lines.removeAll { other.contains($0.name) }
        lines += other.lines
    }

    /// These fields over others: a name that occurs here keeps what is here.
    package func over(_ defaults: HTTPFields) -> HTTPFields {
        if lines.isEmpty { return defaults }
        if defaults.lines.isEmpty { return self }
        var result = HTTPFields()
        result.lines.reserveCapacity(lines.count + defaults.lines.count)
        for line in defaults.lines where !contains(line.name) { result.lines.append(line) }
        for line in lines { result.lines.append(line) }
        return result
    }

    /// The first line that may not be sent, with what is wrong with it; nil when all are fine.
    ///
    /// A name must be a token and a value must hold no CR, LF or NUL (RFC 9110, 5.1 and 5.5).
    package var firstInvalid: (name: String, reason: String)? { firstInvalid(beyond: HTTPFields()) }

    /// The same beyond fields that are fine: what stands at the same place there is not looked at again.
    package func firstInvalid(beyond known: HTTPFields) -> (name: String, reason: String)? {
        let knownCount = known.lines.count
        for (index, line) in lines.enumerated() {
            if index < knownCount, known.lines[index] == line { continue }
            if !line.name.isToken {
                let name = line.name.rawName
                return (name, name.isEmpty ? "has an empty name" : "has a name that is not a token (RFC 9110, 5.6.2)")
            }
            if line.value.breaksLine {
                return (line.name.rawName, "holds a CR, LF or NUL in its value: take it out, or encode the value")
            }
        }
        return nil
    }
}

extension String {
    /// Whether it holds a CR, LF or NUL. Eight bytes are looked at together as long as none is that small.
    fileprivate var breaksLine: Bool {
        func breaks(_ byte: UInt8) -> Bool { byte == 0x0D || byte == 0x0A || byte == 0 }
        let isFound = utf8.withContiguousStorageIfAvailable { bytes in
            var place = 0
            while place + 8 <= bytes.count {
                let eight = UnsafeRawBufferPointer(bytes).loadUnaligned(fromByteOffset: place, as: UInt64.self)
                // A byte below 14 borrows into its own highest bit, where it has none itself.
                guard (eight &- 0x0E0E_0E0E_0E0E_0E0E) & ~eight & 0x8080_8080_8080_8080 == 0 else { break }
                place += 8
            }
            while place < bytes.count {
                if breaks(bytes[place]) { return true }
                place += 1
            }
            return false
        }
        return isFound ?? utf8.contains(where: breaks)
    }
}
