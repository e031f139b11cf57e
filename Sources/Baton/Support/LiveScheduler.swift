package import Dispatch
package import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// The scheduler that is used outside tests: Dispatch threads, a monotonic clock, one Dispatch timer over a heap.
package final class LiveScheduler: Scheduler {
    /// The one that clients share.
    package static let shared = LiveScheduler()

    private struct Timers {
        var heap = TimerHeap()
        var source: (any DispatchSourceTimer)?
        /// What the source is set to.
        var armed = Instant.distantFuture
    }

    private let pool = WorkerPool(size: max(2, ProcessInfo.processInfo.activeProcessorCount))
    private let timers = LockBox(Timers())
    private let timerQueue = DispatchQueue(label: "baton.timer", qos: .userInitiated)

    package init() {}

    package var now: Instant {
        #if canImport(Darwin)
            // Counts while the device sleeps, unlike the uptime clock.
            let clock = CLOCK_MONOTONIC
        #else
            let clock = CLOCK_BOOTTIME
        #endif
        var time = timespec()
        clock_gettime(clock, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    package var date: Date { Date() }

    package func random() -> UInt64 { .random(in: 0 ... .max) }

    package func post(_ job: any Job, _ signal: Signal) {
        let loop = ThreadLoop.current
        if loop.isInUserCode { return pool.submit(Work(job, signal)) }
        loop.append(Work(job, signal))
        if !loop.isDraining { loop.drainElsewhere(pool: pool) }
    }

    package func postShared(_ job: any Job, _ signal: Signal) {
        let loop = ThreadLoop.current
        // Beneath a piece of a task, which stands on this stack, no user work may run.
        if loop.isInUserCode || loop.isDraining || loop.aroundTask != nil { return post(job, signal) }
        loop.append(Work(job, signal))
        loop.drainShared(pool: pool)
    }

    package func execute(_ job: any Job, _ signal: Signal) {
        let loop = ThreadLoop.current
        if loop.isInUserCode || !loop.isDraining { return pool.submit(Work(job, signal)) }
        if !loop.isWorker {
            loop.outgoing.append(Work(job, signal))
        } else if loop.next == nil {
            loop.next = Work(job, signal)
        } else {
            pool.submit(Work(job, signal))
        }
    }

    package func handOver() {
        pool.submit(ThreadLoop.current.takeAll())
    }

    package func deliver(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        queue.async(execute: body)
    }

    package func startTask(
        _ name: String, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            return Task.detached(executorPreference: self, operation: body)
        }
        return Task.detached(operation: body)
    }

    package func beginWait() {}
    package func endWait() {}

    package func schedule(_ job: any Job, _ signal: Signal, at instant: Instant) -> TimerHandle {
        timers.withLock { timers in
            let handle = timers.heap.insert(Work(job, signal), at: instant)
            if instant < timers.armed { arm(&timers, at: instant) }
            return handle
        }
    }

    package func cancel(_ timer: TimerHandle) {
        let work = timers.withLock { timers in
            let work = timers.heap.remove(timer)
            // The source stays armed for the earliest time there was: one idle wake-up is cheaper than re-arming.
            return work
        }
        withExtendedLifetime(work) {}
    }

    package var timedJobs: [any Job] { timers.withLock { $0.heap.jobs } }

    private func arm(_ timers: inout Timers, at instant: Instant) {
        let source: any DispatchSourceTimer
        if let existing = timers.source {
            source = existing
        } else {
            source = DispatchSource.makeTimerSource(queue: timerQueue)
            source.setEventHandler { [unowned self] in fire() }
            source.activate()
            timers.source = source
        }
        timers.armed = instant
        let wait = max(0, instant.nanoseconds - now.nanoseconds)
        source.schedule(deadline: .now() + .nanoseconds(Int(clamping: wait)), leeway: .microseconds(100))
    }

    private func fire() {
        let now = now
        timers.withLock { $0.armed = .distantFuture }
        while let work = timers.withLock({ $0.heap.popDue(at: now) }) { post(work.job, work.signal) }
        timers.withLock { timers in
            if let earliest = timers.heap.earliest, earliest < timers.armed { arm(&timers, at: earliest) }
        }
    }
}

/// Swift tasks are user work of the workers, where the system lets tasks be given an executor: what one waits for mostly
/// comes about on a worker, and the task goes on there without a trip through Dispatch.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension LiveScheduler: TaskExecutor, Job {
    package func enqueue(_ job: consuming ExecutorJob) {
        // A job is one pointer, and is run once; as a number it needs no object to carry it.
        execute(self, Signal(kind: 0, token: UInt64(unsafeBitCast(UnownedJob(job), to: UInt.self))))
    }

    /// Runs a task's job.
    package func run(_ signal: Signal) {
        let job = unsafeBitCast(UInt(signal.token), to: UnownedJob.self)
        UserCode.runPiece(self) { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
