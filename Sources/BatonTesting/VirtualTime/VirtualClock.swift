public import Baton
public import Foundation

/// Time in a test: it stands still until the test, or the end of everything that could happen before, moves it.
public struct VirtualClock: Sendable {
    package let scheduler: VirtualScheduler

    /// How much time has passed since the test began.
    public var elapsed: Duration { .nanoseconds(scheduler.now.nanoseconds) }

    /// The virtual wall clock: a fixed date, and `elapsed` after it.
    public var date: Date { scheduler.date }

    /// Lets `duration` pass, with everything that happens in it, timer by timer.
    public func advance(by duration: Duration) async {
        await scheduler.request(.reach(scheduler.now.advanced(by: duration)))
    }

    /// Runs everything that can run at this instant.
    public func settle() async {
        await scheduler.request(.settle)
    }

    /// Runs everything, timers included, until nothing is left to happen.
    public func run() async {
        await scheduler.request(.runToEnd)
    }

    /// Waits for `duration` of virtual time, as an app's own code would.
    public func sleep(for duration: Duration) async throws(BatonError) {
        try await AttemptContext(run: 0, call: 0, attempt: 0, scheduler: scheduler).sleep(for: duration)
    }

    /// Says which interleaving ran: two runs with the same number took the same choices.
    public var interleaving: UInt64 { scheduler.state.withLock { $0.choices } }

    /// How many timers are set.
    public var pendingTimers: Int { scheduler.timerCount }
}
