/// Runs the items of a batch: lanes that take one item after the other, and rounds for what is asked for again.
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
        /// The item as it is sent again, kept where that may be asked for.
        var node: _PlanNode?
        var output: (any Response.Type)?
        /// A response that waits for a thread where it may be decoded.
        var response: HTTPResponse?
        var attempts = 0
    }

    struct State {
        var phase = Phase.running
        var limit: Int
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
        /// Items that are sent again before others are begun, and after; taken from the end and from the front.
        var again: [(index: Int, node: _PlanNode)] = []
        var later: [(index: Int, node: _PlanNode)] = []
        /// How often items were sent again without being asked for.
        var repeats: [Int: Int] = [:]
        /// Items that were cancelled one by one.
        var withdrawn: Set<Int> = []
        var cancellation: BatonError?
        /// What the failure policy, or a failed input, has decided before the end.
        var verdict: FailurePolicy.Verdict = .goOn
        var firstError: BatonError?
        var inputError: BatonError?
        var task: Task<Void, Never>?
        var pause: TimerHandle?
        var owner: (any PlanOwner)?
        var progress = BatchProgress()
        /// Indices whose outcome is final, on their way to `onEach`.
        var news: [Int] = []
        var isTelling = false
        var ending: Result<any Sendable, BatonError>?

        var isCancelled: Bool { cancellation != nil }
        /// Whether nothing new is begun.
        var isStopped: Bool { cancellation != nil || verdict != .goOn || inputError != nil }
    }

    let run: RunCore
    let lane: Int
    /// Whether another batch stands around it; then its progress is not the run's.
    let isNested: Bool
    let scope: PlanScope?
    let description: BatchDescription
    let results: any AnyBatchResults
    let state: LockBox<State>
    let scheduler: any Scheduler

    init(
        run: RunCore, owner: any PlanOwner, lane: Int = 0, isNested: Bool, scope: PlanScope?,
        description: BatchDescription
    ) {
        self.run = run
        self.lane = lane
        self.isNested = isNested
        self.scope = scope
        self.description = description
        scheduler = run.engine.scheduler
        results = description.makeResults(run.engine.scheduler.now)
        state = LockBox(State(limit: description.maxConcurrency, owner: owner))
    }

    static let pull: UInt8 = 20
    static let decode: UInt8 = 21
    static let ask: UInt8 = 22
    static let goOn: UInt8 = 23
    static let tell: UInt8 = 24
    static let advance: UInt8 = 25

    func run(_ signal: Signal) {
        switch signal.kind {
        case Self.pull: pullNext()
        case Self.decode: decode(lane: Int(signal.value))
        case Self.ask: ask()
        case Self.goOn: goOn()
        case Self.tell: tell()
        case Self.advance: advance()
        default: break
        }
    }

    /// Whether an item that failed may have to be sent again.
    var keepsNodes: Bool { description.reconnect != nil || description.repeats > 0 }

    /// Begins, on a worker thread: making the input may run the user's code.
    func begin() {
        if let fault { return end(.failure(BatonError(.invalidConfiguration, fault))) }
        guard !state.withLock({ $0.isCancelled }) else { return }
        let made: Result<any BatchInput, BatonError> = UserCode.call(scheduler) {
            do throws(BatonError) {
                return .success(try description.makeInput.make())
            } catch {
                return .failure(error)
            }
        }
        switch made {
        case .failure(let error): return end(.failure(error))
        case .success(let input) where description.isRedriven && input.count == nil:
            let error = BatonError(
                .inputConsumed,
                "only a batch over an array or another collection can be run again for what is unfinished")
            return end(.failure(error))
        case .success(let input): begin(input)
        }
    }

    private var fault: String? {
        description.maxConcurrency < 1
            ? "maxConcurrency is \(description.maxConcurrency): at least 1 item must be allowed at once"
            : description.policy.fault
    }

    private func begin(_ input: any BatchInput) {
        if let count = input.count { results.reserve(count) }
        results.whenRoom { [weak self] in
            guard let self else { return }
            scheduler.post(self, Signal(kind: Self.advance))
        }
        let done = description.isRedriven ? (0..<(input.count ?? 0)).count { results.isDone($0) } : 0
        state.withLock { state in
            guard state.phase != .ended else { return }
            state.input = input
            state.progress.total = input.count
            state.progress.pending = (input.count ?? 0) - done
            state.progress.succeeded = done
        }
        if !isNested { run.adopt(self) }
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
                if let later = input.later { return pullLater(index, later) }
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
        if state.isStopped {
            guard state.open == 0 else { return .none }
            state.isFinishing = true
            return .finish
        }
        guard state.open < state.limit else { return .none }
        if let (index, node) = state.again.popLast() {
            return .begin(lane: openLane(&state, index), index: index, node)
        }
        if !state.isExhausted, let input = state.input {
            if description.isRedriven {
                while let count = input.count, state.pulled < count, results.isDone(state.pulled) { state.pulled += 1 }
            }
            guard results.hasRoom(for: state.pulled) else { return .none }
            state.isPulling = true
            return .pull(state.pulled, input)
        }
        if !state.later.isEmpty {
            let (index, node) = state.later.removeFirst()
            return .begin(lane: openLane(&state, index), index: index, node)
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
        run.probe?.note(.itemOpened(probed(index), limit: state.limit))
        state.progress.pending = max(0, state.progress.pending - 1)
        state.progress.running += 1
        return lane
    }

    func probed(_ index: Int) -> ProbedItem {
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
        let read: Result<_PlanNode?, BatonError>
        if input.runsUserCode {
            read = UserCode.call(scheduler) { Self.next(index, of: input, run) }
        } else {
            read = Self.next(index, of: input, run)
        }
        pulled(read.map { $0 }, index)
    }

    private static func next(_ index: Int, of input: any BatchInput, _ run: RunCore) -> Result<_PlanNode?, BatonError> {
        do throws(BatonError) {
            return .success(try input.next(index, in: run.settings.context))
        } catch {
            // A plan that cannot be built is an item that fails.
            return .success(_PlanNode(content: .failure(error)))
        }
    }

    private func pullLater(_ index: Int, _ input: any AsyncBatchInput) {
        input.next(on: scheduler, in: run.settings.context) { [self] result in
            pulled(result, index)
            scheduler.post(self, Signal(kind: Self.advance))
        }
    }

    private func pulled(_ read: Result<_PlanNode?, BatonError>, _ index: Int) {
        let opened: (lane: Int, isSkipped: Bool)? = state.withLock { state in
            state.isPulling = false
            switch read {
            case .failure(let error):
                state.inputError = error
                return nil
            case .success(nil):
                state.isExhausted = true
                state.progress.total = state.pulled
                return nil
            case .success:
                guard !state.isStopped else { return nil }
                state.pulled += 1
                return (openLane(&state, index), state.withdrawn.contains(index))
            }
        }
        guard let opened, case .success(let node?) = read else { return }
        if opened.isSkipped {
            results.began(index, at: scheduler.now.nanoseconds)
            return settle(.failure(BatonError(.cancelled, "the item was cancelled")), attempts: 0, lane: opened.lane)
        }
        launch(node, lane: opened.lane, index: index, isFirst: true)
    }

    private func launch(_ node: _PlanNode, lane: Int, index: Int, isFirst: Bool) {
        if isFirst { results.began(index, at: scheduler.now.nanoseconds) } else { results.reopen(index) }
        switch node.content {
        case .value(let value): settle(.success(value), attempts: 1, lane: lane)
        case .failure(let error):
            settle(.failure(error.with(path: path(of: lane))), attempts: 0, lane: lane, node: node)
        case .call(let call) where !call.options.isFence:
            start(description.isRedriven ? withOldKey(call, index) : call, node, lane: lane)
        default:
            let job = ChainJob(run: run, owner: self, lane: lane, isNested: true, scope: scope, node: node)
            if occupy(lane, with: job, node) { scheduler.execute(job, .start) }
        }
    }

    /// The request under the idempotency key that it had in the run before.
    private func withOldKey(_ call: CallDescription, _ index: Int) -> CallDescription {
        guard let key = results.keys?[index], call.request.fields.contains(.idempotencyKey) else { return call }
        var request = call.request
        request.fields[.idempotencyKey] = key
        return call.with(request)
    }

    private func start(_ call: CallDescription, _ node: _PlanNode, lane: Int) {
        let job = state.withLock { state in
            let job = state.lanes[lane].call ?? CallJob(run: run)
            state.lanes[lane].call = job
            state.lanes[lane].output = call.output
            return job
        }
        let node = keepsNodes ? _PlanNode(content: .call(call)) : node
        if occupy(lane, with: job, node) { job.start(call, scope: scope, owner: self, lane: lane) }
    }

    /// Makes the item under way known to a cancel; false when one was there before, which is the item's end.
    private func occupy(_ lane: Int, with job: any Cancellable, _ node: _PlanNode) -> Bool {
        let reason: BatonError? = state.withLock { state in
            if keepsNodes { state.lanes[lane].node = node }
            if state.isStopped { return CallJob.cancelled }
            if !state.withdrawn.isEmpty, state.withdrawn.contains(state.lanes[lane].index) { return Self.itemCancelled }
            state.lanes[lane].child = job
            return nil
        }
        if let reason { settle(.failure(reason.with(path: path(of: lane))), attempts: 0, lane: lane) }
        return reason == nil
    }

    // MARK: Where

    func place(of lane: Int) -> (name: String, owner: (any PlanOwner)?, lane: Int) {
        state.withLock { state in
            let index = state.lanes.indices.contains(lane) ? state.lanes[lane].index : 0
            return ("\(description.isGroup ? "zip" : "batch")[\(index)]", state.owner, self.lane)
        }
    }

    func callPath(lane: Int) -> String { path(of: lane) }
}
