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
    /// A client's own fields, which stand before the lines. All requests of the client have them, so they are shared
    /// rather than copied into each.
    private var defaults: [Line] = []
    /// A bit for each of the defaults that something else has taken the place of.
    private var hidden: UInt64 = 0

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
    public var endIndex: Int { shownDefaults + lines.count }
    /// The line at a place, counted from 0.
    public subscript(position: Int) -> Line {
        let shown = shownDefaults
        guard position < shown else { return lines[position - shown] }
        return defaults[hidden == 0 ? position : placeOfShown(position)]
    }

    /// The first value of a field, nil when the field is absent. Setting a value replaces every line of that
    /// name by one, at the place of the first; setting nil removes them.
    public subscript(name: HTTPFieldName) -> String? {
        get {
            if let place = firstDefault(name) { return defaults[place].value }
            for line in lines where line.name == name { return line.value }
            return nil
        }
        set {
            guard let newValue else { return remove { $0 == name } }
            if firstDefault(name) != nil { flatten() }
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
        filter { $0.name == name }.map(\.value)
    }

    /// Whether the field is present.
    public func contains(_ name: HTTPFieldName) -> Bool {
        firstDefault(name) != nil || lines.contains { $0.name == name }
    }

    /// Adds a line at the end, beside those of the same name.
    public mutating func append(_ value: String, for name: HTTPFieldName) {
        lines.append(Line(name: name, value: value))
    }

    /// Takes over the other fields: each name that occurs there replaces what was here under that name.
    public mutating func merge(_ other: HTTPFields) {
        guard !other.isEmpty else { return }
        guard !isEmpty else { return self = other }
        remove { other.contains($0) }
        lines += other
    }

    /// These fields over others: a name that occurs here keeps what is here.
    package func over(_ defaults: HTTPFields) -> HTTPFields {
        if isEmpty { return defaults }
        if defaults.isEmpty { return self }
        var (result, below) = (self, defaults)
        if !result.defaults.isEmpty { result.flatten() }
        if !below.defaults.isEmpty { below.flatten() }
        guard below.lines.count <= UInt64.bitWidth else {
            return HTTPFields(below.lines.filter { !contains($0.name) } + result.lines)
        }
        for (place, line) in below.lines.enumerated() where result.contains(line.name) {
            result.hidden |= 1 << UInt64(place)
        }
        result.defaults = below.lines
        return result
    }

    public static func == (a: HTTPFields, b: HTTPFields) -> Bool { a.elementsEqual(b) }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for line in self { hasher.combine(line) }
    }

    // MARK: Defaults

    private var shownDefaults: Int { defaults.count - hidden.nonzeroBitCount }

    private func isShown(_ place: Int) -> Bool { hidden >> UInt64(place) & 1 == 0 }

    private func placeOfShown(_ position: Int) -> Int {
        var left = position
        for place in defaults.indices where isShown(place) {
            if left == 0 { return place }
            left -= 1
        }
        return defaults.endIndex
    }

    private func firstDefault(_ name: HTTPFieldName) -> Int? {
        for place in defaults.indices where defaults[place].name == name && isShown(place) { return place }
        return nil
    }

    private mutating func remove(_ isRemoved: (HTTPFieldName) -> Bool) {
        for place in defaults.indices where isRemoved(defaults[place].name) { hidden |= 1 << UInt64(place) }
        lines.removeAll { isRemoved($0.name) }
    }

    /// Makes the defaults lines like the others.
    private mutating func flatten() { self = HTTPFields(Array(self)) }

    // MARK: Checking

    /// Whether nothing was changed since they were copied from the others, as far as a glance tells.
    package func isCopy(of other: HTTPFields) -> Bool {
        lines.isSameArray(as: other.lines) && defaults.isSameArray(as: other.defaults) && hidden == other.hidden
    }

    /// The first line that may not be sent, with what is wrong with it; nil when all are fine.
    ///
    /// A name must be a token and a value must hold no CR, LF or NUL (RFC 9110, 5.1 and 5.5).
    package var firstInvalid: (name: String, reason: String)? { firstInvalid(beyond: HTTPFields()) }

    /// The same beyond fields that are fine: what stands at the same place there is not looked at again.
    package func firstInvalid(beyond known: HTTPFields) -> (name: String, reason: String)? {
        let isSameBelow = defaults.isSameArray(as: known.defaults)
        if !isSameBelow, let invalid = Self.firstInvalid(in: defaults, beyond: known.defaults) { return invalid }
        return Self.firstInvalid(in: lines, beyond: known.lines)
    }

    private static func firstInvalid(in lines: [Line], beyond known: [Line]) -> (name: String, reason: String)? {
        for (index, line) in lines.enumerated() {
            if index < known.count, known[index] == line { continue }
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

extension [HTTPFields.Line] {
    /// Whether it is the very same array, so that nothing has to be compared.
    fileprivate func isSameArray(as other: [HTTPFields.Line]) -> Bool {
        withUnsafeBufferPointer { own in
            other.withUnsafeBufferPointer { $0.baseAddress == own.baseAddress && $0.count == own.count }
        }
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
