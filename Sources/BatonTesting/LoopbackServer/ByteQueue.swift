/// Bytes that come in at one end and leave at the other.
struct ByteQueue {
    private var storage: [UInt8] = []
    private var start = 0

    var count: Int { storage.count - start }
    var isEmpty: Bool { storage.count == start }

    subscript(offset: Int) -> UInt8 { storage[start + offset] }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if start == storage.count {
            storage.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 65_536 {
            storage.removeSubrange(..<start)
            start = 0
        }
        storage.append(contentsOf: bytes)
    }

    /// Forgets the first bytes.
    mutating func drop(_ count: Int) {
        start += min(count, self.count)
    }

    /// Takes the first bytes out.
    mutating func take(_ count: Int) -> [UInt8] {
        let end = start + min(count, self.count)
        defer { start = end }
        return Array(storage[start..<end])
    }

    /// Looks at the first bytes without a copy.
    func withFirst<Result>(_ count: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        storage.withUnsafeBytes { bytes in
            body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + min(count, self.count)]))
        }
    }

    /// The offset of the first carriage return that a line feed follows, looked for from `offset` on.
    func firstLineEnd(from offset: Int) -> Int? {
        var index = start + offset
        let last = storage.count - 1
        while index < last {
            if storage[index] == 0x0D && storage[index + 1] == 0x0A { return index - start }
            index += 1
        }
        return nil
    }
}
