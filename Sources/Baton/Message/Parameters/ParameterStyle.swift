/// How values that a query or a form has no standard for are written: lists, nested values, Booleans, dates, data.
///
/// ```swift
/// ParameterStyle()                                        // tags[]=a&tags[]=b, filter[on]=true
/// ParameterStyle(arrays: .repeated, nesting: .dotted)     // tags=a&tags=b, filter.on=true
/// ```
/// Brackets are percent-encoded (`%5B%5D`), and an empty list or object sends nothing, in every style.
public struct ParameterStyle: Sendable, Hashable {
    /// How lists are written; `.brackets` by default.
    public var arrays: Arrays
    /// How keys of nested values are joined; `.brackets` by default.
    public var nesting: Nesting
    /// How Booleans are written; `.words` by default.
    public var booleans: Booleans
    /// How dates are written; `.iso8601` by default.
    public var dates: DateCoding
    /// How bytes are written; `.base64` by default.
    public var data: DataFormat
    /// What becomes of nil; `.omitted` by default.
    public var nils: Nils

    /// A style; each argument has the default that its property names.
    public init(
        arrays: Arrays = .brackets, nesting: Nesting = .brackets, booleans: Booleans = .words,
        dates: DateCoding = .iso8601, data: DataFormat = .base64, nils: Nils = .omitted
    ) {
        self.arrays = arrays
        self.nesting = nesting
        self.booleans = booleans
        self.dates = dates
        self.data = data
        self.nils = nils
    }

    /// How lists are written. A list that holds lists or objects is written with indices in every style, because
    /// no other keeps together what belongs together: `a[0][id]=1&a[0][name]=x&a[1][id]=2`.
    public enum Arrays: Sendable, Hashable {
        /// `a[]=1&a[]=2`
        case brackets
        /// `a=1&a=2`
        case repeated
        /// `a[0]=1&a[1]=2`. The index is the place in the list, also where nil is omitted before it.
        case indexed
        /// `a=1,2`. A comma inside a value is escaped.
        case commaSeparated
    }

    /// How keys of nested values are joined to the name they stand under.
    public enum Nesting: Sendable, Hashable {
        /// `a[b][c]=1`
        case brackets
        /// `a.b.c=1`
        case dotted
    }

    /// How Booleans are written.
    public enum Booleans: Sendable, Hashable {
        /// `true` and `false`
        case words
        /// `1` and `0`
        case numbers
    }

    /// How bytes are written.
    public enum DataFormat: Sendable, Hashable {
        /// Base64 with padding (RFC 4648, 4).
        case base64
        /// Base64 in the alphabet for URLs, without padding (RFC 4648, 5).
        case base64URL
        /// Hexadecimal in small letters.
        case hex
    }

    /// What becomes of nil.
    public enum Nils: Sendable, Hashable {
        /// Nothing is sent.
        case omitted
        /// The name with an empty value: `a=`.
        case empty
    }
}
