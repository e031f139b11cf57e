internal import Foundation

/// Reads one JSON text (RFC 8259), strictly. It is our own because the one in Foundation loses the difference
/// between `1`, `1.0` and `true` on one platform or the other.
struct JSONParser {
    private static let maximalDepth = 512

    /// An array or object whose end has not come yet. They are kept in a stack of our own, so that nesting does not
    /// eat up the thread's.
    private struct Frame {
        var elements: [JSONValue] = []
        var values: [String: JSONValue] = [:]
        /// The key of the value that comes next; nil in an array.
        var key: String?
    }

    private let bytes: UnsafeRawBufferPointer
    private var index = 0
    private var frames: [Frame] = []

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func parse() throws(DecodingError) -> JSONValue {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
        while true {
            skipBlanks()
            guard let value = try scalarOrEmpty() else { continue }
            guard let whole = try close(with: value) else { continue }
            guard index == bytes.count else { throw fault("something follows the value") }
            return whole
        }
    }

    /// The value that starts here; nil when it has to be put together, which was begun.
    private mutating func scalarOrEmpty() throws(DecodingError) -> JSONValue? {
        let isArray = next == UInt8(ascii: "[")
        guard isArray || next == UInt8(ascii: "{") else { return try scalar() }
        guard frames.count < Self.maximalDepth else {
            throw fault("values are nested more than \(Self.maximalDepth) deep")
        }
        index += 1
        skipBlanks()
        if take(isArray ? UInt8(ascii: "]") : UInt8(ascii: "}")) { return isArray ? .array([]) : .object([:]) }
        frames.append(Frame(key: isArray ? nil : try key()))
        return nil
    }

    /// Puts the value where it belongs, and ends whatever ends after it; nil when another value has to come.
    private mutating func close(with value: JSONValue) throws(DecodingError) -> JSONValue? {
        var value = value
        while true {
            skipBlanks()
            guard let last = frames.indices.last else { return value }
            if let key = frames[last].key {
                frames[last].values[key] = value
                if take(UInt8(ascii: ",")) {
                    skipBlanks()
                    frames[last].key = try self.key()
                    return nil
                }
                guard take(UInt8(ascii: "}")) else { throw fault("a comma or the end of an object is missing") }
                value = .object(frames.removeLast().values)
            } else {
                frames[last].elements.append(value)
                if take(UInt8(ascii: ",")) { return nil }
                guard take(UInt8(ascii: "]")) else { throw fault("a comma or the end of an array is missing") }
                value = .array(frames.removeLast().elements)
            }
        }
    }

    private mutating func key() throws(DecodingError) -> String {
        guard next == UInt8(ascii: "\"") else { throw fault("a key is missing") }
        let key = try string()
        skipBlanks()
        guard take(UInt8(ascii: ":")) else { throw fault("a colon is missing") }
        return key
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { index += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        index += 1
        return true
    }

    private func fault(_ reason: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: "Not JSON at byte \(index): \(reason)."))
    }

    private mutating func scalar() throws(DecodingError) -> JSONValue {
        switch next {
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try literal("true", .bool(true))
        case UInt8(ascii: "f"): return try literal("false", .bool(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case nil: throw fault("a value is missing")
        default: return try number()
        }
    }

    private mutating func literal(_ text: StaticString, _ value: JSONValue) throws(DecodingError) -> JSONValue {
        for offset in 0..<text.utf8CodeUnitCount where !take(text.utf8Start[offset]) {
            throw fault("\(text) was expected")
        }
        return value
    }

    private mutating func number() throws(DecodingError) -> JSONValue {
        let start = index
        var isInteger = true
        _ = take(UInt8(ascii: "-"))
        let isZero = next == UInt8(ascii: "0")
        let digits = try digits()
        guard !isZero || digits == 1 else { throw fault("a number starts with a zero") }
        if take(UInt8(ascii: ".")) {
            isInteger = false
            _ = try self.digits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isInteger = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            _ = try self.digits()
        }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        if isInteger, let value = Int64(text) { return .int(value) }
        guard let value = Double(text), value.isFinite else { throw fault("a number is out of range") }
        return .double(value)
    }

    private mutating func digits() throws(DecodingError) -> Int {
        let start = index
        while let byte = next, byte.isDigit { index += 1 }
        guard index > start else { throw fault("a digit was expected") }
        return index - start
    }

    private mutating func string() throws(DecodingError) -> String {
        index += 1
        let start = index
        var isASCII = true
        while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
            guard byte >= 0x20 else { throw fault("a control character is not escaped") }
            if byte >= 0x80 { isASCII = false }
            index += 1
        }
        let plain = bytes[start..<index]
        if take(UInt8(ascii: "\"")) {
            let text = String(decoding: plain, as: UTF8.self)
            guard isASCII || text.utf8.elementsEqual(plain) else { throw fault("the text is no UTF-8") }
            return text
        }
        return try escapedString(after: Array(plain))
    }

    private mutating func escapedString(after plain: [UInt8]) throws(DecodingError) -> String {
        var text = plain
        while let byte = next {
            index += 1
            switch byte {
            case UInt8(ascii: "\""):
                let result = String(decoding: text, as: UTF8.self)
                guard result.utf8.elementsEqual(text) else { throw fault("the text is no UTF-8") }
                return result
            case UInt8(ascii: "\\"): text += String(try escape()).utf8
            case 0..<0x20: throw fault("a control character is not escaped")
            default: text.append(byte)
            }
        }
        throw fault("a text has no end")
    }

    private mutating func escape() throws(DecodingError) -> Character {
        guard let byte = next else { throw fault("a text has no end") }
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Character(Unicode.Scalar(byte))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return Character(try codePoint())
        default: throw fault("an escape is not known")
        }
    }

    private mutating func codePoint() throws(DecodingError) -> Unicode.Scalar {
        let first = try unit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800..<0xDC00).contains(first), take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            throw fault("half of a surrogate pair is missing")
        }
        let second = try unit()
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
        else { throw fault("half of a surrogate pair is missing") }
        return scalar
    }

    private mutating func unit() throws(DecodingError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = next?.hexDigit else { throw fault("four hexadecimal digits were expected") }
            unit = unit << 4 | UInt32(digit)
            index += 1
        }
        return unit
    }
}
