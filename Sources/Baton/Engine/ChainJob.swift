/// Runs the steps of a chain, whatever they are, and the chains within it.
///
/// Steps are interpreted in a loop, on worker threads where they have closures, with one frame for each chain that stands within another, so
/// the stack does not grow with their number or depth. Where a step has to wait, the registers are put aside, and the
/// one who ends the wait posts.
final class ChainJob: Cancellable, RunPart, CallOwner, PlanOwner {
    /// A chain that is being run, and how far it is.
    struct Frame {
        var steps: [ChainStep]
        var count: Int
        var scope: PlanScope?
        var next = 0
        /// The number of the step under way; changes of its value belong to it.
        var step = 0
    }

    /// A step that succeeded, and how it is undone.
    struct Undo {
        var derive: ChainStep.Derive
        var value: any Sendable
        var deadline: Duration
    }

    /// What the interpreter works with; whoever runs has taken it out of the state. It changes hands by swapping: the
    /// arrays in it must have one owner, or each step would copy all that went before.
    struct Registers {
        var frames: [Frame] = []
        var value: any Sendable = ()
        /// The values of the outermost chain's steps that are done.
        var completed: [any Sendable] = []
        /// What runs first.
        var entry: _PlanNode?
        var undos: [Undo] = []
    }

    /// What a step that had to wait came to.
    enum Arrival {
        case response(Result<HTTPResponse, BatonError>)
        indirect case value(Result<any Sendable, BatonError>)
        indirect case node(Result<_PlanNode, BatonError>)
        indirect case failure(BatonError, ChainStep.Recover)
    }

    enum Phase {
        case running, waiting, undoing, ended
    }

    struct State {
        var registers = Registers()
        /// What was asked for, until its answer is read.
        var asked: CallDescription?
        var call: CallJob?
        /// The request under way and when it was begun, where the run keeps a trace.
        var traced: (call: CallDescription, began: Instant)?
        var child: (any Cancellable)?
        var task: Task<Void, Never>?
        /// Tells the task or timer of this step from one that comes late.
        var token: UInt64 = 0
        var cancellation: BatonError?
        var owner: (any PlanOwner)?
        /// The error that is told once everything is undone, and what is left to undo.
        var failure: BatonError?
        var undos: [Undo] = []
        var arrival: Arrival?
        var phase = Phase.waiting
        /// Whether the registers are here: nobody runs.
        var isAside = true
        var timer: TimerHandle?
        var deadlineTimer: TimerHandle?

        var isCancelled: Bool { cancellation != nil }
    }

    let run: RunCore
    let lane: Int
    /// Whether a batch stands around it; the progress of batches within is not the run's.
    let isNested: Bool
    /// What the plans around say.
    let scope: PlanScope?
    /// Whether the scope's deadline is this job's to keep.
    let isFence: Bool
    /// A name by which it is cancelled.
    let tag: String?
    let state: LockBox<State>
    let scheduler: any Scheduler

    init(
        run: RunCore, owner: any PlanOwner, lane: Int, isNested: Bool, scope: PlanScope? = nil, isFence: Bool = false,
        tag: String? = nil, node: _PlanNode
    ) {
        self.run = run
        self.lane = lane
        self.isNested = isNested
        self.scope = scope
        self.isFence = isFence
        self.tag = tag
        scheduler = run.engine.scheduler
        state = LockBox(State(registers: Registers(entry: node), owner: owner))
    }

    static let deadline: UInt8 = 30
    static let waited: UInt8 = 31
    static let undo: UInt8 = 32

    func run(_ signal: Signal) {
        switch signal.kind {
        case Signal.start.kind:
            guardFence()
            resume()
        case Signal.resume.kind: resume()
        case Self.waited: waited(signal.token)
        case Self.undo: undoNext()
        case Self.deadline: deadlinePassed()
        default: break
        }
    }

    /// The chain fails before it begins.
    func fail(with error: BatonError) {
        state.withLock { state in
            state.registers.entry = _PlanNode(content: .failure(error))
        }
    }

    // MARK: Waiting

