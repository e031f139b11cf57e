public import Foundation

/// Secrets in bodies. What is no secret keeps its bytes: numbers, order and white space of a JSON stay as they were.
extension Redaction {
    /// A body with its secrets replaced, as its content type says how to read it. What is not text stays as it is.
    public func body(_ body: Data, contentType: String?) -> Data {
        guard !body.isEmpty else { return body }
        let type = contentType?.lowercased() ?? ""
        if type.hasPrefix("application/x-www-form-urlencoded") {
            return Data(parameters(String(decoding: body, as: UTF8.self)).utf8)
        }
        if type.hasPrefix("multipart/"), let boundary = Self.boundary(of: contentType ?? "") {
            return multipart(body, boundary)
        }
        if type.contains("json") || Self.looksLikeJSON(body) {
            var scan = JSONScan(bytes: Array(body), redaction: self)
            return Data(scan.run())
        }
        guard let string = String(validatingUTF8Bytes: body) else { return body }
        return Data(text(string).utf8)
    }

    private static func looksLikeJSON(_ body: Data) -> Bool {
        let first = body.first { $0 > 0x20 }
        return first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    }

    // MARK: Multipart

    private static func boundary(of contentType: String) -> String? {
        guard let mark = contentType.range(of: "boundary=", options: .caseInsensitive) else { return nil }
        let text = contentType[mark.upperBound...]
        return text.hasPrefix("\"") ? String(text.dropFirst().prefix { $0 != "\"" }) : String(text.prefix { $0 != ";" })
    }

    /// The parts whose names are secret lose their content; the others are looked at by their own content type.
    private func multipart(_ body: Data, _ boundary: String) -> Data {
        let mark = Data("--\(boundary)".utf8)
        let blank = Data("\r\n\r\n".utf8)
        var result = Data()
        var rest = body[...]
        while let found = rest.range(of: mark) {
            result += part(rest[..<found.lowerBound], blank)
            result += mark
            rest = rest[found.upperBound...]
        }
        return result + part(rest, blank)
    }

    private func part(_ part: Data, _ blank: Data) -> Data {
        guard let gap = part.range(of: blank) else { return part }
        let head = String(decoding: part[..<gap.lowerBound], as: UTF8.self)
        let hasEnd = part.suffix(2).elementsEqual("\r\n".utf8)
        let content = part[gap.upperBound...].dropLast(hasEnd ? 2 : 0)
        var type: String?
        for line in head.split(whereSeparator: \.isNewline) where line.lowercased().hasPrefix("content-type:") {
            type = line.dropFirst("content-type:".count).trimmingCharacters(in: .whitespaces)
        }
        let isSecret = Self.name(in: head).map { isSecretParameter($0) } ?? false
        let clean = isSecret ? Data(Self.placeholder.utf8) : self.body(Data(content), contentType: type)
        return part[..<gap.upperBound] + clean + (hasEnd ? Data("\r\n".utf8) : Data())
    }

    private static func name(in head: String) -> String? {
        guard let mark = head.range(of: " name=\"", options: .caseInsensitive) else { return nil }
        return String(head[mark.upperBound...].prefix { $0 != "\"" })
    }
}

/// One pass over JSON that need not be complete or right: strings in the place of a secret's value are replaced,
/// numbers become 0, and all within an object or array that is a secret's value goes the same way.
private struct JSONScan {
    private struct Level {
        var isObject: Bool
        var isSecret: Bool
        var expectsKey: Bool
        var keyIsSecret = false
    }

    let bytes: [UInt8]
    let redaction: Redaction
    private var output: [UInt8] = []
    private var levels: [Level] = []
    private var position = 0

    init(bytes: [UInt8], redaction: Redaction) {
        self.bytes = bytes
        self.redaction = redaction
    }

    /// Whether a value that begins here is a secret's.
    private var isInSecret: Bool {
        guard let level = levels.last else { return false }
        return level.isSecret || (level.isObject && level.keyIsSecret)
    }

    mutating func run() -> [UInt8] {
        output.reserveCapacity(bytes.count)
        while position < bytes.count {
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let isObject = byte == UInt8(ascii: "{")
                levels.append(Level(isObject: isObject, isSecret: isInSecret, expectsKey: isObject))
                copyByte()
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = levels.popLast()
                copyByte()
            case UInt8(ascii: ","):
                if let last = levels.indices.last { levels[last].expectsKey = levels[last].isObject }
                copyByte()
            case UInt8(ascii: ":"):
                if let last = levels.indices.last { levels[last].expectsKey = false }
                copyByte()
            case UInt8(ascii: "\""): string()
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): number()
            default: copyByte()
            }
        }
        return output
    }

    private mutating func copyByte() {
        output.append(bytes[position])
        position += 1
    }

    private mutating func string() {
        let start = position
        var end = position + 1
        while end < bytes.count, bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
        // One that is cut off ends with the bytes.
        let isWhole = end < bytes.count
        position = min(end + 1, bytes.count)
        let content = bytes[(start + 1)..<min(end, bytes.count)]
        if let last = levels.indices.last, levels[last].expectsKey {
            levels[last].keyIsSecret = redaction.isSecret(Self.unescaped(content))
            output += bytes[start..<position]
        } else if isInSecret, !content.isEmpty {
            output += Array("\"\(Redaction.placeholder)\"".utf8.dropLast(isWhole ? 0 : 1))
        } else {
            let text = String(decoding: content, as: UTF8.self)
            let clean = redaction.text(text)
            output.append(UInt8(ascii: "\""))
            // Unchanged text keeps its bytes, also those that are no UTF-8.
            output += clean == text ? Array(content) : Array(clean.utf8)
            if isWhole { output.append(UInt8(ascii: "\"")) }
        }
    }

    private mutating func number() {
        let start = position
        while position < bytes.count,
            bytes[position].isASCIIAlphanumeric || [0x2B, 0x2D, 0x2E].contains(bytes[position])
        { position += 1 }
        output += isInSecret ? [UInt8(ascii: "0")] : Array(bytes[start..<position])
    }

    /// A key as it reads: escapes could hide a name.
    private static func unescaped(_ content: ArraySlice<UInt8>) -> String {
        let text = String(decoding: content, as: UTF8.self)
        guard content.contains(UInt8(ascii: "\\")) else { return text }
        return (try? JSONDecoder().decode(String.self, from: Data("\"\(text)\"".utf8))) ?? text
    }
}

extension String {
    /// The text of bytes that are UTF-8; nil when they are not.
    fileprivate init?(validatingUTF8Bytes data: Data) {
        self.init(data: data, encoding: .utf8)
    }
}
