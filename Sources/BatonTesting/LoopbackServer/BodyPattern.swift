public import Foundation

extension LoopbackServer {
    /// A stretch of the body of ``Reply/pattern(length:status:fields:)``: the byte at offset n is n modulo 251.
    public static func pattern(_ range: Range<Int64>) -> Data {
        let period: Int64 = 251
        let start = Int(range.lowerBound % period)
        let count = Int(range.count)
        if start + count <= patternBlock.count { return patternBlock[start..<start + count] }
        var data = Data(capacity: count)
        var offset = start
        while data.count < count {
            let step = min(count - data.count, patternBlock.count - offset)
            data += patternBlock[offset..<offset + step]
            // The block is a whole number of periods long.
            offset = (offset + step) % patternBlock.count
        }
        return data
    }

    private static let patternBlock = Data((0..<251 * 512).map { UInt8($0 % 251) })

    /// The checksum of a discarded body: FNV-1a with 64 bits.
    public static func checksum(of data: Data) -> UInt64 {
        var checksum = Checksum()
        data.withUnsafeBytes { checksum.update($0) }
        return checksum.value
    }
}

struct Checksum {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        // Written with a pointer and an index, since this must be bearable without optimisation too.
        let pointer = start.assumingMemoryBound(to: UInt8.self)
        var hash = value
        var index = 0
        while index < bytes.count {
            hash = (hash ^ UInt64(pointer[index])) &* 0x100_0000_01B3
            index += 1
        }
        value = hash
    }
}
