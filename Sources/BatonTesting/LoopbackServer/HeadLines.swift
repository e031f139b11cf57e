internal import Baton

/// The ranges of the lines of a head, without their line ends.
struct HeadLines: Sequence, IteratorProtocol {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var start = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    mutating func next() -> Range<Int>? {
        guard start < bytes.count else { return nil }
        var end = start
        while end < bytes.count {
            if bytes[end] == 0x0D, end + 1 < bytes.count, bytes[end + 1] == 0x0A { break }
            end += 1
        }
        defer { start = end + 2 }
        return start..<end
    }
}

/// One field line, taken apart.
struct FieldLine {
    let name: Text
    let value: Text

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ line: Range<Int>) throws(MalformedRequest) {
        var colon = line.lowerBound
        while colon < line.upperBound, bytes[colon] != UInt8(ascii: ":") {
            guard bytes[colon].isTokenByte else { throw MalformedRequest("has a field name that is not a token") }
            colon += 1
        }
        guard colon < line.upperBound else { throw MalformedRequest("has a field line without a colon") }
        guard colon > line.lowerBound else { throw MalformedRequest("has a field without a name") }
        var (start, end) = (colon + 1, line.upperBound)
        while start < end, Self.isBlank(bytes[start]) { start += 1 }
        while start < end, Self.isBlank(bytes[end - 1]) { end -= 1 }
        name = Text(bytes, line.lowerBound..<colon)
        value = Text(bytes, start..<end)
        guard value.allSatisfy({ $0 >= 0x20 || $0 == 0x09 }) else {
            throw MalformedRequest("has a control character in a field value")
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}

/// A stretch of a head. It is valid while the bytes are borrowed.
struct Text {
    private let bytes: UnsafeBufferPointer<UInt8>

    init(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
        self.bytes = UnsafeBufferPointer(rebasing: bytes[range])
    }

    var count: Int { bytes.count }
    var isEmpty: Bool { bytes.isEmpty }
    var string: String { String(decoding: bytes, as: UTF8.self) }

    func allSatisfy(_ condition: (UInt8) -> Bool) -> Bool {
        for byte in bytes where !condition(byte) { return false }
        return true
    }

    /// Whether the text is this one, which is in lower case, whatever its own case.
    static func == (text: Text, lowercase: StaticString) -> Bool {
        guard text.count == lowercase.utf8CodeUnitCount else { return false }
        var offset = 0
        while offset < text.count {
            if text.bytes[offset].asciiLowercased != lowercase.utf8Start[offset] { return false }
            offset += 1
        }
        return true
    }

    /// Whether the text is a list with commas in which this word occurs.
    func lists(_ lowercase: StaticString) -> Bool {
        if self == lowercase { return true }
        return string.split(separator: ",").contains { part in
            let word = part.drop { $0 == " " }
            return word.lowercased().utf8.elementsEqual("\(lowercase)".utf8)
        }
    }

    /// The text as a number of at most 18 digits.
    var number: Int64? {
        guard !isEmpty, count <= 18, allSatisfy({ $0 &- 48 < 10 }) else { return nil }
        return bytes.reduce(0) { $0 * 10 + Int64($1 - 48) }
    }
}
