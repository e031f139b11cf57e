import Baton
import Dispatch
import Foundation

/// A scheduler that does everything on the one thread that drains it, in order; time does not pass.
final class HandScheduler: Scheduler {
    /// What the test's own thread has to do.
    private struct Entry: Sendable {
        let body: @Sendable () -> Void
    }

    private let entries = LockBox<(list: [Entry], head: Int)>(([], 0))
    private let timers = LockBox(TimerHeap())

    let now = Instant(nanoseconds: 0)
    let date = Date(timeIntervalSince1970: 0)

    func random() -> UInt64 { 0 }

    private func add(_ body: @escaping @Sendable () -> Void) {
        entries.withLock { $0.list.append(Entry(body: body)) }
    }

    func post(_ job: any Job, _ signal: Signal) { add { job.run(signal) } }
    func execute(_ job: any Job, _ signal: Signal) { add { job.run(signal) } }
    func handOver() {}
    func deliver(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) { add(body) }
    func beginWait() {}
    func endWait() {}

    func startTask(_ name: String, _ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        Task(operation: body)
    }

    func schedule(_ job: any Job, _ signal: Signal, at instant: Instant) -> TimerHandle {
        timers.withLock { $0.insert(Work(job, signal), at: instant) }
    }

    func cancel(_ timer: TimerHandle) {
        let work = timers.withLock { $0.remove(timer) }
        withExtendedLifetime(work) {}
    }

    /// How many timers are set.
    var timerCount: Int { timers.withLock { $0.count } }

    /// Does everything that there is to do, and what comes of it.
    func drain() {
        while true {
            let next: Entry? = entries.withLock { entries in
                guard entries.head < entries.list.count else {
                    entries = ([], 0)
                    return nil
                }
                entries.head += 1
                let next = entries.list[entries.head - 1]
                if entries.head >= 1_024 {
                    entries.list.removeSubrange(..<entries.head)
                    entries.head = 0
                }
                return next
            }
            guard let next else { return }
            next.body()
        }
    }
}
