internal import Baton

/// What the head of a request says, as far as the server must understand it.
struct RequestHead {
    enum Framing: Equatable {
        case length(Int64)
        case chunked
    }

    /// The bytes up to the empty line.
    let bytes: [UInt8]
    private(set) var method = ""
    private(set) var target = ""
    private(set) var framing = Framing.length(0)
    private(set) var isHTTP10 = false
    private(set) var keepsAlive = true
    private(set) var expectsContinue = false

    /// Reads a head; throws what is wrong with it.
    init(_ bytes: [UInt8]) throws(MalformedRequest) {
        self.bytes = bytes
        try bytes.withUnsafeBufferPointer { buffer throws(MalformedRequest) in
            var lines = HeadLines(buffer)
            guard let first = lines.next() else { throw MalformedRequest("is empty") }
            try readRequestLine(buffer, first)
            var length: Int64?
            var isChunked = false
            while let line = lines.next() {
                try readField(FieldLine(buffer, line), &length, &isChunked)
            }
            framing = isChunked ? .chunked : .length(length ?? 0)
        }
    }

    private mutating func readRequestLine(
        _ buffer: UnsafeBufferPointer<UInt8>, _ line: Range<Int>
    ) throws(MalformedRequest) {
        guard let first = buffer[line].firstIndex(of: 0x20), let last = buffer[line].lastIndex(of: 0x20), first < last
        else { throw MalformedRequest("has a request line that is not three words") }
        let word = Text(buffer, line.lowerBound..<first)
        guard !word.isEmpty, word.allSatisfy(\.isTokenByte) else {
            throw MalformedRequest("has a method that is not a token")
        }
        let aim = Text(buffer, first + 1..<last)
        guard !aim.isEmpty, aim.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw MalformedRequest("has a target that is not printable ASCII")
        }
        let version = Text(buffer, last + 1..<line.upperBound)
        if version == "http/1.0" {
            isHTTP10 = true
            keepsAlive = false
        } else if !(version == "http/1.1") {
            throw MalformedRequest("has a version that is neither HTTP/1.0 nor HTTP/1.1")
        }
        method = word.string
        target = aim.string
    }

    private mutating func readField(
        _ field: FieldLine, _ length: inout Int64?, _ isChunked: inout Bool
    ) throws(MalformedRequest) {
        switch field.name.count {
        case 6 where field.name == "expect": expectsContinue = field.value == "100-continue"
        case 10 where field.name == "connection":
            if field.value.lists("close") { keepsAlive = false }
            if field.value.lists("keep-alive") { keepsAlive = true }
        case 14 where field.name == "content-length":
            guard let number = field.value.number else { throw MalformedRequest("has a length that is not a number") }
            guard length == nil || length == number else { throw MalformedRequest("has two different lengths") }
            length = number
        case 17 where field.name == "transfer-encoding":
            guard field.value == "chunked" else {
                throw MalformedRequest("has a transfer coding other than chunked")
            }
            isChunked = true
        default: break
        }
    }
}

/// What is wrong with a request; completes "The request …".
struct MalformedRequest: Error {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}
