#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A job and what it is to be told.
package struct Work: Sendable {
    package var job: any Job
    package var signal: Signal

    package init(_ job: any Job, _ signal: Signal) {
        self.job = job
        self.signal = signal
    }
}

/// What one thread has to do: the ring of engine work that is ready on it, and user work to be handed on.
///
/// Each thread has one, and only that thread touches it, so nothing here is locked. Whoever posts while the ring is
/// being drained only appends to it: inline completions are found without atomics and never recurse.
final class ThreadLoop {
    /// Whether the ring is being drained further up on this thread's stack.
    var isDraining = false
    /// Whether a closure that is not ours is being called, and may be waiting for something.
    var isInUserCode = false
    /// Whether the thread is a worker, where user code may run.
    var isWorker = false
    /// What the first and the last of these were around the piece of a Swift task that is being run; nil without one.
    var aroundTask: (isDraining: Bool, isWorker: Bool)?
    /// User work for this worker to go on with, without a trip through the pool.
    var next: Work?
    /// User work that came up on a thread where it may not run.
    var outgoing: [Work] = []
    /// Whether plans are being released further up on the stack; see `ReleaseList`.
    var releasing: [AnyObject]?

    /// What is taken out leaves a hole behind, so that it is moved rather than copied; holes at the end are filled again.
    @exclusivity(unchecked)
    private var ring: [Work?] = []
    @exclusivity(unchecked)
    private var head = 0
    /// One past the last in the ring.
    @exclusivity(unchecked)
    private var tail = 0

    var isEmpty: Bool { head == tail }

    func append(_ work: consuming Work) {
        if tail < ring.count { ring[tail] = work } else { ring.append(work) }
        tail += 1
    }

    func popFirst() -> Work? {
        guard head < tail else { return nil }
        let work = ring[head].take()
        head += 1
        if head == tail {
            empty()
        } else if head >= 1_024 {
            ring.removeSubrange(..<head)
            (head, tail) = (0, tail - head)
        }
        return work
    }

    /// The room of a crowd is not kept.
    private func empty() {
        (head, tail) = (0, 0)
        if ring.count > 4_096 { ring = [] }
    }

    /// Everything that waits, engine work before user work, for another thread to take over.
    func takeAll() -> [Work] {
        // Mostly nothing does.
        if isEmpty, next == nil, outgoing.isEmpty { return [] }
        var all = ring[head..<tail].compactMap { $0 }
        ring.removeAll(keepingCapacity: ring.count <= 4_096)
        (head, tail) = (0, 0)
        if let next { all.append(next) }
        next = nil
        all += outgoing
        outgoing.removeAll(keepingCapacity: true)
        return all
    }

    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key) { pointer in
            #if canImport(Darwin)
                Unmanaged<ThreadLoop>.fromOpaque(pointer).release()
            #else
                if let pointer { Unmanaged<ThreadLoop>.fromOpaque(pointer).release() }
            #endif
        }
        return key
    }()

    /// The loop of the calling thread.
    static var current: ThreadLoop {
        if let pointer = pthread_getspecific(key) {
            return Unmanaged<ThreadLoop>.fromOpaque(pointer).takeUnretainedValue()
        }
        let loop = ThreadLoop()
        pthread_setspecific(key, Unmanaged.passRetained(loop).toOpaque())
        return loop
    }
}

/// Releases long and deeply nested values without recursion.
///
/// An object that may hold others of its kind hands over what it holds from its `deinit`. What comes up while that
/// is released on the same thread joins the list instead of the stack.
package enum ReleaseList {
    /// - Parameter take: moves what is to be released into an object of its own, whose only reference the list gets.
    package static func release(_ take: () -> AnyObject) {
        let loop = ThreadLoop.current
        guard loop.releasing == nil else {
            loop.releasing!.append(take())
            return
        }
        loop.releasing = [take()]
        while let last = loop.releasing!.popLast() { withExtendedLifetime(last) {} }
        loop.releasing = nil
    }
}

/// Marks the calls of closures that are not ours.
package enum UserCode {
    /// Calls `body`, which may block: whatever else this thread had to do is handed to other threads first.
    @inline(__always)
    static func call<Result>(_ scheduler: any Scheduler, _ body: () throws -> Result) rethrows -> Result {
        try call(scheduler, ThreadLoop.current, body)
    }

    /// - Parameter loop: that of the calling thread.
    @inline(__always)
    static func call<Result>(
        _ scheduler: any Scheduler, _ loop: ThreadLoop, _ body: () throws -> Result
    ) rethrows -> Result {
        if !loop.isEmpty || loop.next != nil { scheduler.handOver() }
        let wasInUserCode = loop.isInUserCode
        loop.isInUserCode = true
        defer { loop.isInUserCode = wasInUserCode }
        return try body()
    }

    /// Runs a piece of a Swift task, up to where it waits or ends. What is posted meanwhile is done within the post, and
    /// user work goes to other threads: nothing is left for when the piece returns, because it may block.
    static func runPiece(_ scheduler: any Scheduler, _ piece: () -> Void) {
        let loop = ThreadLoop.current
        if !loop.isEmpty || loop.next != nil { scheduler.handOver() }
        let (around, outer) = ((loop.isDraining, loop.isWorker), loop.aroundTask)
        loop.aroundTask = around
        (loop.isDraining, loop.isWorker) = (false, false)
        piece()
        loop.aroundTask = outer
        (loop.isDraining, loop.isWorker) = around
    }

    /// What a Swift task of ours does last, when all that is not ours is done: the loop around it goes on with what
    /// comes of it.
    static func end(_ body: () -> Void) {
        let loop = ThreadLoop.current
        guard let around = loop.aroundTask else { return body() }
        let own = (loop.isDraining, loop.isWorker)
        (loop.isDraining, loop.isWorker) = around
        body()
        (loop.isDraining, loop.isWorker) = own
    }
}
