/// Parameters of a query or a form: names and values in the order in which they are sent.
///
/// ```swift
/// request.query = ["page": 2, "tags": ["a", "b"]]     // page=2&tags[]=a&tags[]=b, brackets escaped
/// request.query = QueryParameters(dictionary)         // sorted by name: the same bytes in every process
/// ```
/// A nil value is left out. An empty list of values sends nothing.
public struct QueryParameters: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    package var pairs: [(name: String, value: QueryValue)] = []

    /// No parameters.
    public init() {}

    /// The parameters in the order of the literal; a name may be repeated.
    public init(dictionaryLiteral elements: (String, QueryValue)...) {
        pairs = elements.map { (name: $0.0, value: $0.1) }
    }

    /// The parameters of a dictionary, sorted by name.
    public init(_ dictionary: [String: QueryValue]) {
        pairs = dictionary.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    /// Whether there is nothing to send.
    public var isEmpty: Bool { pairs.isEmpty }

    /// Adds a parameter at the end, beside those of the same name.
    public mutating func append(_ name: String, _ value: QueryValue) {
        pairs.append((name: name, value: value))
    }

    /// The value of the first parameter of that name. Setting one replaces the first and removes the others;
    /// setting nil removes all.
    public subscript(name: String) -> QueryValue? {
        get { pairs.first { $0.name == name }?.value }
        set {
            let place = pairs.firstIndex { $0.name == name }
            pairs.removeAll { $0.name == name }
            if let newValue { pairs.insert((name: name, value: newValue), at: place ?? pairs.endIndex) }
        }
    }

    public static func == (a: QueryParameters, b: QueryParameters) -> Bool {
        a.pairs.elementsEqual(b.pairs) { $0 == $1 }
    }

    public func hash(into hasher: inout Hasher) {
        for pair in pairs {
            hasher.combine(pair.name)
            hasher.combine(pair.value)
        }
    }

    /// `name=value&…`, percent-encoded for its place.
    package func encoded(_ place: PercentEncoding.Place) -> String {
        var text = ""
        for (name, value) in pairs { value.append(to: &text, name: name, place: place) }
        return text
    }
}

/// A value of a query or form parameter.
public enum QueryValue: Sendable, Hashable {
    case string(String)
    case int(Int)
    case double(Double)
    case bool(Bool)
    case list([QueryValue])
    case object([String: QueryValue])
    case none

    fileprivate func append(to text: inout String, name: String, place: PercentEncoding.Place) {
        let scalar: String
        switch self {
        case .string(let value): scalar = PercentEncoding.encode(value, for: place)
        case .int(let value): scalar = String(value)
        case .double(let value): scalar = PercentEncoding.encode(String(value), for: place)
        case .bool(let value): scalar = value ? "true" : "false"
        case .none: return
        case .list(let values):
            for value in values { value.append(to: &text, name: name + "[]", place: place) }
            return
        case .object(let values):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                value.append(to: &text, name: "\(name)[\(key)]", place: place)
            }
            return
        }
        if !text.isEmpty { text += "&" }
        text += PercentEncoding.encode(name, for: place)
        text += "="
        text += scalar
    }
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
    public init(nilLiteral: ()) { self = .none }
}
