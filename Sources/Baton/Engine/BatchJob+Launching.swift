/// How an item is begun in its lane.
extension BatchJob {
    /// Begins what stands in a lane that was just opened.
    func launch(lane: Int, isWithdrawn: Bool) {
        let taken = state.withLock { state in
            defer { if !keepsNodes { state.lanes[lane].node = nil } }
            return state.lanes[lane].node
        }
        if isWithdrawn { return settle(Self.withdrawn, in: lane, attempts: 0, goesOn: false) }
        guard let node = taken else { return }
        switch node.content {
        case .value(let value): settle(value, in: lane, attempts: 1, goesOn: false)
        case .failure(let error):
            settle(error.with(path: path(of: lane)), in: lane, attempts: 0, goesOn: false)
        case .call(let call) where !call.options.isFence:
            let begun: (job: CallJob, item: Item)? = begin(lane) { state in
                (begin(call, &state, lane), state.lanes[lane].item)
            }
            if let (job, item) = begun { job.start(call, scope: scope, owner: self, lane: lane, item: item) }
        default:
            let job = ChainJob(run: run, owner: self, lane: lane, isNested: true, scope: scope, node: node)
            let begun: ChainJob? = begin(lane) { state in
                state.lanes[lane].job = job
                return job
            }
            if let begun { scheduler.execute(begun, .start) }
        }
    }

    /// Makes what is about to run in a lane known to a cancel; nil when one was there before, which is the item's end.
    func begin<Job>(_ lane: Int, _ make: (inout State) -> Job) -> Job? {
        let (job, error): (Job?, BatonError?) = state.withLock { state in
            if state.isStopped { return (nil, CallJob.cancelled) }
            if state.withdrawn.contains(state.lanes[lane].index) { return (nil, Self.withdrawn) }
            return (make(&state), nil)
        }
        if let error { settle(error.with(path: path(of: lane)), in: lane, attempts: 0, goesOn: false) }
        return job
    }

    /// The lane's own call takes up a request.
    func begin(_ call: CallDescription, _ state: inout State, _ lane: Int) -> CallJob {
        let keepsNode = keepsNodes || hasKey(call)
        func occupy(_ lane: inout Lane) -> CallJob {
            lane.runsCall = true
            if keepsNode { lane.node = _PlanNode(content: .call(call)) }
            if let job = lane.call { return job }
            let job = CallJob(run: run)
            lane.call = job
            return job
        }
        return occupy(&state.lanes[lane])
    }

    /// The request under the idempotency key that it had in the run before.
    func withOldKey(_ call: CallDescription, _ index: Int) -> CallDescription {
        guard let key = results.keys?[index], call.request.fields.contains(.idempotencyKey) else { return call }
        var request = call.request
        request.fields[.idempotencyKey] = key
        return call.with(request)
    }

    /// Whether the request must be sent under the same key again, when the batch is run for what it left unfinished.
    /// Most requests are ruled out by a look at their method.
    private func hasKey(_ call: CallDescription) -> Bool {
        (!call.options.isEmpty || !call.request.method.isIdempotent) && call.request.fields.contains(.idempotencyKey)
    }
}
