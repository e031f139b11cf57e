package import Baton
package import Dispatch
package import Foundation

/// The scheduler under test: everything the library does is a job in its list, and time is a number that it moves.
///
/// One thread works the list off. With a seed, a generator chooses among the jobs that could run, so each seed is
/// another interleaving and the same seed is the same one. Time moves only when nothing can run and nobody is busy.
package final class VirtualScheduler: TimerKeeper {
    /// Something that can run now.
    enum Item: Sendable {
        case work(Work)
        case task(UnownedJob)
        /// The next completion of a caller's queue; those of one queue keep their order.
        case delivery(ObjectIdentifier)
    }

    struct State {
        var runnable: [Item] = []
        var now = Instant(nanoseconds: 0)
        var timers = TimerHeap()
        var deliveries: [ObjectIdentifier: [@Sendable () -> Void]] = [:]
        var generator: SeededGenerator
        var choosesBySeed: Bool
        var tasks: [UInt64: BusyTask] = [:]
        /// What `advance` and its kin wait for.
        var requests: [ClockRequest] = []
        var choices: UInt64 = 0xcbf2_9ce4_8422_2325
        var jobs = 0
        var isOver = false
    }

    /// A task that the library started, and how many library waits it is in.
    struct BusyTask: Sendable {
        var name: String
        var waits = 0
    }

    let state: LockBox<State>
    /// Signalled whenever something becomes runnable while the driver waits for real.
    let wakeUp = DispatchSemaphore(value: 0)
    private let start = Date(timeIntervalSince1970: 1_900_000_000)

    /// - Parameter seed: which interleaving; nil runs jobs in the order in which they came up.
    package init(seed: UInt64?) {
        state = LockBox(
            State(generator: SeededGenerator(seed: seed ?? 0), choosesBySeed: seed != nil))
    }

    package var now: Instant { state.withLock { $0.now } }
    package var date: Date { start.addingTimeInterval(Double(now.nanoseconds) / 1e9) }
    package func random() -> UInt64 { state.withLock { $0.generator.next() } }

    package func post(_ job: any Job, _ signal: Signal) { add(.work(Work(job, signal))) }
    package func execute(_ job: any Job, _ signal: Signal) { add(.work(Work(job, signal))) }
    package func handOver() {}

    package func deliver(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        let id = ObjectIdentifier(queue)
        // On that very queue, since completions may rely on it, those on the main actor above all.
        let delivery: @Sendable () -> Void = { queue.sync(execute: body) }
        state.withLock { $0.deliveries[id, default: []].append(delivery) }
        add(.delivery(id))
    }

    package func schedule(_ job: any Job, _ signal: Signal, at instant: Instant) -> TimerHandle {
        state.withLock { $0.timers.insert(Work(job, signal), at: instant) }
    }

    package func cancel(_ timer: TimerHandle) {
        let work = state.withLock { $0.timers.remove(timer) }
        withExtendedLifetime(work) {}
    }

    func add(_ item: Item) {
        // Held here: what is added may be the end of the test, and of this scheduler, before the signal is given.
        let wakeUp = wakeUp
        state.withLock { $0.runnable.append(item) }
        wakeUp.signal()
    }

    package var timedJobs: [any Job] { state.withLock { $0.timers.jobs } }

    /// How many timers are set.
    package var timerCount: Int { state.withLock { $0.timers.count } }

    // MARK: Tasks

    /// The library's task that the code is part of; child tasks count with their parent.
    @TaskLocal static var currentTask: UInt64?

    package func startTask(
        _ name: String, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never> {
        let id = Numbering.next()
        state.withLock { $0.tasks[id] = BusyTask(name: name) }
        return onExecutor { [self] in
            await Self.$currentTask.withValue(id) { await body() }
            state.withLock { $0.tasks[id] = nil }
            wakeUp.signal()
        }
    }

    private func onExecutor(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
            return Task(executorPreference: self, operation: body)
        }
        return Task.detached(operation: body)
    }

    package func beginWait() {
        guard let id = Self.currentTask else { return }
        state.withLock { $0.tasks[id]?.waits += 1 }
        wakeUp.signal()
    }

    package func endWait() {
        guard let id = Self.currentTask else { return }
        state.withLock { $0.tasks[id]?.waits -= 1 }
    }
}

/// Swift tasks are jobs of the scheduler too, where the system lets tasks be given an executor.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension VirtualScheduler: TaskExecutor {
    package func enqueue(_ job: consuming ExecutorJob) {
        add(.task(UnownedJob(job)))
    }
}

extension VirtualScheduler {
    /// Runs a job of the list on this thread.
    func perform(_ item: Item) {
        switch item {
        case .work(let work): work.job.run(work.signal)
        case .delivery(let queue):
            let body = state.withLock { $0.deliveries[queue]?.removeFirst() }
            body?()
        case .task(let job):
            if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }
}

/// SplitMix64: small, fast, and the same on every platform.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
