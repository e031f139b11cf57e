/// What a batch does next: pulls from its input, sends again, or ends.
extension BatchJob {
    /// What can be done next.
    enum Step: ~Copyable {
        case none
        case pull(Int, any BatchInput)
        /// An item is sent again.
        case resend(lane: Int, isWithdrawn: Bool)
        case wake([Sleeper])
        case roundEnded
        case finish
    }

    /// Does whatever can be done now, until lanes, input or the limit say stop.
    func advance() { advance(from: state.withLock(nextStep), at: scheduler.now) }

    /// - Parameter now: the time, which stands still as long as nothing has to be waited for.
    func advance(from first: consuming Step, at now: Instant) {
        var step = first
        while true {
            switch consume step {
            case .none: return
            case .pull(let index, let input):
                if let later = input.later { return pullLater(index, later) }
                if input.runsUserCode { return scheduler.execute(self, Signal(kind: Self.pull)) }
                if pull(index, input, at: now) { return }
            case .resend(let lane, let isWithdrawn): launch(lane: lane, isWithdrawn: isWithdrawn)
            case .wake(let sleepers): for sleeper in sleepers { sleeper.wake() }
            case .roundEnded: return roundEnded()
            case .finish: return finish()
            }
            step = state.withLock(nextStep)
        }
    }

    func nextStep(_ state: inout State) -> Step {
        if let sleepers = takeBack(&state) { return .wake(sleepers) }
        guard state.phase == .running, !state.isPulling, !state.isFinishing else { return .none }
        if state.isStopped {
            guard state.open == 0, state.lent == 0 else { return .none }
            state.isFinishing = true
            return .finish
        }
        guard state.open < state.limit else { return .none }
        if let (index, node) = state.again.popLast() {
            return resend(&state, index, node)
        }
        if !state.isExhausted, let input = state.input {
            guard state.lent < Self.mostLent * state.limit else { return .none }
            if description.isRedriven {
                while let count = input.count, state.pulled < count, results.isDone(state.pulled) { state.pulled += 1 }
            }
            guard results.hasRoom(for: state.pulled) else { return .none }
            state.isPulling = true
            return .pull(state.pulled, input)
        }
        if !state.later.isEmpty {
            let (index, node) = state.later.removeFirst()
            return resend(&state, index, node)
        }
        guard state.open == 0, state.lent == 0 else { return .none }
        state.isFinishing = true
        return .roundEnded
    }

    private func resend(_ state: inout State, _ index: Int, _ node: _PlanNode) -> Step {
        let lane = openLane(&state, index)
        state.lanes[lane].node = node
        return .resend(lane: lane, isWithdrawn: state.withdrawn.contains(index))
    }

    /// - Parameter isFresh: whether the item was not counted before, because nobody knew of it.
    func openLane(_ state: inout State, _ index: Int, isFresh: Bool = false) -> Int {
        let lane: Int
        if let free = state.freeLanes.popLast() {
            lane = free
        } else {
            lane = state.lanes.count
            state.lanes.append(Lane())
        }
        state.lanes[lane].index = index
        state.lanes[lane].isOpen = true
        state.open += 1
        run.probe?.note(.itemOpened(probed(index), limit: state.limit))
        if !isFresh { state.progress.pending -= 1 }
        state.progress.running += 1
        return lane
    }

    func probed(_ index: Int) -> ProbedItem {
        ProbedItem(run: run.id, batch: ObjectIdentifier(self), index: index)
    }

    // MARK: Pulling

    /// One pull on a worker thread, because reading the input may block.
    func pullNext() {
        let (index, input) = state.withLock { ($0.pulled, $0.input) }
        guard let input else { return }
        if !pull(index, input, at: scheduler.now) { advance() }
    }

