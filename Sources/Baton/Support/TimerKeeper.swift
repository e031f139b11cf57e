/// A scheduler that can say for whom its timers are set, so that a check can find those that were forgotten.
package protocol TimerKeeper: Scheduler {
    /// The job of every timer that is set.
    var timedJobs: [any Job] { get }
}

extension LiveScheduler: TimerKeeper {}
