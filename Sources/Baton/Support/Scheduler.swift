package import Dispatch
package import Foundation

/// Runs all of the library's work and keeps all of its time; the live one is Dispatch, a test brings its own.
///
/// There are two kinds of work. *Engine work* is the library's own: short, never waiting, run wherever something
/// happened. *User work* calls closures that are not ours and may block; it never runs on a thread that others
/// need, such as a transport's.
package protocol Scheduler: AnyObject, Sendable {
    /// The monotonic time; it goes on while the device sleeps.
    var now: Instant { get }
    /// The wall clock, for dates that are shown or sent, never for durations.
    var date: Date { get }

    /// Random bits, for jitter; a test's scheduler draws them from its seed.
    func random() -> UInt64

    /// Engine work. It runs on this thread as soon as the work that is going on there returns, so inline
    /// completions do not recurse.
    func post(_ job: any Job, _ signal: Signal)
    /// Engine work that comes from outside on a thread that may be kept: user work that it gives rise to may run there.
    func postShared(_ job: any Job, _ signal: Signal)
    /// User work. It runs on a thread where it may block.
    func execute(_ job: any Job, _ signal: Signal)
    /// Gives what this thread still has to do to other threads, before a closure that may block is called here.
    func handOver()
    /// A caller's completion, on the queue that the caller named.
    func deliver(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void)
    /// A Swift task, for closures that are asynchronous. `name` says whose they are, where a test has to name one. Where
    /// the engine goes on when theirs is done, that stands in ``UserCode/end(_:)``.
    func startTask(
        _ name: String, _ body: @escaping @Sendable () async -> Void
    ) -> Task<Void, Never>
    /// The task that calls this is about to wait for something that the scheduler's own work brings about.
    func beginWait()
    /// It goes on.
    func endWait()

    /// Posts `signal` to the job at `instant`. The job is kept until then, or until the timer is cancelled.
    func schedule(_ job: any Job, _ signal: Signal, at instant: Instant) -> TimerHandle
    /// Forgets the timer at once. One that fired already is ignored, so a signal may still be under way.
    func cancel(_ timer: TimerHandle)
}

extension Scheduler {
    package func postShared(_ job: any Job, _ signal: Signal) { post(job, signal) }

    /// Waits for something that the library brings about: time may move meanwhile.
    package func waiting<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async -> Result
    ) async -> Result {
        beginWait()
        defer { endWait() }
        return await body()
    }
}

/// Something that reacts to signals. All that the engine runs is one.
package protocol Job: AnyObject, Sendable {
    func run(_ signal: Signal)
}

/// What a job is told; each kind of job defines its own.
package struct Signal: Sendable, Equatable {
    /// Tells events of one use of a job from those of the next.
    package var token: UInt64
    /// A small number that goes with the event, such as a lane or a host.
    package var value: Int32
    package var kind: UInt8

    package init(kind: UInt8, token: UInt64 = 0, value: Int32 = 0) {
        self.kind = kind
        self.token = token
        self.value = value
    }
}

/// Names one timer of a scheduler; it says nothing any more once the timer has fired or was cancelled.
package struct TimerHandle: Sendable, Equatable {
    package var slot: Int32
    package var generation: UInt32

    package init(slot: Int32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }
}
