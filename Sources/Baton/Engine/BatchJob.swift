/// Runs the items of a batch: lanes that pull one item after the other, and rounds for what is asked for again.
///
/// Only lanes wait for slots; items that were not begun are nothing but a position in the input. One lane pulls at a
/// time, outside the lock, because building a request is the user's code.
final class BatchJob: Cancellable, RunPart, CallOwner, PlanOwner {
    enum Phase {
        case running, asking, pausing, ended
    }

    struct Lane {
        var index = 0
        /// Kept from item to item.
        var call: CallJob?
        /// What is under way in the lane; nil when the lane is free.
        var child: (any Cancellable)?
        var isOpen = false
        /// The item as it is sent again, kept where a round may follow.
        var node: _PlanNode?
        var output: (any Response.Type)?
        /// A response that waits for a thread where it may be decoded.
        var response: HTTPResponse?
        var attempts = 0
    }

    struct State {
        var phase = Phase.running
        var input: (any BatchInput)?
        var pulled = 0
        var isExhausted = false
        var isPulling = false
        var isFinishing = false
        var open = 0
        var lanes: [Lane] = []
        var freeLanes: [Int] = []
        var round = 1
        /// Items of the round that failed, with what is needed to send them again.
        var failed: [Int: _PlanNode] = [:]
        var again: [(index: Int, node: _PlanNode)] = []
        var isCancelled = false
        var task: Task<Void, Never>?
        var pause: TimerHandle?
        var owner: (any PlanOwner)?
        var progress = BatchProgress()
        /// Indices whose outcome is final, on their way to `onEach`.
        var news: [Int] = []
        var isTelling = false
        var ending: Result<any Sendable, BatonError>?
    }

    let run: RunCore
    let lane: Int
    /// Whether another batch stands around it; then its progress is not the run's.
    let isNested: Bool
    let description: BatchDescription
    let results: any AnyBatchResults
    let state: LockBox<State>

    let scheduler: any Scheduler

    init(run: RunCore, owner: any PlanOwner, lane: Int = 0, isNested: Bool, description: BatchDescription) {
        self.run = run
        self.lane = lane
        self.isNested = isNested
        self.description = description
        scheduler = run.engine.scheduler
        results = description.makeResults(run.engine.scheduler.now)
        state = LockBox(State(owner: owner))
    }

    static let pull: UInt8 = 20
    static let decode: UInt8 = 21
    static let ask: UInt8 = 22
    static let goOn: UInt8 = 23
    static let tell: UInt8 = 24

    func run(_ signal: Signal) {
        switch signal.kind {
        case Self.pull: pullNext()
        case Self.decode: decode(lane: Int(signal.value))
        case Self.ask: ask()
        case Self.goOn: goOn()
        case Self.tell: tell()
        default: break
        }
    }

    /// Begins, on a worker thread: making the input may run the user's code.
    func begin() {
        guard description.maxConcurrency >= 1 else {
            let error = BatonError(
                .invalidConfiguration,
                "maxConcurrency is \(description.maxConcurrency): at least 1 item must be allowed at once")
            return end(.failure(error))
        }
        guard !state.withLock({ $0.isCancelled }) else { return }
        let input = UserCode.call(scheduler) { description.makeInput() }
        state.withLock { state in
            guard state.phase != .ended else { return }
            if let count = input.count { results.log.reserve(count) }
            state.input = input
            state.progress.total = input.count
            state.progress.pending = input.count ?? 0
        }
        advance()
    }

    // MARK: Beginning items

    private enum Step {
        case none
        case pull(Int, any BatchInput)
        case begin(lane: Int, index: Int, _PlanNode)
        case roundEnded
        case finish
    }

    /// Does whatever can be done now, until lanes, input or the limit say stop.
    func advance() {
        while true {
            switch state.withLock(nextStep) {
            case .none: return
            case .pull(let index, let input):
                if input.runsUserCode { return scheduler.execute(self, Signal(kind: Self.pull)) }
                pull(index, input)
            case .begin(let lane, let index, let node): launch(node, lane: lane, index: index, isFirst: false)
            case .roundEnded: return roundEnded()
            case .finish: return finish()
            }
        }
    }

    private func nextStep(_ state: inout State) -> Step {
        guard state.phase == .running, !state.isPulling, !state.isFinishing else { return .none }
        if state.isCancelled {
            guard state.open == 0 else { return .none }
            state.isFinishing = true
            return .finish
        }
        guard state.open < description.maxConcurrency else { return .none }
        if let (index, node) = state.again.popLast() {
            return .begin(lane: openLane(&state, index), index: index, node)
        }
        if !state.isExhausted, let input = state.input {
            state.isPulling = true
            return .pull(state.pulled, input)
        }
        guard state.open == 0 else { return .none }
        state.isFinishing = true
        return .roundEnded
    }

    private func openLane(_ state: inout State, _ index: Int) -> Int {
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
        run.probe?.note(.itemOpened(probed(index), limit: description.maxConcurrency))
        state.progress.pending = max(0, state.progress.pending - 1)
        state.progress.running += 1
        return lane
    }

