internal import Baton

/// What the head of a request says, as far as the server must understand it.
struct RequestHead {
    enum Framing: Equatable {
        case length(Int64)
        case chunked
    }

    /// The bytes up to the empty line.
    let bytes: [UInt8]
    let method: String
    let target: String
    var framing = Framing.length(0)
    var keepsAlive = true
    var expectsContinue = false

    /// Reads a head; throws what is wrong with it.
    init(_ bytes: [UInt8]) throws(MalformedRequest) {
        self.bytes = bytes
        var line = HeadLines(bytes).makeIterator()
        guard let first = line.next() else { throw MalformedRequest("is empty") }
        let parts = bytes[first].split(separator: 0x20, maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw MalformedRequest("has a request line that is not three words") }
        guard !parts[0].isEmpty, parts[0].allSatisfy(\.isTokenByte) else {
            throw MalformedRequest("has a method that is not a token")
        }
        guard !parts[1].isEmpty, parts[1].allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw MalformedRequest("has a target that is not printable ASCII")
        }
        method = String(decoding: parts[0], as: UTF8.self)
        target = String(decoding: parts[1], as: UTF8.self)
        if parts[2].elementsEqual("HTTP/1.0".utf8) {
            keepsAlive = false
        } else if !parts[2].elementsEqual("HTTP/1.1".utf8) {
            throw MalformedRequest("has a version that is neither HTTP/1.0 nor HTTP/1.1")
        }
        var length: Int64?
        var isChunked = false
        while let range = line.next() {
            let (name, value) = try Self.split(bytes[range])
            switch name.count {
            case 10 where Self.equal(name, "connection"):
                if Self.lists(value, "close") { keepsAlive = false }
                if Self.lists(value, "keep-alive") { keepsAlive = true }
            case 14 where Self.equal(name, "content-length"):
                let number = try Self.number(value)
                guard length == nil || length == number else {
                    throw MalformedRequest("has two different lengths")
                }
                length = number
            case 17 where Self.equal(name, "transfer-encoding"):
                guard Self.equal(value, "chunked") else {
                    throw MalformedRequest("has a transfer coding other than chunked")
                }
                isChunked = true
            case 6 where Self.equal(name, "expect"):
                expectsContinue = Self.equal(value, "100-continue")
            default: break
            }
        }
        framing = isChunked ? .chunked : .length(length ?? 0)
    }

    /// Name and value of a field line.
    static func split(
        _ line: ArraySlice<UInt8>
    ) throws(MalformedRequest) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            throw MalformedRequest("has a field line without a colon")
        }
        let name = line[..<colon]
        guard !name.isEmpty, name.allSatisfy(\.isTokenByte) else {
            throw MalformedRequest("has a field name that is not a token")
        }
        var value = line[(colon + 1)...]
        while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        guard value.allSatisfy({ $0 >= 0x20 || $0 == 0x09 }) else {
            throw MalformedRequest("has a control character in a field value")
        }
        return (name, value)
    }

    private static func equal(_ bytes: ArraySlice<UInt8>, _ text: StaticString) -> Bool {
        guard bytes.count == text.utf8CodeUnitCount else { return false }
        var offset = 0
        for byte in bytes {
            if byte.asciiLowercased != text.utf8Start[offset] { return false }
            offset += 1
        }
        return true
    }

    private static func lists(_ value: ArraySlice<UInt8>, _ option: StaticString) -> Bool {
        value.split(separator: UInt8(ascii: ",")).contains { part in
            equal(part.drop { $0 == 0x20 }, option)
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) throws(MalformedRequest) -> Int64 {
        guard !digits.isEmpty, digits.count <= 18, digits.allSatisfy({ $0 &- 48 < 10 }) else {
            throw MalformedRequest("has a length that is not a number")
        }
        return digits.reduce(0) { $0 * 10 + Int64($1 - 48) }
    }
}

/// What is wrong with a request; completes "The request …".
struct MalformedRequest: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}

/// The ranges of the lines of a head.
struct HeadLines: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var start = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

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
