internal import Foundation

/// Cuts bytes into lines that end with LF, CR LF or CR, wherever the bytes were cut before.
struct LineSplitter {
    private var line: [UInt8] = []
    /// The last byte was a CR: an LF that follows belongs to it.
    private var followsCR = false
    private let maxLength: Int

    /// - Parameter maxLength: how many bytes a line may have.
    init(maxLength: Int) { self.maxLength = maxLength }

    /// The lines that these bytes complete, without their ends.
    mutating func split(_ bytes: Data) throws(BatonError) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        var isTooLong = false
        bytes.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) in
            var start = 0
            for index in 0..<bytes.count {
                let byte = bytes[index]
                if byte == UInt8(ascii: "\n"), followsCR, index == start {
                    followsCR = false
                    start = index + 1
                    continue
                }
                if index == start { followsCR = false }
                guard byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") else { continue }
                line.append(contentsOf: bytes[start..<index])
                if line.count > maxLength { isTooLong = true }
                lines.append(line)
                line = []
                start = index + 1
                followsCR = byte == UInt8(ascii: "\r")
            }
            if start < bytes.count { line.append(contentsOf: bytes[start...]) }
        }
        if isTooLong || line.count > maxLength {
            throw BatonError(.responseTooLarge, "a line of the response is longer than \(maxLength) bytes")
                .with(phase: .decode)
        }
        return lines
    }

    /// The last line, where it has no end; nil when there is none.
    mutating func finish() -> [UInt8]? {
        defer { line = [] }
        return line.isEmpty ? nil : line
    }
}
