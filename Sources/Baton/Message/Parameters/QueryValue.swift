public import Foundation

/// A value of a query or form parameter.
///
/// Literals do where the value is known: `["page": 2, "tags": ["a", "b"]]`. Variables name the kind:
/// `["page": .int(page)]`.
public enum QueryValue: Sendable, Hashable {
    /// Text, sent as it is.
    case string(String)
    /// A whole number, in decimal.
    case int(Int)
    /// A number, as short as it reads back the same.
    case double(Double)
    /// A Boolean, written by ``ParameterStyle/booleans``.
    case bool(Bool)
    /// A date, written by ``ParameterStyle/dates``.
    case date(Date)
    /// Bytes, written by ``ParameterStyle/data``.
    case data(Data)
    /// Values in order, written by ``ParameterStyle/arrays``; an empty list sends nothing.
    case list([QueryValue])
    /// Values under keys, sorted by key and written by ``ParameterStyle/nesting``; an empty object sends nothing.
    case object([String: QueryValue])
    /// No value: left out, or empty by ``ParameterStyle/nils``.
    case null
}

extension QueryValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: QueryValue...) { self = .list(elements) }
    public init(dictionaryLiteral elements: (String, QueryValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
    public init(nilLiteral: ()) { self = .null }
}
