/// Percent-encoding of parameters (RFC 3986, 2.1): everything that is not unreserved is escaped, so that `+`, `&`
/// and `=` mean themselves wherever the text ends up.
package enum PercentEncoding {
    /// Where the text will stand: in a form, a space is written as `+`.
    package enum Place: Sendable {
        case query
        case form
    }

    /// The text with everything escaped that is not unreserved; never fails.
    package static func encode(_ text: String, for place: Place) -> String {
        let unreserved = ByteSet.unreserved
        if unreserved.containsAll(text) { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count * 3)
        for byte in text.utf8 {
            if unreserved.contains(byte) {
                bytes.append(byte)
            } else if byte == UInt8(ascii: " "), place == .form {
                bytes.append(UInt8(ascii: "+"))
            } else {
                append(byte, to: &bytes)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text that was encoded; nil when an escape is broken or the bytes are no UTF-8.
    package static func decode(_ text: some StringProtocol, from place: Place) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+"), place == .form {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%") {
                guard let high = rest.popFirst()?.hexDigit, let low = rest.popFirst()?.hexDigit else { return nil }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(byte)
            }
        }
        let decoded = String(decoding: bytes, as: UTF8.self)
        return decoded.utf8.elementsEqual(bytes) ? decoded : nil
    }

    /// The names and values of a query or form, in order; a name without `=` has an empty value. Nil when one of
    /// them cannot be decoded.
    package static func decodePairs(
        _ text: some StringProtocol, from place: Place
    ) -> [(name: String, value: String)]? {
        var pairs: [(name: String, value: String)] = []
        for pair in text.split(separator: "&") {
            let mark = pair.firstIndex(of: "=")
            let value = mark.map { pair[pair.index(after: $0)...] } ?? pair[pair.endIndex...]
            guard let name = decode(pair[..<(mark ?? pair.endIndex)], from: place),
                let value = decode(value, from: place)
            else { return nil }
            pairs.append((name: name, value: value))
        }
        return pairs
    }

    /// Appends the escape of one byte.
    static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        let digits: StaticString = "0123456789ABCDEF"
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digits.utf8Start[Int(byte >> 4)])
        bytes.append(digits.utf8Start[Int(byte & 15)])
    }
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit; nil for every other byte.
    var hexDigit: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
