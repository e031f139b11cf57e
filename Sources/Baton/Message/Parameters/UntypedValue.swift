internal import Foundation

/// A value of type `Any`, recognised; the same on platforms with and without bridging.
enum UntypedValue {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    /// A number whose digits say more than a double or fit no `int`.
    case digits(String)
    case text(String)
    case date(Date)
    case data(Data)
    case array([Any])
    case dictionary([String: Any])
    case encodable(any Encodable)

    /// - Throws: an `EncodingError` with the path when the value is of no kind that can be written.
    init(_ value: Any, path: [any CodingKey]) throws {
        // Objects come apart from plain values, because with bridging `1 is NSNumber` and `NSNumber(1) is Bool`.
        let number = type(of: value) is AnyClass ? Self.object(value) : try Self.plainNumber(value, path: path)
        self = if let number { number } else { try Self.other(value, path: path) }
    }

    private static func object(_ value: Any) -> UntypedValue? {
        switch value {
        case is NSNull: .null
        case let value as NSDecimalNumber: .digits("\(value.decimalValue)")
        case let value as NSNumber: number(value)
        default: nil
        }
    }

    private static func plainNumber(_ value: Any, path: [any CodingKey]) throws -> UntypedValue? {
        switch value {
        case let value as Bool: return .bool(value)
        case let value as Double: return .double(value)
        case let value as Float:
            _ = try Double(value).finite(at: path)
            return .digits(String(value))
        case let value as Decimal: return .digits("\(value)")
        case let value as any FixedWidthInteger: return integer(value)
        default: return nil
        }
    }

    private static func other(_ value: Any, path: [any CodingKey]) throws -> UntypedValue {
        switch value {
        case let value as String: .text(value)
        case let value as Date: .date(value)
        case let value as Data: .data(value)
        case let value as URL: .text(value.absoluteString)
        case let value as UUID: .text(value.uuidString)
        default: try composite(value, path: path)
        }
    }

    private static func composite(_ value: Any, path: [any CodingKey]) throws -> UntypedValue {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            guard let wrapped = mirror.children.first?.value else { return .null }
            return try UntypedValue(wrapped, path: path)
        }
        if let values = value as? [Any] { return .array(values) }
        if let values = value as? [String: Any] { return .dictionary(values) }
        if mirror.displayStyle != .dictionary, let value = value as? any Encodable { return .encodable(value) }
        throw EncodingError.invalidValue(
            value,
            .init(
                codingPath: path,
                debugDescription:
                    "\(PathKey.describe(path)) is a \(type(of: value)), which cannot be written as a parameter or as JSON"
            ))
    }

    private static func integer(_ value: some FixedWidthInteger) -> UntypedValue {
        Int64(exactly: value).map(UntypedValue.int) ?? .digits(String(value))
    }

    private static func number(_ value: NSNumber) -> UntypedValue {
        #if canImport(Darwin)
            if CFGetTypeID(value) == CFBooleanGetTypeID() { return .bool(value.boolValue) }
        #else
            // Only a Boolean has this type here; Int8 is kept as an int.
            if value.objCType.pointee == CChar(UInt8(ascii: "c")) { return .bool(value.boolValue) }
        #endif
        switch UInt8(bitPattern: value.objCType.pointee) {
        case UInt8(ascii: "f"): return .digits(String(value.floatValue))
        case UInt8(ascii: "d"): return .double(value.doubleValue)
        case UInt8(ascii: "Q"): return integer(value.uint64Value)
        default: return .int(value.int64Value)
        }
    }
}

/// A step of a path: a key or an index.
struct PathKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init(_ key: String) {
        stringValue = key
        intValue = nil
    }

    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { self.init(intValue) }

    /// The path for people: `a.b[2]`.
    static func describe(_ path: [any CodingKey]) -> String {
        var text = ""
        for key in path {
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
        return text.isEmpty ? "the value" : text
    }
}

extension Dictionary where Key == String {
    /// The dictionary with its values changed by a closure that is told where each one stands.
    func mapValues<New>(
        withPath path: [any CodingKey], _ transform: (Value, [any CodingKey]) throws -> New
    ) rethrows -> [String: New] {
        var result = [String: New](minimumCapacity: count)
        for (key, value) in self { result[key] = try transform(value, path + [PathKey(key)]) }
        return result
    }
}

extension Double {
    /// The number itself; infinities and what is no number are refused.
    func finite(at path: [any CodingKey]) throws -> Double {
        guard isFinite else {
            throw EncodingError.invalidValue(
                self, .init(codingPath: path, debugDescription: "\(PathKey.describe(path)) is not a finite number"))
        }
        return self
    }
}
