/// Decoding of text that comes from others, where a broken escape is no reason to give up.
extension PercentEncoding {
    /// The text with its escapes undone, and `+` as a space; an escape that is none stays as it is.
    package static func decodeLeniently(_ text: some StringProtocol) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return String(text) }
        var result: [UInt8] = []
        var position = 0
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "%"), position + 2 < bytes.count,
                let high = digit(bytes[position + 1]), let low = digit(bytes[position + 2])
            {
                result.append(high << 4 | low)
                position += 3
            } else {
                result.append(bytes[position] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[position])
                position += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
            byte.asciiLowercased - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
