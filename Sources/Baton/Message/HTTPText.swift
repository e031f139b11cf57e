package import Foundation

/// Text out of a body.
package enum HTTPText {
    /// The body as text. A byte order mark decides first, then the charset of `contentType`, else it is UTF-8.
    ///
    /// Nil when the bytes are no text of that encoding. A charset that is not known is read as UTF-8. The mark is no
    /// part of the text. UTF-16 and UTF-32 without a mark are big-endian (RFC 2781, 4.3), `iso-8859-1` is itself, and
    /// the other charsets are those that Foundation has on the platform.
    package static func decode(body: Data, contentType: String?) -> String? {
        if body.starts(with: [0xEF, 0xBB, 0xBF]) { return utf8(body.dropFirst(3)) }
        if body.starts(with: [0xFF, 0xFE, 0, 0]) { return utf32(body.dropFirst(4), isBigEndian: false) }
        if body.starts(with: [0, 0, 0xFE, 0xFF]) { return utf32(body.dropFirst(4), isBigEndian: true) }
        if body.starts(with: [0xFF, 0xFE]) { return utf16(body.dropFirst(2), isBigEndian: false) }
        if body.starts(with: [0xFE, 0xFF]) { return utf16(body.dropFirst(2), isBigEndian: true) }
        switch contentType.flatMap(charset(of:)) {
        case "utf-16", "utf-16be": return utf16(body, isBigEndian: true)
        case "utf-16le": return utf16(body, isBigEndian: false)
        case "utf-32", "utf-32be": return utf32(body, isBigEndian: true)
        case "utf-32le": return utf32(body, isBigEndian: false)
        case "iso-8859-1", "latin1":
            return String(String.UnicodeScalarView(body.map { Unicode.Scalar($0) }))
        case let name?:
            guard let encoding = encodings[name] else { return utf8(body) }
            return String(data: body, encoding: encoding)
        case nil: return utf8(body)
        }
    }

    /// The `charset` parameter of a media type in small letters, without quotes; nil when there is none.
    package static func charset(of contentType: String) -> String? {
        for parameter in contentType.split(separator: ";").dropFirst() {
            let sides = parameter.split(separator: "=", maxSplits: 1)
            guard sides.count == 2, sides[0].trimmingBlanks.lowercased() == "charset" else { continue }
            let value = sides[1].trimmingBlanks.lowercased().filter { $0 != "\"" && $0 != "'" }
            return value.isEmpty ? nil : value
        }
        return nil
    }

    private static func utf8(_ bytes: Data) -> String? {
        String(data: bytes, encoding: .utf8)
    }

    private static func utf16(_ bytes: Data, isBigEndian: Bool) -> String? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        var rest = bytes[...]
        while let first = rest.popFirst(), let second = rest.popFirst() {
            units.append(
                isBigEndian ? UInt16(first) << 8 | UInt16(second) : UInt16(second) << 8 | UInt16(first))
        }
        let text = String(decoding: units, as: UTF16.self)
        return text.utf16.elementsEqual(units) ? text : nil
    }

    private static func utf32(_ bytes: Data, isBigEndian: Bool) -> String? {
        guard bytes.count.isMultiple(of: 4) else { return nil }
        var text = ""
        var rest = bytes[...]
        while let a = rest.popFirst(), let b = rest.popFirst(), let c = rest.popFirst(), let d = rest.popFirst() {
            let unit = UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d)
            guard let scalar = Unicode.Scalar(isBigEndian ? unit : unit.byteSwapped) else { return nil }
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    private static let encodings: [String: String.Encoding] = [
        "windows-1250": .windowsCP1250, "windows-1251": .windowsCP1251, "windows-1252": .windowsCP1252,
        "cp1252": .windowsCP1252, "windows-1253": .windowsCP1253, "windows-1254": .windowsCP1254,
        "iso-8859-2": .isoLatin2, "shift_jis": .shiftJIS, "sjis": .shiftJIS, "euc-jp": .japaneseEUC,
        "iso-2022-jp": .iso2022JP, "macintosh": .macOSRoman,
    ]
}
