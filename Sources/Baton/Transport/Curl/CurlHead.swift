#if os(Linux)
    internal import CBatonCurl

    /// Reads the head of a response from its bytes; strings are made only of names and values.
    enum CurlHead {
        static func parse(_ handle: UnsafeMutablePointer<baton_curl_handle>) -> HTTPResponseHead? {
            guard let base = handle.pointee.head else { return nil }
            return base.withMemoryRebound(to: UInt8.self, capacity: handle.pointee.head_length) { base in
                parse(UnsafeBufferPointer(start: base, count: handle.pointee.head_length))
            }
        }

        /// The head in these bytes: a status line and field lines, each ended by LF, with or without CR.
        static func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> HTTPResponseHead? {
            var position = 0
            guard let status = status(in: nextLine(bytes, &position)) else { return nil }
            var lines: [HTTPFields.Line] = []
            lines.reserveCapacity(12)
            while position < bytes.count {
                let line = nextLine(bytes, &position)
                guard let first = line.first else { continue }
                if first == .space || first == .tab {
                    // Obsolete folding (RFC 9112, 5.2): the line goes on.
                    if !lines.isEmpty { lines[lines.count - 1].value += " " + text(trimmed(line)) }
                    continue
                }
                guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { continue }
                lines.append(
                    HTTPFields.Line(
                        name: HTTPFieldName(text(trimmed(line[..<colon]))), value: text(trimmed(line[(colon + 1)...]))))
            }
            return HTTPResponseHead(status: status, fields: HTTPFields(lines))
        }

        private typealias Bytes = Slice<UnsafeBufferPointer<UInt8>>

        private static func nextLine(_ bytes: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Bytes {
            let start = position
            var end = start
            while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
            position = end + 1
            if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
            return bytes[start..<end]
        }

        /// The three digits after the version, as in `HTTP/1.1 200 OK` or `HTTP/2 200`.
        private static func status(in line: Bytes) -> Int? {
            guard let space = line.firstIndex(of: .space), line.endIndex - space >= 4 else { return nil }
            var status = 0
            for byte in line[(space + 1)..<(space + 4)] {
                guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
                status = status * 10 + Int(byte - UInt8(ascii: "0"))
            }
            return status
        }

        private static func trimmed(_ bytes: Bytes) -> Bytes {
            var (start, end) = (bytes.startIndex, bytes.endIndex)
            while start < end, bytes[start] == .space || bytes[start] == .tab { start += 1 }
            while end > start, bytes[end - 1] == .space || bytes[end - 1] == .tab { end -= 1 }
            return bytes[start..<end]
        }

        private static func text(_ bytes: Bytes) -> String {
            String(decoding: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self)
        }
    }

    extension UInt8 {
        fileprivate static let space = UInt8(ascii: " ")
        fileprivate static let tab = UInt8(ascii: "\t")
    }
#endif
