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
