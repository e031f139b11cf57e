/// Percent-encoding of parameters (RFC 3986, 2.1): everything that is not unreserved is escaped, so that `+`, `&`
/// and `=` mean themselves wherever the text ends up.
package enum PercentEncoding {
    /// Where the text will stand: in a form, a space is written as `+`.
    package enum Place: Sendable {
        case query
        case form
    }

    package static func encode(_ text: String, for place: Place) -> String {
        if text.utf8.allSatisfy(isUnreserved) { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else if byte == UInt8(ascii: " "), place == .form {
                bytes.append(UInt8(ascii: "+"))
            } else {
                append(byte, to: &bytes)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text with its escapes undone, and `+` as a space; an escape that is none stays as it is.
    package static func decode(_ text: some StringProtocol) -> String {
        let bytes = Array(text.utf8)
        guard bytes.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) else { return String(text) }
        var result: [UInt8] = []
        var position = 0
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "%"), position + 2 < bytes.count,
                let high = hexValue(bytes[position + 1]), let low = hexValue(bytes[position + 2])
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

    private static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
            byte.asciiLowercased - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    /// Appends the escape of one byte.
    static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        let digits: StaticString = "0123456789ABCDEF"
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digits.utf8Start[Int(byte >> 4)])
        bytes.append(digits.utf8Start[Int(byte & 15)])
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }
}
