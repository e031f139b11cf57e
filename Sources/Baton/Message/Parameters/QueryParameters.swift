/// Parameters of a query or a form: names and values in the order in which they are sent.
///
/// ```swift
/// request.query = ["page": 2, "tags": ["a", "b"]]                 // page=2&tags[]=a&tags[]=b, brackets escaped
/// request.query = QueryParameters(dictionary)                     // sorted by name: the same bytes in every process
/// request.query = try QueryParameters(encoding: filter)           // any Encodable, sorted by key
/// request.query.style = ParameterStyle(arrays: .repeated)         // tags=a&tags=b
/// ```
/// A nil value is left out, and an empty list or object sends nothing. Everything that RFC 3986 does not call
/// unreserved is percent-encoded, `+` included; a space is `%20` in a query and `+` in a form.
public struct QueryParameters: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// Names and values in the order in which they are sent.
    package var pairs: [(name: String, value: QueryValue)] = []
    /// How lists, nested values, Booleans, dates, data and nil are written; nil, the default, takes the client's style.
    public var style: ParameterStyle?

    /// No parameters.
    public init() {}

    /// The parameters in the order of the literal; a name may be repeated.
    public init(dictionaryLiteral elements: (String, QueryValue)...) {
        self.init(elements)
    }

    /// The parameters in the order of the list; a name may be repeated.
    public init(_ pairs: [(String, QueryValue)]) {
        self.pairs = pairs.map { (name: $0.0, value: $0.1) }
    }

    /// The parameters of a dictionary, sorted by name.
    public init(_ dictionary: [String: QueryValue]) {
        pairs = dictionary.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
    }

    /// The same parameters, written in `style`.
    public func styled(_ style: ParameterStyle) -> QueryParameters {
        var copy = self
        copy.style = style
        return copy
    }

    /// Whether there is nothing to send. Parameters that are all nil are not empty, and send nothing.
    public var isEmpty: Bool { pairs.isEmpty }

    /// Adds a parameter at the end, beside those of the same name.
    public mutating func append(_ name: String, _ value: QueryValue) {
        pairs.append((name: name, value: value))
    }

    /// Adds the other parameters at the end; the style stays unless it is nil here.
    public mutating func append(contentsOf other: QueryParameters) {
        pairs += other.pairs
        style = style ?? other.style
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
        a.style == b.style && a.pairs.elementsEqual(b.pairs) { $0 == $1 }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(style)
        for pair in pairs {
            hasher.combine(pair.name)
            hasher.combine(pair.value)
        }
    }

    /// `name=value&…`, percent-encoded for its place, in the parameters' own style or else in `defaultStyle`.
    package func encoded(
        _ place: PercentEncoding.Place, defaultStyle: @autoclosure () -> ParameterStyle = ParameterStyle()
    ) -> String {
        guard !pairs.isEmpty else { return "" }
        var writer = ParameterWriter(style: style ?? defaultStyle(), place: place)
        for (name, value) in pairs { writer.write(value, name: name) }
        return writer.text
    }
}
