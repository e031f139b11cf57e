/// A shared part of one run: runs once, and everyone who depends on it waits for it.
final class SharedJob: PlanOwner {
    /// One who waits. Cancelling it ends its wait, and leaves what is waited for running.
    final class Guest: Cancellable {
        private let chain: LockBox<ChainJob?>

        init(_ chain: ChainJob) {
            self.chain = LockBox(chain)
        }

        func run(_ signal: Signal) {}

        func end(_ result: Result<any Sendable, BatonError>) {
            let chain = chain.withLock { chain in
                defer { chain = nil }
                return chain
            }
            chain?.arrive(.value(result))
        }

        func takeNote(_ walk: inout CancellationWalk) {
            let reason = walk.reason
            walk.actions.append { [self] in end(.failure(reason)) }
        }
    }

    private struct State {
        var value: (any Sendable)?
        var job: ChainJob?
        var guests: [Guest] = []
    }

    private let run: RunCore
    private let part: SharedPlan
    private let state = LockBox(State())

    init(_ part: SharedPlan, of run: RunCore) {
        self.part = part
        self.run = run
    }

    func join(_ guest: Guest) {
        let (value, job): ((any Sendable)?, ChainJob?) = state.withLock { state in
            if let value = state.value { return (value, nil) }
            state.guests.append(guest)
            guard state.job == nil else { return (nil, nil) }
            let job = ChainJob(run: run, owner: self, lane: 0, isNested: true, node: part.node)
            state.job = job
            return (nil, job)
        }
        if let value { return guest.end(.success(value)) }
        guard let job else { return }
        // A cancel that came before the job was there has not reached it.
        if run.isCancelled { Cancellation.begin(at: [job], run.engine.scheduler) }
        run.engine.scheduler.execute(job, .start)
    }

    func planEnded(_ result: Result<any Sendable, BatonError>, lane: Int) {
        let guests = state.withLock { state in
            if case .success(let value) = result { state.value = value }
            defer { (state.guests, state.job) = ([], nil) }
            return state.guests
        }
        for guest in guests { guest.end(result) }
    }

    /// What runs, for a cancel of the whole run; and at its end, what nobody waits for any more.
    var running: ChainJob? { state.withLock { $0.job } }

    func place(of lane: Int) -> (name: String, owner: (any PlanOwner)?, lane: Int) { ("shared", nil, 0) }
}