    func callEnded(_ call: CallJob, _ result: Result<HTTPResponse, BatonError>, _ end: CallEnd) {
        if run.traceStart != nil, !isNested { trace(call, result, attempts: end.attempts) }
        let isLast: Bool? = state.withLock { state in
            guard state.phase == .waiting, state.arrival == nil else { return nil }
            guard state.isAside else { return nil }
            state.arrival = .response(result)
            state.child = nil
            return state.registers.frames.allSatisfy { $0.next == $0.count }
        }
        guard let isLast else { return }
        // Without closures to call and with little to decode, the run can end where the reply came in.
        if isLast, result.isSmall { scheduler.post(self, .resume) } else { scheduler.execute(self, .resume) }
    }

    func planEnded(_ result: Result<any Sendable, BatonError>, lane: Int) {
        if lane == Self.undoLane { undone(result) } else { arrive(.value(result)) }
    }

    func arrive(_ arrival: Arrival) {
        let isWaiting = state.withLock { state in
            guard state.phase == .waiting, state.isAside, state.arrival == nil else { return false }
            state.arrival = arrival
            state.child = nil
            return true
        }
        if isWaiting { scheduler.execute(self, .resume) }
    }

    private func resume() {
        var registers = Registers()
        var arrival: Arrival?
        var asked: CallDescription?
        let isTaken = state.withLock { state in
            guard state.phase == .waiting, state.isAside else { return false }
            (state.isAside, state.phase) = (false, .running)
            swap(&registers, &state.registers)
            swap(&arrival, &state.arrival)
            swap(&asked, &state.asked)
            return true
        }
        guard isTaken else { return }
        switch arrival {
        case .none: break
        case .value(.success(let value)): registers.value = value
        case .node(.success(let node)): registers.entry = node
        case .failure(let error, let recover):
            do {
                let context = run.settings.context
                registers.entry = try UserCode.call(scheduler) { try recover.derive(error, context) }
            } catch {
                let error = BatonError.wrapping(error, as: .deriveFailed, "a closure of the chain threw an error")
                return fail(error, &registers)
            }
        case .response(.success(let response)):
            do throws(BatonError) {
                registers.value = try ResponseReader.read(
                    asked?.output ?? EmptyResponse.self, from: response, in: run.settings.context)
            } catch {
                return fail(error.with(request: asked?.request.summary), &registers)
            }
        case .value(.failure(let error)), .node(.failure(let error)), .response(.failure(let error)):
            return fail(error, &registers)
        }
        interpret(&registers)
    }

    func keep(_ undos: [Undo], lane: Int) {
        guard lane != Self.undoLane else { return }
        state.withLock { if $0.isAside { $0.registers.undos += undos } }
    }

    func lender(of lane: Int) -> Lender {
        guard lane != Self.undoLane, let owner = state.withLock({ $0.owner }) else { return .none }
        return .plan(owner, lane: self.lane)
    }

    // MARK: Where

    func path(_ registers: Registers) -> String {
        let own = Self.name(registers)
        let outer = state.withLock { $0.owner }?.path(of: lane) ?? ""
        return [outer, own].filter { !$0.isEmpty }.joined(separator: ".")
    }

    private static func name(_ registers: Registers) -> String {
        registers.frames.filter { frame in
            // A request whose output is changed, a download say, is no chain: nothing follows it.
            frame.count > 1 && frame.steps.prefix(frame.count).contains(where: \.isLink)
        }.suffix(32).map { "chain[\($0.step)]" }.joined(separator: ".")
    }

    func place(of lane: Int) -> (name: String, owner: (any PlanOwner)?, lane: Int) {
        state.withLock { state in
            (lane == Self.undoLane ? "undo" : state.isAside ? Self.name(state.registers) : "", state.owner, self.lane)
        }
    }

    func callPath(lane: Int) -> String { path(of: lane) }
}

extension Result<HTTPResponse, BatonError> {
    /// Whether there is so little to decode that it may be done on a transport's thread.
    var isSmall: Bool {
        if case .success(let response) = self { response.bodyCount <= 4_096 } else { true }
    }
}
