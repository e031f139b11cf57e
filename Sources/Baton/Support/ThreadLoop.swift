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
    /// User work for this worker to go on with, without a trip through the pool.
    var next: Work?
    /// User work that came up on a thread where it may not run.
    var outgoing: [Work] = []
    /// Whether plans are being released further up on the stack; see `ReleaseList`.
    var releasing: [AnyObject]?

    /// What is taken out leaves a hole behind, so that it is moved rather than copied.
    @exclusivity(unchecked)
    private var ring: [Work?] = []
    @exclusivity(unchecked)
    private var head = 0

    var isEmpty: Bool { head == ring.count }

    func append(_ work: Work) {
        ring.append(work)
    }

    func popFirst() -> Work? {
        guard head < ring.count else { return nil }
        let work = ring[head].take()
        head += 1
        if head == ring.count {
            ring.removeAll(keepingCapacity: ring.capacity <= 4_096)
            head = 0
        } else if head >= 1_024 {
            ring.removeSubrange(..<head)
            head = 0
        }
        return work
    }

    /// Everything that waits, engine work before user work, for another thread to take over.
    func takeAll() -> [Work] {
        var all = ring[head...].compactMap { $0 }
        ring.removeAll(keepingCapacity: true)
        head = 0
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
}
