/// A doubly linked list of indices into a slab; the links live in an ``IndexLinks``. `-1` stands for none.
struct IndexList {
    var head: Int32 = -1
    var tail: Int32 = -1
    var count: Int32 = 0

    var isEmpty: Bool { head < 0 }
}

/// The links of all lists of one kind. An index is in at most one of them at a time; each operation is O(1).
struct IndexLinks {
    private struct Link {
        var previous: Int32 = -1
        var next: Int32 = -1
    }

    private var links = RawStore<Link>()

    /// Makes room for `index`, which is at most one beyond those that have room.
    @inline(__always)
    mutating func cover(_ index: Int32) {
        if Int(index) == links.count { links.append(Link()) }
    }

    @inline(__always)
    func next(after index: Int32) -> Int32 { links[Int(index)].next }

    @inline(__always)
    mutating func append(_ index: Int32, to list: inout IndexList) {
        links[Int(index)] = Link(previous: list.tail, next: -1)
        if list.tail >= 0 { links[Int(list.tail)].next = index } else { list.head = index }
        list.tail = index
        list.count &+= 1
    }

    @inline(__always)
    mutating func prepend(_ index: Int32, to list: inout IndexList) {
        links[Int(index)] = Link(previous: -1, next: list.head)
        if list.head >= 0 { links[Int(list.head)].previous = index } else { list.tail = index }
        list.head = index
        list.count &+= 1
    }

    /// Takes `index` out of `list`, which it must be in.
    @inline(__always)
    mutating func remove(_ index: Int32, from list: inout IndexList) {
        let link = links[Int(index)]
        if link.previous >= 0 { links[Int(link.previous)].next = link.next } else { list.head = link.next }
        if link.next >= 0 { links[Int(link.next)].previous = link.previous } else { list.tail = link.previous }
        list.count &-= 1
    }

    @inline(__always)
    mutating func moveToBack(_ index: Int32, of list: inout IndexList) {
        if list.tail == index { return }
        remove(index, from: &list)
        append(index, to: &list)
    }
}
