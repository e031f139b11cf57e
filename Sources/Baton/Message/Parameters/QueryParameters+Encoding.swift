extension QueryParameters {
    /// The parameters of any `Encodable` value, sorted by key at every level, so that the bytes are the same in
    /// every process.
    ///
    /// Dates and data stay what they are and are written by the style; URLs and `Decimal` become text.
    ///
    /// - Parameter style: how it is written; nil, the default, takes the client's style.
    /// - Throws: an `EncodingError` with the key path, for a value that has no keys at the top, a number that is not
    ///   finite, and whatever the value's own encoding throws.
    public init(encoding value: some Encodable, style: ParameterStyle? = nil) throws {
        guard case .object(let values) = try QueryValue(encoding: value) else {
            throw EncodingError.invalidValue(
                value,
                .init(codingPath: [], debugDescription: "parameters need names: only a value with keys can be encoded"))
        }
        self.init(values)
        self.style = style
    }

    /// The parameters of a dictionary whose values the compiler does not know, sorted by key at every level.
    ///
    /// Text, numbers, Booleans, dates, data, URLs, UUIDs, arrays, dictionaries with text as keys, `NSNumber` and its
    /// kin, and `Encodable` values are taken. Nil, an optional that holds nil, and `NSNull` are nil. A Boolean in an
    /// `NSNumber` stays a Boolean on every platform.
    ///
    /// - Parameter style: how it is written; nil, the default, takes the client's style.
    /// - Throws: an `EncodingError` with the key path, for anything else.
    public init(untyped dictionary: [String: Any], style: ParameterStyle? = nil) throws {
        self.init(try dictionary.mapValues(withPath: []) { try QueryValue(untyped: $0, path: $1) })
        self.style = style
    }
}

extension QueryValue {
    /// A value that the compiler does not know; see ``QueryParameters/init(untyped:style:)``.
    init(untyped value: Any, path: [any CodingKey]) throws {
        switch try UntypedValue(value, path: path) {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .int(let value): self = Int(exactly: value).map(QueryValue.int) ?? .string(String(value))
        case .double(let value): self = .double(try value.finite(at: path))
        case .digits(let value): self = .string(value)
        case .text(let value): self = .string(value)
        case .date(let value): self = .date(value)
        case .data(let value): self = .data(value)
        case .array(let values):
            self = .list(
                try values.enumerated().map { try QueryValue(untyped: $1, path: path + [PathKey($0)]) })
        case .dictionary(let values):
            self = .object(try values.mapValues(withPath: path) { try QueryValue(untyped: $0, path: $1) })
        case .encodable(let value): self = try QueryValue(encoding: value, path: path)
        }
    }
}
