/// Numbers that are unique in the process; cheaper than UUIDs, and in the order in which they were drawn.
package enum Numbering {
    private static let counter = LockBox<UInt64>(0)

    package static func next() -> UInt64 {
        counter.withLock { counter in
            counter += 1
            return counter
        }
    }
}
