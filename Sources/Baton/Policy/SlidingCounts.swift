/// Two counts over a sliding window that is cut into slots of equal length; the oldest slot falls out as a whole.
///
/// The memory is fixed: one slot more than the window has, so that what lies up to a whole window back is still known
/// wherever in its slot it lies. An instant that is earlier than one that was seen counts as the latter.
package struct SlidingCounts: Sendable, Equatable {
    /// What was counted: requests and retries, or successes and failures.
    package struct Counts: Sendable, Equatable {
        package var first = 0
        package var second = 0
    }

    package let slotCount: Int
    private let slotLength: Int64
    private var slots: [Counts]
    /// The number of the newest slot on the time line.
    private var newest = Int64.min
    /// Where the newest slot is, and when it ends.
    private var newestPlace = 0
    private var newestEnd = Int64.min

    /// - Parameters:
    ///   - window: the length of the whole window; at least a nanosecond a slot is taken.
    ///   - slotCount: how many slots the window has.
    package init(window: Duration, slotCount: Int = 10) {
        self.slotCount = max(1, slotCount)
        slotLength = max(1, window.clampedNanoseconds / Int64(self.slotCount))
        slots = Array(repeating: Counts(), count: self.slotCount + 1)
    }

    /// Counts in the slot of `instant`.
    package mutating func add(first: Int = 0, second: Int = 0, at instant: Instant) {
        if instant.nanoseconds >= newestEnd { move(to: instant) }
        slots[newestPlace].first += first
        slots[newestPlace].second += second
    }

    /// What was counted in the newest slots up to `instant`. As many slots as the window has reach back at least
    /// nine tenths of it and at most the whole; one more reaches back at least the whole.
    package mutating func sum(ofSlots count: Int? = nil, at instant: Instant) -> Counts {
        move(to: instant)
        var sum = Counts()
        for back in 0..<min(count ?? slotCount, slots.count) {
            let slot = slots[place(of: newest &- Int64(back))]
            sum.first += slot.first
            sum.second += slot.second
        }
        return sum
    }

    /// Forgets everything.
    package mutating func removeAll() {
        for index in slots.indices { slots[index] = Counts() }
    }

    private mutating func move(to instant: Instant) {
        let slot = instant.nanoseconds / slotLength - (instant.nanoseconds < 0 ? 1 : 0)
        guard slot > newest else { return }
        let (steps, overflow) = slot.subtractingReportingOverflow(newest)
        if overflow || steps >= Int64(slots.count) {
            removeAll()
        } else {
            for step in 1...steps { slots[place(of: newest + step)] = Counts() }
        }
        newest = slot
        newestPlace = place(of: slot)
        let (end, isFar) = slot.multipliedReportingOverflow(by: slotLength)
        newestEnd = isFar ? .max : end.addingReportingOverflow(slotLength).overflow ? .max : end + slotLength
    }

    private func place(of slot: Int64) -> Int {
        let count = Int64(slots.count)
        return Int(((slot % count) + count) % count)
    }
}
