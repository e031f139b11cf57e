/// Secrets in text that has no known form, such as messages of errors and values of fields.
extension Redaction {
    /// The text with what looks like a secret replaced: the user of a URL, credentials after their scheme, and values
    /// that follow a secret name with `=` or `:`.
    public func text(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(where: { $0 == 0x3A || $0 == 0x3D || $0 == 0x20 }) else { return text }
        var scan = TextScan(bytes: bytes, redaction: self)
        return scan.run() ? String(decoding: scan.output, as: UTF8.self) : text
    }
}

/// One pass over a text, word by word.
private struct TextScan {
    let bytes: [UInt8]
    let redaction: Redaction
    var output: [UInt8] = []
    private var position = 0
    private var hasChanged = false

    init(bytes: [UInt8], redaction: Redaction) {
        self.bytes = bytes
        self.redaction = redaction
    }

    /// Whether anything was replaced.
    mutating func run() -> Bool {
        output.reserveCapacity(bytes.count)
        while position < bytes.count {
            if Self.isNameByte(bytes[position]) {
                word()
            } else {
                copy(to: position + 1)
                if output.suffix(3).elementsEqual("://".utf8) { user() }
            }
        }
        return hasChanged
    }

    private mutating func word() {
        let start = position
        var end = position
        while end < bytes.count, Self.isNameByte(bytes[end]) { end += 1 }
        let name = PercentEncoding.decodeLeniently(String(decoding: bytes[start..<end], as: UTF8.self))
        copy(to: end)
        if ["bearer", "basic", "digest", "negotiate"].contains(name.lowercased()), credentials() { return }
        var value = end
        let isQuoted = value < bytes.count && (bytes[value] == Self.quote || bytes[value] == 0x27)
        if isQuoted { value += 1 }
        while value < bytes.count, bytes[value] == 0x20 { value += 1 }
        guard value < bytes.count, bytes[value] == 0x3D || bytes[value] == 0x3A else { return }
        let isParameter = bytes[value] == 0x3D && value == end
        guard isParameter ? redaction.isSecretParameter(name) : redaction.isSecret(name) else { return }
        value += 1
        while value < bytes.count, bytes[value] == 0x20 { value += 1 }
        copy(to: value)
        replaceValue()
    }

    /// The value at the position: what is quoted, or what comes before the next separator.
    private mutating func replaceValue() {
        guard position < bytes.count else { return }
        var end = position
        if bytes[end] == Self.quote || bytes[end] == 0x27 {
            let mark = bytes[end]
            copy(to: position + 1)
            end = position
            while end < bytes.count, bytes[end] != mark { end += bytes[end] == 0x5C ? 2 : 1 }
        } else {
            // The scheme of credentials is not one of them.
            for scheme in ["bearer ", "basic ", "digest "] where lowercased(scheme.utf8.count) == scheme {
                copy(to: position + scheme.utf8.count)
            }
            end = position
            while end < bytes.count, !Self.isSeparator(bytes[end]) { end += 1 }
        }
        replace(to: min(end, bytes.count))
    }

    /// What follows the name of a scheme: a token of some length, with a digit or capital within, so that prose such
    /// as "basic idea" stays.
    private mutating func credentials() -> Bool {
        guard position < bytes.count, bytes[position] == 0x20 else { return false }
        var end = position + 1
        while end < bytes.count, !Self.isSeparator(bytes[end]) { end += 1 }
        let token = bytes[(position + 1)..<end]
        guard token.count >= 4, token.contains(where: { $0 &- 48 < 10 || $0 &- 65 < 26 || $0 == 0x2E || $0 == 0x3D })
        else { return false }
        copy(to: position + 1)
        replace(to: end)
        return true
    }

    /// User info after `://`.
    private mutating func user() {
        var end = position
        var at: Int?
        while end < bytes.count, bytes[end] != 0x2F, bytes[end] != 0x3F, bytes[end] > 0x20, bytes[end] != Self.quote {
            if bytes[end] == 0x40 { at = end }
            end += 1
        }
        if let at, at > position { replace(to: at) }
    }

    private func lowercased(_ count: Int) -> String {
        String(decoding: bytes[position..<min(position + count, bytes.count)].map(\.asciiLowercased), as: UTF8.self)
    }

    private mutating func copy(to end: Int) {
        output += bytes[position..<end]
        position = end
    }

    private mutating func replace(to end: Int) {
        guard end > position else { return }
        output += Array(Redaction.placeholder.utf8)
        position = end
        hasChanged = true
    }

    private static let quote: UInt8 = 0x22

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || byte == 0x2D || byte == 0x5F || byte == 0x25 || byte >= 0x80
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == 0x26 || byte == quote || byte == 0x27 || byte == 0x2C || byte == 0x3B
            || byte == 0x7D || byte == 0x29 || byte == 0x23
    }
}
