internal import Baton

/// What an engine holds at one moment, asked for from outside while nothing of it is locked.
struct EngineFacts: Sendable {
    var slots = 0
    var waiting = 0
    /// The runs that the engine takes for unfinished.
    var registered: Set<UInt64> = []
    /// The timers of each call, and those of other parts of runs.
    var callTimers: [Timer] = []
    /// Timers that belong to no run, where the scheduler serves this engine only.
    var otherTimers = 0

    struct Timer: Sendable {
        var run: UInt64
        var job: ObjectIdentifier
    }

    init() {}

    init(_ engine: Engine) {
        let counts = engine.queue.counts
        (slots, waiting) = (counts.inFlight, counts.waiting)
        registered = Set(engine.activeRuns.map(\.id))
        let jobs = (engine.scheduler as? any TimerKeeper)?.timedJobs ?? []
        let parts = jobs.compactMap { $0 as? any RunPart }
        callTimers = parts.filter { $0.run.engine === engine }
            .map { Timer(run: $0.run.id, job: ObjectIdentifier($0)) }
        // The live scheduler serves everybody, so what it keeps for others says nothing.
        if engine.scheduler is VirtualScheduler { otherTimers = jobs.count - parts.count }
    }
}
