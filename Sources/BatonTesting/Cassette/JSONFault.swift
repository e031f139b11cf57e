internal import Foundation

/// Finds where a text stops being JSON.
enum JSONFault {
    /// `line 3, column 7`, of the first byte that does not fit; the end when something is missing there.
    static func place(in data: Data) -> String {
        var scan = Scan(bytes: Array(data))
        _ = scan.document()
        let before = scan.bytes[..<min(scan.position, scan.bytes.count)]
        let line = before.count { $0 == 0x0A } + 1
        let column = before.count - (before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0) + 1
        return "line \(line), column \(column)"
    }

    /// A recogniser of RFC 8259. Its nesting is a list, not the stack.
    private struct Scan {
        let bytes: [UInt8]
        var position = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

        /// What may come next.
        private enum Expected { case value, valueOrEnd, keyOrEnd, key, commaOrEnd, nothing }

        /// Moves to the first fault; true when there is none.
        mutating func document() -> Bool {
            var open: [UInt8] = []
            var expected = Expected.value
            while true {
                while let byte, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
                guard let byte else { return expected == .nothing }
                switch (expected, byte) {
                case (.nothing, _): return false
                case (.valueOrEnd, UInt8(ascii: "]")), (.keyOrEnd, UInt8(ascii: "}")):
                    open.removeLast()
                    position += 1
                case (.commaOrEnd, UInt8(ascii: ",")):
                    position += 1
                    expected = open.last == UInt8(ascii: "{") ? .key : .value
                    continue
                case (.commaOrEnd, UInt8(ascii: "]")) where open.last == UInt8(ascii: "["),
                    (.commaOrEnd, UInt8(ascii: "}")) where open.last == UInt8(ascii: "{"):
                    open.removeLast()
                    position += 1
                case (.commaOrEnd, _): return false
                case (.keyOrEnd, UInt8(ascii: "\"")), (.key, UInt8(ascii: "\"")):
                    guard string(), colon() else { return false }
                    expected = .value
                    continue
                case (.keyOrEnd, _), (.key, _): return false
                case (_, UInt8(ascii: "{")), (_, UInt8(ascii: "[")):
                    open.append(byte)
                    position += 1
                    expected = byte == UInt8(ascii: "{") ? .keyOrEnd : .valueOrEnd
                    continue
                case (_, UInt8(ascii: "\"")): guard string() else { return false }
                default: guard scalar() else { return false }
                }
                expected = open.isEmpty ? .nothing : .commaOrEnd
            }
        }

        private mutating func colon() -> Bool {
            while let byte, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
            guard byte == UInt8(ascii: ":") else { return false }
            position += 1
            return true
        }

        private mutating func string() -> Bool {
            position += 1
            while let byte, byte >= 0x20 {
                position += 1
                if byte == UInt8(ascii: "\"") { return true }
                if byte == UInt8(ascii: "\\") {
                    guard let escaped = self.byte, "\"\\/bfnrtu".utf8.contains(escaped) else { return false }
                    position += 1
                }
            }
            return false
        }

        private mutating func scalar() -> Bool {
            for word in ["true", "false", "null"] where bytes[position...].starts(with: word.utf8) {
                position += word.utf8.count
                return true
            }
            let start = position
            while let byte, byte &- 48 < 10 || "+-.eE".utf8.contains(byte) { position += 1 }
            guard position > start, Double(String(decoding: bytes[start..<position], as: UTF8.self)) != nil else {
                position = start
                return false
            }
            return true
        }
    }
}
