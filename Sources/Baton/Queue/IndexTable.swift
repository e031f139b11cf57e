/// A hash table from keys that a slab holds to their indices. It knows hashes only; the caller compares keys.
///
/// All operations are O(1) on average. The keys are numbers that the library makes itself, so a fixed hash is
/// enough, and a dictionary's seeded one would cost more than all else that a waiting request costs.
struct IndexTable {
    private struct Entry {
        var hash: UInt32 = 0
        var next: Int32 = -1
    }

    private var buckets = RawStore<Int32>(repeating: -1, count: 16)
    private var entries = RawStore<Entry>()
    private var count = 0

    /// A hash of two numbers.
    @inline(__always)
    static func hash(_ a: UInt64, _ b: UInt64) -> UInt32 {
        var mixed = (a &+ b &* 0x9E37_79B9_7F4A_7C15) &* 0xBF58_476D_1CE4_E5B9
        mixed ^= mixed >> 32
        mixed = mixed &* 0x94D0_49BB_1331_11EB
        return UInt32(truncatingIfNeeded: mixed >> 32)
    }

    /// The index with this hash for which `matches` holds, or -1.
    @inline(__always)
    func find(_ hash: UInt32, _ matches: (Int32) -> Bool) -> Int32 {
        var index = buckets[bucket(of: hash)]
        while index >= 0 {
            let entry = entries[Int(index)]
            if entry.hash == hash, matches(index) { return index }
            index = entry.next
        }
        return -1
    }

    /// Adds an index that is not there yet, at most one beyond those that were ever added.
    mutating func insert(_ index: Int32, hash: UInt32) {
        if Int(index) == entries.count { entries.append(Entry()) }
        if count == buckets.count { grow() }
        count += 1
        link(index, hash: hash)
    }

    /// Removes an index that is there.
    mutating func remove(_ index: Int32) {
        let entry = entries[Int(index)]
        let bucket = bucket(of: entry.hash)
        count -= 1
        var previous = buckets[bucket]
        if previous == index {
            buckets[bucket] = entry.next
            return
        }
        while entries[Int(previous)].next != index { previous = entries[Int(previous)].next }
        entries[Int(previous)].next = entry.next
    }

    @inline(__always)
    private func bucket(of hash: UInt32) -> Int { Int(hash) & (buckets.count - 1) }

    @inline(__always)
    private mutating func link(_ index: Int32, hash: UInt32) {
        let bucket = bucket(of: hash)
        entries[Int(index)] = Entry(hash: hash, next: buckets[bucket])
        buckets[bucket] = index
    }

    private mutating func grow() {
        let old = buckets
        buckets = .init(repeating: -1, count: old.count * 2)
        for bucket in 0..<old.count {
            var index = old[bucket]
            while index >= 0 {
                let entry = entries[Int(index)]
                link(index, hash: entry.hash)
                index = entry.next
            }
        }
    }
}
