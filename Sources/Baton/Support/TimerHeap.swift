/// Timers in the order in which they are due: a binary heap over slots that can be taken back by handle.
///
/// Setting and cancelling cost O(log n). A cancelled timer is gone at once, with the job that it kept.
package struct TimerHeap {
    private struct Slot {
        var work: Work?
        var instant = Instant.distantFuture
        var order: UInt64 = 0
        var generation: UInt32 = 0
        var position: Int32 = -1
    }

    private var slots: ContiguousArray<Slot> = []
    private var free: ContiguousArray<Int32> = []
    private var heap: ContiguousArray<Int32> = []
    private var inserted: UInt64 = 0

    package init() {}

    package var count: Int { heap.count }

    /// The jobs that the timers keep.
    package var jobs: [any Job] { heap.compactMap { slots[Int($0)].work?.job } }

    /// When the next timer is due; nil when there is none.
    package var earliest: Instant? {
        heap.first.map { slots[Int($0)].instant }
    }

    package mutating func insert(_ work: Work, at instant: Instant) -> TimerHandle {
        let slot: Int32
        if let reused = free.popLast() {
            slot = reused
        } else {
            slot = Int32(slots.count)
            slots.append(Slot())
        }
        inserted += 1
        slots[Int(slot)].work = work
        slots[Int(slot)].instant = instant
        slots[Int(slot)].order = inserted
        slots[Int(slot)].position = Int32(heap.count)
        heap.append(slot)
        siftUp(heap.count - 1)
        return TimerHandle(slot: slot, generation: slots[Int(slot)].generation)
    }

    /// Takes a timer back. The work is returned, so that it is released after the lock; nil when it is gone already.
    package mutating func remove(_ handle: TimerHandle) -> Work? {
        let slot = Int(handle.slot)
        guard slot < slots.count, slots[slot].generation == handle.generation, slots[slot].position >= 0 else {
            return nil
        }
        return remove(at: Int(slots[slot].position))
    }

    /// The next timer that is due at `now`, those of one instant in the order in which they were set.
    package mutating func popDue(at now: Instant) -> Work? {
        guard let first = heap.first, slots[Int(first)].instant <= now else { return nil }
        return remove(at: 0)
    }

    private mutating func remove(at position: Int) -> Work? {
        let slot = heap[position]
        let last = heap.removeLast()
        if position < heap.count {
            place(last, at: position)
            siftDown(position)
            siftUp(Int(slots[Int(last)].position))
        }
        let work = slots[Int(slot)].work
        slots[Int(slot)].work = nil
        slots[Int(slot)].position = -1
        slots[Int(slot)].generation &+= 1
        free.append(slot)
        return work
    }

    private func isBefore(_ a: Int32, _ b: Int32) -> Bool {
        let (x, y) = (slots[Int(a)].instant, slots[Int(b)].instant)
        return x != y ? x < y : slots[Int(a)].order < slots[Int(b)].order
    }

    private mutating func place(_ slot: Int32, at position: Int) {
        heap[position] = slot
        slots[Int(slot)].position = Int32(position)
    }

    private mutating func siftUp(_ start: Int) {
        var position = start
        let slot = heap[position]
        while position > 0 {
            let parent = (position - 1) / 2
            guard isBefore(slot, heap[parent]) else { break }
            place(heap[parent], at: position)
            position = parent
        }
        place(slot, at: position)
    }

    private mutating func siftDown(_ start: Int) {
        var position = start
        let slot = heap[position]
        while true {
            var child = 2 * position + 1
            guard child < heap.count else { break }
            if child + 1 < heap.count, isBefore(heap[child + 1], heap[child]) { child += 1 }
            guard isBefore(heap[child], slot) else { break }
            place(heap[child], at: position)
            position = child
        }
        place(slot, at: position)
    }
}
