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

    /// Engine work. It runs on this thread as soon as the work that is going on there returns, so inline
    /// completions do not recurse.
    func post(_ job: any Job, _ signal: Signal)
    /// User work. It runs on a thread where it may block.
    func execute(_ job: any Job, _ signal: Signal)
    /// A caller's completion, on the queue that the caller named.
    func deliver(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void)
    /// A Swift task, for closures that are asynchronous.
    func startTask(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never>

    /// Posts the timer's job when the time has come; a timer that is set already is moved.
    func set(_ timer: TimerEntry, at instant: Instant)
    /// The timer will not fire, unless its signal is under way already.
    func cancel(_ timer: TimerEntry)
}

/// Something that reacts to signals. All that the engine runs is one.
package protocol Job: AnyObject, Sendable {
    func run(_ signal: Signal)
}

/// What a job is told; each kind of job defines its own.
package struct Signal: Sendable, Equatable {
    package var kind: UInt8
    /// Tells events of one use of a job from those of the next.
    package var token: UInt64

    package init(kind: UInt8, token: UInt64 = 0) {
        self.kind = kind
        self.token = token
    }
}

/// A place on a scheduler's timer heap. Its owner sets it, moves it and cancels it as often as it likes.
package final class TimerEntry: Sendable {
    package struct State: Sendable {
        /// Where the entry stands in the heap; negative when it stands nowhere. Only the scheduler touches it.
        package var position = -1
        package var instant = Instant.distantFuture
    }
    package let state = LockBox(State())
    package let signal: Signal
    /// What is told; weak, so that a timer keeps nothing alive.
    private let target: LockBox<WeakJob>

    private struct WeakJob {
        weak var job: (any Job)?
    }

    package init(_ job: any Job, _ signal: Signal) {
        target = LockBox(WeakJob(job: job))
        self.signal = signal
    }

    package var job: (any Job)? { target.withLock { $0.job } }
}