    private func probed(_ index: Int) -> ProbedItem {
        ProbedItem(run: run.id, batch: ObjectIdentifier(self), index: index)
    }

    /// One pull on a worker thread, because reading the input may block.
    private func pullNext() {
        let (index, input) = state.withLock { ($0.pulled, $0.input) }
        guard let input else { return }
        pull(index, input)
        advance()
    }

    private func pull(_ index: Int, _ input: any BatchInput) {
        let node: _PlanNode?
        do throws(BatonError) {
            node =
                if input.runsUserCode {
                    try Self.next(index, of: input, run)
                } else {
                    try input.next(index, in: run.settings.context)
                }
        } catch {
            node = _PlanNode(content: .failure(error))
        }
        let lane: Int? = state.withLock { state in
            state.isPulling = false
            guard node != nil else {
                state.isExhausted = true
                state.progress.total = state.pulled
                return nil
            }
            guard !state.isCancelled else { return nil }
            state.pulled += 1
            return openLane(&state, index)
        }
        if let node, let lane { launch(node, lane: lane, index: index, isFirst: true) }
    }

    private static func next(
        _ index: Int, of input: any BatchInput, _ run: RunCore
    ) throws(BatonError) -> _PlanNode? {
        let result: Result<_PlanNode?, BatonError> = UserCode.call(run.engine.scheduler) {
            do throws(BatonError) {
                return .success(try input.next(index, in: run.settings.context))
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private func launch(_ node: _PlanNode, lane: Int, index: Int, isFirst: Bool) {
        if isFirst { results.log.began(index, at: scheduler.now.nanoseconds) } else { results.log.reopen(index) }
        switch node.content {
        case .value(let value): settle(.success(value), attempts: 1, lane: lane)
        case .failure(let error):
            settle(.failure(error.with(path: path(of: lane))), attempts: 0, lane: lane, node: node)
        case .call(let call): start(call, node, lane: lane)
        case .plan, .steps, .batch:
            let job = ChainJob(run: run, owner: self, lane: lane, isNested: true, node: node)
            if occupy(lane, with: job, node) { scheduler.execute(job, .start) }
        }
    }

    private func start(_ description: CallDescription, _ node: _PlanNode, lane: Int) {
        let call = state.withLock { state in
            let call = state.lanes[lane].call ?? CallJob(run: run)
            state.lanes[lane].call = call
            state.lanes[lane].output = description.output
            return call
        }
        if occupy(lane, with: call, node) { call.start(description, owner: self, lane: lane) }
    }

    /// Makes the item under way known to a cancel; false when one was there before, which is the item's end.
    private func occupy(_ lane: Int, with job: any Cancellable, _ node: _PlanNode) -> Bool {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.lanes[lane].child = job }
            if description.reconnect != nil { state.lanes[lane].node = node }
            return state.isCancelled
        }
        if isCancelled { settle(.failure(CallJob.cancelled.with(path: path(of: lane))), attempts: 0, lane: lane) }
        return !isCancelled
    }

    // MARK: Ending items

    func callEnded(_ call: CallJob, _ result: Result<HTTPResponse, BatonError>, attempts: Int, lane: Int) {
        switch result {
        case .failure(let error): settle(.failure(error), attempts: attempts, lane: lane)
        case .success(let response):
            if !result.isSmall {
                state.withLock { state in
                    state.lanes[lane].response = response
                    state.lanes[lane].attempts = attempts
                }
                return scheduler.execute(self, Signal(kind: Self.decode, value: Int32(lane)))
            }
            settle(read(response, lane: lane), attempts: attempts, lane: lane)
        }
        advance()
    }

    func planEnded(_ result: Result<any Sendable, BatonError>, lane: Int) {
        settle(result, attempts: 1, lane: lane)
        advance()
    }

    private func decode(lane: Int) {
        let (response, attempts) = state.withLock { state in
            defer { state.lanes[lane].response = nil }
            return (state.lanes[lane].response, state.lanes[lane].attempts)
        }
        guard let response else { return }
        settle(read(response, lane: lane), attempts: attempts, lane: lane)
        advance()
    }

    private func read(_ response: HTTPResponse, lane: Int) -> Result<any Sendable, BatonError> {
        let output: any Response.Type = state.withLock { $0.lanes[lane].output } ?? EmptyResponse.self
        do throws(BatonError) {
            return .success(
                try ResponseReader.read(output, from: response, using: run.settings.context.coding))
        } catch {
            return .failure(error.with(path: path(of: lane)))
        }
    }

    /// Notes an item's outcome and frees its lane.
    private func settle(
        _ result: Result<any Sendable, BatonError>, attempts: Int, lane: Int, node: _PlanNode? = nil
    ) {
        let now = scheduler.now.nanoseconds
        let index = state.withLock { $0.lanes[lane].index }
        var error: BatonError?
        switch result {
        case .success(let value):
            if !results.succeed(index, value, attempts: attempts, at: now) {
                error = BatonError(.decodingFailed, "the item's plan yielded a value of another type")
            }
        case .failure(let failure): error = failure
        }
        if let error { results.log.failed(index, error, attempts: attempts, at: now) }
        let isHeard = !isNested && run.isHeard
        let (begins, news): (Bool, (BatchProgress, number: UInt64)) = state.withLock { state in
            let kept = state.lanes[lane].node ?? node
            state.lanes[lane].isOpen = false
            state.lanes[lane].child = nil
            state.lanes[lane].node = nil
            state.freeLanes.append(lane)
            state.open -= 1
            run.probe?.note(.itemClosed(probed(index)))
            state.progress.running -= 1
            if let error {
                if error.isCancelled { state.progress.cancelled += 1 } else { state.progress.failed += 1 }
            } else {
                state.progress.succeeded += 1
            }
            if error != nil, description.reconnect != nil, !state.isCancelled, let kept {
                state.failed[index] = kept
                return (false, Self.progress(of: state, isHeard))
            }
            return (announce([index], &state), Self.progress(of: state, isHeard))
        }
        if begins { scheduler.execute(self, Signal(kind: Self.tell)) }
        if isHeard { run.report(RunProgress(batch: news.0), number: news.number) }
    }

    /// The progress, with a number that is drawn under the lock: reports may overtake each other on their way.
    private static func progress(of state: State, _ isHeard: Bool) -> (BatchProgress, number: UInt64) {
        (state.progress, isHeard ? Numbering.next() : 0)
    }

    // MARK: Ending the batch

    /// Every lane is free and nothing is left to pull.
    private func roundEnded() {
        let asks = state.withLock { state in
            guard !state.isCancelled, !state.failed.isEmpty else { return false }
            state.phase = .asking
            state.isFinishing = false
            return true
        }
        if asks { scheduler.execute(self, Signal(kind: Self.ask)) } else { finish() }
    }

    func finish() {
        let (begins, isCancelled) = state.withLock { state in
            let isNews = announce(state.failed.keys.sorted(), &state)
            state.failed = [:]
            return (isNews, state.isCancelled)
        }
        if begins { scheduler.execute(self, Signal(kind: Self.tell)) }
        end(isCancelled ? .failure(cancelled) : .success(results.report))
    }

    private var cancelled: BatonError {
        var error = CallJob.cancelled
        error.storage.report = results.report
        return error
    }

    /// Ends the batch as soon as `onEach` was told everything.
    private func end(_ result: Result<any Sendable, BatonError>) {
        let ended: (owner: (any PlanOwner)?, lanes: [Lane], isCancelled: Bool)? = state.withLock { state in
            guard state.phase != .ended else { return nil }
            if state.isTelling || !state.news.isEmpty {
                state.ending = result
                return nil
            }
            state.phase = .ended
            defer { (state.lanes, state.owner, state.input, state.ending) = ([], nil, nil, nil) }
            return (state.owner, state.lanes, state.isCancelled)
        }
        guard let ended else { return }
        for lane in ended.lanes { lane.call?.retire() }
        // It may have been cancelled while `onEach` was told the last items.
        if ended.isCancelled, case .success = result {
            ended.owner?.planEnded(.failure(cancelled), lane: lane)
        } else {
            ended.owner?.planEnded(result, lane: lane)
        }
    }

    func takeNote(_ walk: inout CancellationWalk) {
        let stopped: (children: [any Cancellable], Task<Void, Never>?, TimerHandle?)? = state.withLock { state in
            guard state.phase != .ended, !state.isCancelled else { return nil }
            state.isCancelled = true
            // What was to be sent again has failed for good.
            for (index, node) in state.again { state.failed[index] = node }
            state.progress.failed += state.again.count
            state.progress.pending -= state.again.count
            state.again = []
            // Whoever asks or pauses is not waited for.
            if state.phase != .running { state.phase = .running }
            return (state.lanes.compactMap(\.child), state.task, state.pause)
        }
        guard let (children, task, pause) = stopped else { return }
        walk.rest += children
        walk.actions.append { [self] in
            task?.cancel()
            if let pause { scheduler.cancel(pause) }
            advance()
        }
    }

    // MARK: Telling

    /// Puts indices on the list for `onEach`; true when somebody has to begin to tell.
    func announce(_ indices: [Int], _ state: inout State) -> Bool {
        guard description.onEach != nil, !indices.isEmpty else { return false }
        state.news += indices
        defer { state.isTelling = true }
        return !state.isTelling
    }

    private func tell() {
        let news: [Int] = state.withLock { state in
            defer { state.news = [] }
            if state.news.isEmpty { state.isTelling = false }
            return state.news
        }
        guard let onEach = description.onEach, !news.isEmpty else {
            if let ending = state.withLock({ $0.ending }) { end(ending) }
            return
        }
        for index in news { UserCode.call(scheduler) { onEach.tell(index, results) } }
        scheduler.execute(self, Signal(kind: Self.tell))
    }

    // MARK: Where

    func place(of lane: Int) -> (name: String, owner: (any PlanOwner)?, lane: Int) {
        state.withLock { state in
            let index = state.lanes.indices.contains(lane) ? state.lanes[lane].index : 0
            return ("batch[\(index)]", state.owner, self.lane)
        }
    }

    func callPath(lane: Int) -> String { path(of: lane) }
}
