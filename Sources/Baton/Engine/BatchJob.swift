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
        /// Whether the item has lent its place, because it waits for another attempt or for a full host.
        var isLent = false
        /// What wants the item's place back, as soon as there is one.
        var sleeper: CallJob?
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
        /// Items that have a place; at most the limit.
        var open = 0
        /// Items that have lent theirs, and the lanes of those that want one back, longest wait first.
        var lent = 0
        var returning: [Int] = []
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
        /// Where the batch stands; nil until somebody asks.
        var outerPath: String?
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
            ? "a batch's maxConcurrency is \(description.maxConcurrency): at least 1 item must be allowed at once"
            : description.policy.fault
    }

    private func begin(_ input: any BatchInput) {
        if let count = input.count { results.reserve(count) }
        if !results.keepsAll {
            results.whenRoom { [weak self] in
                guard let self else { return }
                scheduler.post(self, Signal(kind: Self.advance))
            }
        }
        let done = description.isRedriven ? (0..<(input.count ?? 0)).count { results.isDone($0) } : 0
        state.withLock { state in
            guard state.phase != .ended else { return }
            state.input = input
            state.progress.total = input.count
            state.progress.pending = (input.count ?? 0) - done
            state.progress.succeeded = done
            // It may be settled already: more successes may be wanted than there are items.
            _ = judge(&state)
        }
        if !isNested { run.adopt(self) }
        advance()
    }

    // MARK: Beginning items

    /// What can be done next.
    enum Step {
        case none
        case pull(Int, any BatchInput)
        /// An item is sent again.
        case resend(lane: Int, index: Int, isWithdrawn: Bool)
        case wake(CallJob)
        case roundEnded
        case finish
    }

    /// Does whatever can be done now, until lanes, input or the limit say stop.
    func advance() { advance(from: state.withLock(nextStep), at: scheduler.now) }

    /// - Parameter now: the time, which stands still as long as nothing has to be waited for.
    func advance(from first: Step, at now: Instant) {
        var step = first
        while true {
            switch step {
            case .none: return
            case .pull(let index, let input):
                if let later = input.later { return pullLater(index, later) }
                if input.runsUserCode { return scheduler.execute(self, Signal(kind: Self.pull)) }
                pull(index, input, at: now)
            case .resend(let lane, let index, let isWithdrawn):
                results.reopen(index)
                launch(lane: lane, index: index, isWithdrawn: isWithdrawn)
            case .wake(let call): call.goOn()
            case .roundEnded: return roundEnded()
            case .finish: return finish()
            }
            step = state.withLock(nextStep)
        }
    }

    func nextStep(_ state: inout State) -> Step {
        if let call = takeBack(&state) { return .wake(call) }
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
        return .resend(lane: lane, index: index, isWithdrawn: state.withdrawn.contains(index))
    }

    /// - Parameter isFresh: whether the item was not counted before, because nobody knew of it.
    private func openLane(_ state: inout State, _ index: Int, isFresh: Bool = false) -> Int {
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
    private func pullNext() {
        let (index, input) = state.withLock { ($0.pulled, $0.input) }
        guard let input else { return }
        pull(index, input, at: scheduler.now)
        advance()
    }

    private func pull(_ index: Int, _ input: any BatchInput, at now: Instant) {
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
        pulled(node, index, at: now)
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
            case .success(let node): pulled(node, index, at: scheduler.now)
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

    /// What became of a plan that was pulled.
    private enum Pulled {
        case none
        case call(CallJob, CallDescription, lane: Int)
        case other(lane: Int, isWithdrawn: Bool)
    }

    private func pulled(_ node: _PlanNode?, _ index: Int, at now: Instant) {
        guard let node else { return exhausted() }
        var request: CallDescription?
        if case .call(let call) = node.content, !call.options.isFence {
            request = description.isRedriven ? withOldKey(call, index) : call
        }
        let pulled: Pulled = state.withLock { state in
            // Who was not waited for comes too late.
            guard state.isPulling, !state.isStopped else { return .none }
            state.isPulling = false
            state.pulled += 1
            let lane = openLane(&state, index, isFresh: state.progress.total == nil)
            let isWithdrawn = !state.withdrawn.isEmpty && state.withdrawn.contains(index)
            if let request, !isWithdrawn { return .call(begin(request, &state, lane), request, lane: lane) }
            state.lanes[lane].node = node
            return .other(lane: lane, isWithdrawn: isWithdrawn)
        }
        switch pulled {
        case .none: break
        case .call(let job, let call, let lane):
            results.began(index, at: now.nanoseconds)
            job.start(call, scope: scope, owner: self, lane: lane, now: now)
        case .other(let lane, let isWithdrawn):
            results.began(index, at: now.nanoseconds)
            launch(lane: lane, index: index, isWithdrawn: isWithdrawn)
        }
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

    // MARK: Launching

    /// Begins what stands in a lane that was just opened.
    private func launch(lane: Int, index: Int, isWithdrawn: Bool) {
        let taken = state.withLock { state in
            defer { if !keepsNodes { state.lanes[lane].node = nil } }
            return state.lanes[lane].node
        }
        if isWithdrawn { return settle(Self.withdrawn, attempts: 0, lane: lane, at: scheduler.now, goesOn: false) }
        guard let node = taken else { return }
        switch node.content {
        case .value(let value): settle(value, attempts: 1, lane: lane, goesOn: false)
        case .failure(let error):
            settle(error.with(path: path(of: lane)), attempts: 0, lane: lane, at: scheduler.now, goesOn: false)
        case .call(let call) where !call.options.isFence:
            let job: CallJob? = begin(lane) { state in begin(call, &state, lane) }
            job?.start(call, scope: scope, owner: self, lane: lane)
        default:
            let job = ChainJob(run: run, owner: self, lane: lane, isNested: true, scope: scope, node: node)
            let begun: ChainJob? = begin(lane) { state in
                state.lanes[lane].child = job
                return job
            }
            if let begun { scheduler.execute(begun, .start) }
        }
    }

    /// Makes what is about to run in a lane known to a cancel; nil when one was there before, which is the item's end.
    private func begin<Job>(_ lane: Int, _ make: (inout State) -> Job) -> Job? {
        let (job, error): (Job?, BatonError?) = state.withLock { state in
            if state.isStopped { return (nil, CallJob.cancelled) }
            if state.withdrawn.contains(state.lanes[lane].index) { return (nil, Self.withdrawn) }
            return (make(&state), nil)
        }
        if let error {
            settle(error.with(path: path(of: lane)), attempts: 0, lane: lane, at: scheduler.now, goesOn: false)
        }
        return job
    }

    /// The lane's own call takes up a request.
    private func begin(_ call: CallDescription, _ state: inout State, _ lane: Int) -> CallJob {
        let job = state.lanes[lane].call ?? CallJob(run: run)
        state.lanes[lane].call = job
        state.lanes[lane].child = job
        state.lanes[lane].output = call.output
        if keepsNodes || hasKey(call) { state.lanes[lane].node = _PlanNode(content: .call(call)) }
        return job
    }

    /// The request under the idempotency key that it had in the run before.
    private func withOldKey(_ call: CallDescription, _ index: Int) -> CallDescription {
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

    static let withdrawn = BatonError(.cancelled, "the item was cancelled")

    // MARK: Where

    func place(of lane: Int) -> (name: String, owner: (any PlanOwner)?, lane: Int) {
        state.withLock { state in
            let index = state.lanes.indices.contains(lane) ? state.lanes[lane].index : 0
            return ("\(description.isGroup ? "zip" : "batch")[\(index)]", state.owner, self.lane)
        }
    }

    func callPath(lane: Int) -> String { path(of: lane) }

    /// What stands around the batch stays while it runs, so it is looked up once.
    func callPlace(lane: Int) -> PlanPlace {
        let (known, owner, index) = state.withLock { state in
            (state.outerPath, state.owner, state.lanes.indices.contains(lane) ? state.lanes[lane].index : 0)
        }
        let outer = known ?? owner?.path(of: self.lane) ?? ""
        if known == nil { state.withLock { $0.outerPath = outer } }
        return PlanPlace(outer, index: index, isGroup: description.isGroup)
    }
}
