/// What a JSON text must look like: a template of types, for servers that cannot be trusted.
///
/// ```swift
/// let shape: JSONShape = .object([
///     "id": .integer, "name": .string, "tags": .array(.string), "note": .optional(.string),
/// ])
/// let violations = shape.check(value)     // empty when all is well
/// ```
/// Keys that the shape does not name are ignored.
public indirect enum JSONShape: Sendable, Hashable {
    /// Anything, `null` too; the key must be there.
    case any
    /// Exactly `null`.
    case null
    /// `true` or `false`.
    case bool
    /// A whole number; `1.0` is one.
    case integer
    /// Any number.
    case number
    /// Text.
    case string
    /// An array whose elements all have that shape; it may be empty.
    case array(JSONShape)
    /// An object with those keys, each of them required unless its shape is optional.
    case object([String: JSONShape])
    /// An object whose values all have that shape, under any keys; it may be empty.
    case dictionary(JSONShape)
    /// That shape, or `null`, or no such key at all.
    case optional(JSONShape)
    /// One of those shapes.
    case either([JSONShape])

    /// A place where a value has another shape.
    public struct Violation: Sendable, Hashable, CustomStringConvertible {
        /// Where: `$` is the whole, then keys and indices, as in `$.items[2].id`.
        public let path: String
        /// What was expected and what was found, as kinds; values are not repeated.
        public let reason: String

        /// A violation of your own making.
        public init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }

        public var description: String { "\(path) \(reason)" }
    }

    /// The places where `value` has another shape, keys in sorted order; empty when it fits.
    ///
    /// - Parameter limit: how many are looked for; 20 by default, so that a long array of wrong elements stays short.
    public func check(_ value: JSONValue, limit: Int = 20) -> [Violation] {
        var check = JSONShapeCheck(limit: max(limit, 1))
        check.check(value, against: self, at: "$")
        return check.violations
    }
}

private struct JSONShapeCheck {
    let limit: Int
    var violations: [JSONShape.Violation] = []

    private var isFull: Bool { violations.count >= limit }

    mutating func check(_ value: JSONValue, against shape: JSONShape, at path: String) {
        switch (shape, value) {
        case (.any, _), (.null, .null), (.bool, .bool), (.integer, .int), (.number, .int), (.number, .double),
            (.string, .string), (.optional, .null):
            break
        case (.integer, .double(let number)) where number == number.rounded(): break
        case (.optional(let shape), _): check(value, against: shape, at: path)
        case (.array(let element), .array(let values)):
            for (index, value) in values.enumerated() where !isFull {
                check(value, against: element, at: "\(path)[\(index)]")
            }
        case (.dictionary(let element), .object(let values)):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) where !isFull {
                check(value, against: element, at: "\(path).\(key)")
            }
        case (.object(let shapes), .object(let values)):
            for (key, shape) in shapes.sorted(by: { $0.key < $1.key }) where !isFull {
                if let value = values[key] {
                    check(value, against: shape, at: "\(path).\(key)")
                } else if !shape.mayBeAbsent {
                    violations.append(.init(path: "\(path).\(key)", reason: "is missing"))
                }
            }
        case (.either(let shapes), _) where shapes.contains { $0.check(value, limit: 1).isEmpty }: break
        default:
            violations.append(.init(path: path, reason: "is \(value.kind) where \(shape.kind) is expected"))
        }
    }
}

extension JSONShape {
    fileprivate var mayBeAbsent: Bool {
        switch self {
        case .optional: true
        case .either(let shapes): shapes.contains(where: \.mayBeAbsent)
        default: false
        }
    }

    fileprivate var kind: String {
        switch self {
        case .any: "anything"
        case .null: "null"
        case .bool: "a Boolean"
        case .integer: "an integer"
        case .number: "a number"
        case .string: "text"
        case .array: "an array"
        case .object, .dictionary: "an object"
        case .optional(let shape): shape.kind
        case .either(let shapes): shapes.map(\.kind).joined(separator: " or ")
        }
    }
}

extension JSONValue {
    fileprivate var kind: String {
        switch self {
        case .null: "null"
        case .bool: "a Boolean"
        case .int: "an integer"
        case .double: "a number"
        case .string: "text"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
