public import Foundation

/// Any JSON, for callers that want the tree instead of a type.
///
/// ```swift
/// let page = try JSONValue(data: body)
/// let first = page["items"][0]["id"].int
/// let token: JSONValue = ["user": "ada", "roles": ["admin"], "age": 36]
/// ```
/// A number without fraction and exponent that fits 64 bits is an ``int(_:)``; every other number is a
/// ``double(_:)``, also where a double cannot say all of its digits. So `1` and `1.0` are different values; ``int``
/// and ``double`` read either. (A foreign `Decoder` may not tell them apart; `init(data:)` does.)
public enum JSONValue: Sendable, Hashable {
    /// `null`
    case null
    /// `true` or `false`
    case bool(Bool)
    /// A number without fraction and exponent that fits 64 bits.
    case int(Int64)
    /// Any other number.
    case double(Double)
    /// Text.
    case string(String)
    /// Values in order.
    case array([JSONValue])
    /// Values by key, without order.
    case object([String: JSONValue])

    /// The JSON text in `data`: UTF-8, with or without a byte order mark, and nothing after the value (RFC 8259).
    ///
    /// Of a key that occurs twice the last counts. Values may be nested 512 deep.
    ///
    /// - Throws: a `DecodingError` that says what is wrong and at which byte.
    public init(data: Data) throws {
        self = try data.withUnsafeBytes { bytes in
            var parser = JSONParser(bytes)
            return try parser.parse()
        }
    }

    /// A value whose type the compiler does not know, as ``QueryParameters/init(untyped:style:)`` takes it. Dates
    /// become ISO 8601 text and data base64.
    ///
    /// - Throws: an `EncodingError` with the key path, for what cannot be written as JSON.
    public init(untyped value: Any) throws {
        try self.init(untyped: value, path: [])
    }

    /// The value as compact JSON with sorted keys, the same bytes in every process. A double that is not finite is
    /// written as `null`.
    public var data: Data {
        var writer = JSONWriter()
        writer.write(self)
        return Data(writer.bytes)
    }
}

extension JSONValue: CustomStringConvertible {
    /// The value as compact JSON with sorted keys.
    public var description: String {
        var writer = JSONWriter()
        writer.write(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension JSONValue {
    fileprivate init(untyped value: Any, path: [any CodingKey]) throws {
        switch try UntypedValue(value, path: path) {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int(let value): self = .int(value)
        case .double(let value): self = .double(try value.finite(at: path))
        case .digits(let digits): self = .double(try (Double(digits) ?? .nan).finite(at: path))
        case .text(let value): self = .string(value)
        case .date(let value): self = .string(ISO8601.format(value))
        case .data(let value): self = .string(value.base64EncodedString())
        case .array(let values):
            self = .array(try values.enumerated().map { try JSONValue(untyped: $1, path: path + [PathKey($0)]) })
        case .dictionary(let values):
            self = .object(try values.mapValues(withPath: path) { try JSONValue(untyped: $0, path: $1) })
        case .encodable(let value): self = try JSONValue(data: try BodyCoding().jsonEncoder().encode(value))
        }
    }
}