    /// Whether every place is taken now, so that nothing else can be done.
    private func pull(_ index: Int, _ input: any BatchInput, at now: Instant) -> Bool {
        let context = run.settings.context
        let node: _PlanNode?
        do throws(BatonError) {
            if input.runsUserCode {
                node = try UserCode.call(scheduler) { Self.next(index, of: input, context) }.get()
            } else {
                node = try input.next(index, in: context)
            }
        } catch {
            // A plan that cannot be built is an item that fails.
            node = _PlanNode(content: .failure(error))
        }
        return pulled(consume node, index, at: now)
    }

    private static func next(
        _ index: Int, of input: any BatchInput, _ context: _PlanContext
    ) -> Result<_PlanNode?, BatonError> {
        do throws(BatonError) {
            return .success(try input.next(index, in: context))
        } catch {
            return .failure(error)
        }
    }

    private func pullLater(_ index: Int, _ input: any AsyncBatchInput) {
        input.next(on: scheduler, in: run.settings.context) { [self] result in
            switch result {
            case .success(let node): _ = pulled(node, index, at: scheduler.now)
            case .failure(let error): inputFailed(error)
            }
            scheduler.post(self, Signal(kind: Self.advance))
        }
    }

    private func inputFailed(_ error: BatonError) {
        state.withLock { state in
            // Who was not waited for comes too late.
            guard state.isPulling, !state.isStopped else { return }
            state.isPulling = false
            state.inputError = error
            giveUpRepeats(&state)
        }
    }

    private func pulled(_ node: consuming _PlanNode?, _ index: Int, at now: Instant) -> Bool {
        guard let node else {
            exhausted()
            return false
        }
        switch node.content {
        case .call(let call) where !call.options.isFence:
            return pulled(description.isRedriven ? withOldKey(call, index) : call, index, at: now)
        default:
            let lane: (number: Int, isWithdrawn: Bool)? = state.withLock { state in
                guard let (lane, isWithdrawn) = laneOfPulled(&state, index, at: now) else { return nil }
                state.lanes[lane].node = node
                return (lane, isWithdrawn)
            }
            if let lane { launch(lane: lane.number, isWithdrawn: lane.isWithdrawn) }
            return false
        }
    }

    /// The item is nothing but a request.
    private func pulled(_ call: CallDescription, _ index: Int, at now: Instant) -> Bool {
        var number = 0
        var (isWithdrawn, isFull) = (false, false)
        let job: CallJob? = state.withLock { state in
            guard let lane = laneOfPulled(&state, index, at: now) else { return nil }
            (number, isWithdrawn) = lane
            isFull = state.open >= state.limit
            if !isWithdrawn { return begin(call, &state, number) }
            state.lanes[number].node = _PlanNode(content: .call(call))
            return nil
        }
        guard let job else {
            if isWithdrawn { launch(lane: number, isWithdrawn: true) }
            return false
        }
        job.start(
            call, scope: scope, owner: self, lane: number, item: Item(index: index, began: now), now: now)
        return isFull
    }

    /// Opens a lane for what was pulled; nil for who was not waited for and comes too late.
    private func laneOfPulled(_ state: inout State, _ index: Int, at now: Instant) -> (Int, isWithdrawn: Bool)? {
        guard state.isPulling, !state.isStopped else { return nil }
        state.isPulling = false
        state.pulled += 1
        let lane = openLane(&state, index, isFresh: state.progress.total == nil)
        state.lanes[lane].began = now
        return (lane, !state.withdrawn.isEmpty && state.withdrawn.contains(index))
    }

    /// There is nothing more to pull.
    private func exhausted() {
        let stopped: [any Cancellable] = state.withLock { state in
            guard state.isPulling, !state.isStopped else { return [] }
            state.isPulling = false
            state.isExhausted = true
            state.progress.total = state.pulled
            state.progress.pending = state.again.count + state.later.count
            return judge(&state)
        }
        if !stopped.isEmpty { stop(stopped) }
    }

    /// Ends what runs in the lanes, because the failure policy has decided.
    func stop(_ jobs: [any Cancellable]) {
        Cancellation.begin(at: jobs, because: BatonError(.cancelled, "the batch needs it no more"), scheduler)
    }
}
