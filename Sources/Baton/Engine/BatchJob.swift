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
        /// When the item was begun for the first time; of one that is sent again the results know it.
        var began = Instant(nanoseconds: 0)
        /// Kept from item to item.
        var call: CallJob?
        /// Whether that call is what is under way.
        var runsCall = false
        /// What else is under way.
        var job: (any Cancellable)?
        var isOpen = false
        /// Whether the item has lent its place, because it waits for another attempt or for a full host.
        var isLent = false
        /// What wants the item's place back, as soon as there is one.
        var sleepers: [Sleeper] = []
        /// The item as it is sent again, kept where that may be asked for.
        var node: _PlanNode?
        /// A response that waits for a thread where it may be decoded.
        var undecoded: (response: HTTPResponse, end: CallEnd)?

        var item: Item { Item(index: index, began: began) }
        /// What is under way in the lane; nil when the lane is free.
        var child: (any Cancellable)? { runsCall ? call : job }
    }

    /// A call that waits for its place, and its token then.
    struct Sleeper {
        var call: CallJob
        var token: UInt64

        func wake() { call.goOn(token) }
    }

    /// An item as its end is told.
    struct Item {
        var index = 0
        var began = Instant(nanoseconds: 0)
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
        /// Whether somebody reads the progress.
        var isHeard = false
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
            results.whenRoom { [self] in scheduler.post(self, Signal(kind: Self.advance)) }
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
        if !isNested, run.adopt(self) { listen() }
        advance()
    }

    /// Somebody reads the progress from now on.
    func listen() { state.withLock { $0.isHeard = true } }

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
