/// Reads requests out of the bytes of a connection, one event at a time. It is pure: what it is given decides.
struct RequestParser {
    enum Event {
        case needsMore
        case head(RequestHead)
        /// So many bytes at the front of the queue belong to the body; the caller takes them out.
        case body(Int)
        case end(trailers: [String])
        case malformed(MalformedRequest)
    }

    private enum Phase {
        case head(searched: Int)
        case fixed(remaining: Int64)
        case chunkSize
        case chunk(remaining: Int64)
        case chunkEnd
        case trailers([String])
        case failed(MalformedRequest)
    }

    static let headLimit = 262_144
    private static let lineLimit = 8192
    private var phase = Phase.head(searched: 0)

    /// Whether no byte of a request has come since the last one ended.
    var isAtStart: Bool {
        if case .head = phase { true } else { false }
    }

    mutating func next(_ queue: inout ByteQueue) -> Event {
        do throws(MalformedRequest) {
            return try advance(&queue)
        } catch {
            phase = .failed(error)
            return .malformed(error)
        }
    }

    private mutating func advance(_ queue: inout ByteQueue) throws(MalformedRequest) -> Event {
        while true {
            switch phase {
            case .head(let searched):
                guard let head = try readHead(&queue, searched) else { return .needsMore }
                switch head.framing {
                case .chunked: phase = .chunkSize
                case .length(let length): phase = .fixed(remaining: length)
                }
                return .head(head)
            case .fixed(0): return end([])
            case .fixed(let remaining):
                guard !queue.isEmpty else { return .needsMore }
                let count = Int(min(remaining, Int64(queue.count)))
                phase = .fixed(remaining: remaining - Int64(count))
                return .body(count)
            case .chunkSize:
                guard let line = try readLine(&queue) else { return .needsMore }
                let size = try Self.size(line)
                phase = size == 0 ? .trailers([]) : .chunk(remaining: size)
            case .chunk(0): phase = .chunkEnd
            case .chunk(let remaining):
                guard !queue.isEmpty else { return .needsMore }
                let count = Int(min(remaining, Int64(queue.count)))
                phase = .chunk(remaining: remaining - Int64(count))
                return .body(count)
            case .chunkEnd:
                guard let line = try readLine(&queue) else { return .needsMore }
                guard line.isEmpty else { throw MalformedRequest("has a chunk longer than it says") }
                phase = .chunkSize
            case .trailers(var trailers):
                guard let line = try readLine(&queue) else { return .needsMore }
                if line.isEmpty { return end(trailers) }
                guard trailers.count < 100 else { throw MalformedRequest("has too many trailers") }
                try line.withUnsafeBufferPointer { buffer throws(MalformedRequest) in
                    _ = try FieldLine(buffer, 0..<buffer.count)
                }
                trailers.append(String(decoding: line, as: UTF8.self))
                phase = .trailers(trailers)
            case .failed(let error): throw error
            }
        }
    }

    private mutating func end(_ trailers: [String]) -> Event {
        phase = .head(searched: 0)
        return .end(trailers: trailers)
    }

    private mutating func readHead(
        _ queue: inout ByteQueue, _ searched: Int
    ) throws(MalformedRequest) -> RequestHead? {
        // Empty lines before a request are skipped (RFC 9112, 2.2).
        if searched == 0 {
            while queue.count >= 2, queue[0] == 0x0D, queue[1] == 0x0A { queue.drop(2) }
        }
        var offset = searched
        while let lineEnd = queue.firstLineEnd(from: offset) {
            guard lineEnd + 3 < queue.count else { break }
            if queue[lineEnd + 2] == 0x0D && queue[lineEnd + 3] == 0x0A {
                let bytes = queue.take(lineEnd)
                queue.drop(4)
                return try RequestHead(bytes)
            }
            offset = lineEnd + 2
        }
        guard queue.count <= Self.headLimit else { throw MalformedRequest("has a head over \(Self.headLimit) bytes") }
        phase = .head(searched: max(0, min(offset, queue.count - 3)))
        return nil
    }

    private func readLine(_ queue: inout ByteQueue) throws(MalformedRequest) -> [UInt8]? {
        guard let end = queue.firstLineEnd(from: 0) else {
            guard queue.count <= Self.lineLimit else { throw MalformedRequest("has an endless line in its body") }
            return nil
        }
        let line = queue.take(end)
        queue.drop(2)
        return line
    }

    private static func size(_ line: [UInt8]) throws(MalformedRequest) -> Int64 {
        var size: Int64 = 0
        var digits = 0
        for byte in line {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - 48
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - 87
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - 55
            case UInt8(ascii: ";"), 0x20, 0x09:
                guard digits > 0 else { throw MalformedRequest("has a chunk without a size") }
                return size
            default: throw MalformedRequest("has a chunk size that is not a number")
            }
            digits += 1
            guard digits <= 15 else { throw MalformedRequest("has a chunk size that is too large") }
            size = size << 4 | Int64(digit)
        }
        guard digits > 0 else { throw MalformedRequest("has a chunk without a size") }
        return size
    }
}
