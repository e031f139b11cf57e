/// The code by which a server says in a body how a request went, however it writes it: `"0"`, `0` and `0.0` are equal.
///
/// Text with leading zeros is no number: `"0000"` equals only itself.
public struct BusinessCode: Hashable, Sendable, CustomStringConvertible {
    /// The code as text; a whole number without fraction.
    public let description: String

    /// The code as a whole number; nil when it is none.
    public var int: Int? { Int(description) }

    /// A code out of JSON: text, a number or a Boolean; nil for everything else.
    public init?(_ value: JSONValue) {
        switch value {
        case .string(let text): self.init(stringLiteral: text)
        case .int(let number): self.init(integerLiteral: number)
        case .double(let number): self.init(floatLiteral: number)
        case .bool(let flag): self.init(booleanLiteral: flag)
        case .null, .array, .object: return nil
        }
    }

    private static func text(of number: Double) -> String {
        Int64(exactly: number).map { String($0) } ?? String(number)
    }

    /// Text that is a number as JSON writes it, in the form of that number; other text as it is.
    private static func folded(_ text: String) -> String {
        var digits = text.utf8[...]
        if digits.first == UInt8(ascii: "-") { digits.removeFirst() }
        let whole = digits.prefix(while: \.isDigit)
        guard !whole.isEmpty, whole.count == 1 || whole.first != UInt8(ascii: "0") else { return text }
        let rest = digits[whole.endIndex...]
        if rest.isEmpty { return text == "-0" ? "0" : text }
        guard rest.first == UInt8(ascii: "."), rest.count > 1, rest.dropFirst().allSatisfy(\.isDigit),
            let number = Double(text)
        else { return text }
        return self.text(of: number)
    }
}

extension BusinessCode: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    public init(stringLiteral value: String) { description = Self.folded(value) }
    public init(integerLiteral value: Int64) { description = String(value) }
    public init(floatLiteral value: Double) { description = Self.text(of: value) }
    public init(booleanLiteral value: Bool) { description = String(value) }
}
