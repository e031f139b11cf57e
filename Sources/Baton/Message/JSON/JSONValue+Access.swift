extension JSONValue {
    /// The value under a key; `null` when there is none or this is no object.
    public subscript(key: String) -> JSONValue {
        if case .object(let values) = self { values[key] ?? .null } else { .null }
    }

    /// The element at an index, counted from 0; `null` when there is none or this is no array.
    public subscript(index: Int) -> JSONValue {
        if case .array(let values) = self, values.indices.contains(index) { values[index] } else { .null }
    }

    /// The value at a path of keys and indices joined by dots, such as `data.items.0.id`; an empty path is the value
    /// itself. Nil when nothing stands there, which a `null` that does stand there is not.
    ///
    /// A key that holds a dot is found too where it is the whole rest of the path.
    public func value(at path: String) -> JSONValue? {
        path.isEmpty ? self : value(at: path[...])
    }

    private func value(at path: Substring) -> JSONValue? {
        if case .object(let values) = self, let value = values[String(path)] { return value }
        let dot = path.firstIndex(of: ".")
        let key = path[..<(dot ?? path.endIndex)]
        let found: JSONValue?
        switch self {
        case .object(let values): found = values[String(key)]
        case .array(let values): found = Int(key).flatMap { values.indices.contains($0) ? .some(values[$0]) : .none }
        default: found = nil
        }
        guard let dot else { return found }
        return found?.value(at: path[path.index(after: dot)...])
    }

    /// Whether this is `null`.
    public var isNull: Bool { self == .null }

    /// The Boolean; nil when this is none.
    public var bool: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The whole number; nil when this is no number or one with a fraction or out of range.
    public var int: Int? {
        switch self {
        case .int(let value): Int(exactly: value)
        case .double(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The number; nil when this is none.
    public var double: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The text; nil when this is none.
    public var string: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements; nil when this is no array.
    public var array: [JSONValue]? {
        if case .array(let values) = self { values } else { nil }
    }

    /// The values by key; nil when this is no object.
    public var object: [String: JSONValue]? {
        if case .object(let values) = self { values } else { nil }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
    public init(nilLiteral: ()) { self = .null }
}
