/// An array of plain values in memory of its own, for values that change many times between two allocations.
///
/// An access checks neither bounds (outside debug builds) nor whether the memory is shared, which is most of what an
/// array access costs here. So a copy is the same store: what is made of stores has one owner and is not copied.
struct RawStore<Element: BitwiseCopyable> {
    private final class Memory {
        let base: UnsafeMutablePointer<Element>
        init(capacity: Int) { base = .allocate(capacity: capacity) }
        deinit { base.deallocate() }
    }

    private var memory: Memory
    private var base: UnsafeMutablePointer<Element>
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int = 16) {
        self.capacity = max(1, capacity)
        memory = Memory(capacity: self.capacity)
        base = memory.base
    }

    init(repeating element: Element, count: Int) {
        self.init(capacity: count)
        base.initialize(repeating: element, count: count)
        self.count = count
    }

    /// Whether nobody else has a copy.
    var isUnshared: Bool { mutating get { isKnownUniquelyReferenced(&memory) } }

    @inline(__always)
    subscript(index: Int) -> Element {
        get {
            assert(index >= 0 && index < count)
            return base[index]
        }
        _modify {
            assert(index >= 0 && index < count)
            yield &base[index]
        }
    }

    @inline(__always)
    subscript(index: Int32) -> Element {
        get { self[Int(index)] }
        _modify { yield &self[Int(index)] }
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { grow() }
        (base + count).initialize(to: element)
        count += 1
    }

    @inline(__always)
    mutating func popLast() -> Element? {
        if count == 0 { return nil }
        count -= 1
        return base[count]
    }

    private mutating func grow() {
        let larger = Memory(capacity: capacity * 2)
        larger.base.moveInitialize(from: base, count: count)
        memory = larger
        base = larger.base
        capacity *= 2
    }
}

/// Values at stable indices; a freed index is used again. Insertion and removal are O(1).
struct Slab<Element: BitwiseCopyable> {
    private var elements = RawStore<Element>()
    private var free = RawStore<Int32>()

    /// How many indices were ever handed out.
    var capacity: Int { elements.count }
    var isUnshared: Bool { mutating get { elements.isUnshared } }

    @inline(__always)
    subscript(index: Int32) -> Element {
        get { elements[index] }
        _modify { yield &elements[index] }
    }

    @inline(__always)
    mutating func insert(_ element: Element) -> Int32 {
        if let index = reclaim() {
            elements[index] = element
            return index
        }
        elements.append(element)
        return Int32(elements.count - 1)
    }

    /// A freed index with what it held last; nil when none is free.
    @inline(__always)
    mutating func reclaim() -> Int32? { free.popLast() }

    @inline(__always)
    mutating func remove(_ index: Int32) { free.append(index) }
}
