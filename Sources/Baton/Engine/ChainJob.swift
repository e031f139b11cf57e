/// Runs the steps of a chain, whatever they are, and the chains within it.
///
/// Steps are interpreted in a loop on worker threads, with one frame for each chain that stands within another, so
/// the stack does not grow with their number or depth. Where a step has to wait, the registers are put aside, and the
/// one who ends the wait posts.
final class ChainJob: Cancellable, CallOwner, PlanOwner {
    /// A chain that is being run, and how far it is.
    struct Frame {
        var steps: [ChainStep]
        var count: Int
        var next = 0
        /// The number of the step under way; changes of its value belong to it.
        var step = 0
    }

    /// What the interpreter works with; whoever runs has taken it out of the state.
    struct Registers {
        var frames: [Frame] = []
        var value: any Sendable = ()
        /// The values of the outermost chain's steps that are done.
        var completed: [any Sendable] = []
        /// What runs first.
        var entry: _PlanNode?
    }

    /// What a step that had to wait came to.
    enum Arrival {
        case response(Result<HTTPResponse, BatonError>)
        case value(Result<any Sendable, BatonError>)
        case node(Result<_PlanNode, BatonError>)
    }

    enum Phase {
        case running, waiting, ended
    }

    struct State {
        var phase = Phase.waiting
        var registers: Registers?
        var arrival: Arrival?
        var output: (any Response.Type)?
        var call: CallJob?
        var child: (any Cancellable)?
        var task: Task<Void, Never>?
        /// Tells the task of this step from one that comes late.
        var token: UInt64 = 0
        var isCancelled = false
        var owner: (any PlanOwner)?
    }

    let run: RunCore
    let lane: Int
    /// Whether a batch stands around it; the progress of batches within is not the run's.
    let isNested: Bool
    let state: LockBox<State>

    let scheduler: any Scheduler

    init(run: RunCore, owner: any PlanOwner, lane: Int, isNested: Bool, node: _PlanNode) {
        self.run = run
        self.lane = lane
        self.isNested = isNested
        scheduler = run.engine.scheduler
        state = LockBox(State(registers: Registers(entry: node), owner: owner))
    }

    func run(_ signal: Signal) {
        switch signal.kind {
        case Signal.start.kind, Signal.resume.kind: resume()
        default: break
        }
    }

    /// The chain fails before it begins.
    func fail(with error: BatonError) {
        state.withLock { state in
            state.registers?.entry = _PlanNode(content: .failure(error))
        }
    }

    // MARK: Waiting

    func callEnded(_ call: CallJob, _ result: Result<HTTPResponse, BatonError>, attempts: Int, lane: Int) {
        let isLast: Bool? = state.withLock { state in
            guard state.phase == .waiting, state.arrival == nil, let registers = state.registers else { return nil }
            state.arrival = .response(result)
            state.child = nil
            return registers.frames.allSatisfy { $0.next == $0.count }
        }
        guard let isLast else { return }
        // Without closures to call and with little to decode, the run can end where the reply came in.
        if isLast, result.isSmall { scheduler.post(self, .resume) } else { scheduler.execute(self, .resume) }
    }

    func planEnded(_ result: Result<any Sendable, BatonError>, lane: Int) {
        arrive(.value(result))
    }

    private func arrive(_ arrival: Arrival) {
        let isWaiting = state.withLock { state in
            guard state.phase == .waiting, state.registers != nil, state.arrival == nil else { return false }
            state.arrival = arrival
            state.child = nil
            return true
        }
        if isWaiting { scheduler.execute(self, .resume) }
    }

    private func resume() {
        // Swapped, not copied: the arrays in it must have one owner, or each step would copy all that went before.
        var registers = Registers()
        let taken: (Arrival?, (any Response.Type)?)? = state.withLock { state in
            guard state.phase == .waiting, state.registers != nil else { return nil }
            swap(&registers, &state.registers!)
            defer { (state.arrival, state.registers, state.phase) = (nil, nil, .running) }
            return (state.arrival, state.output)
        }
        guard case (let arrival, let output)? = taken else { return }
        switch arrival {
        case .none: break
        case .value(.success(let value)): registers.value = value
        case .node(.success(let node)): registers.entry = node
        case .response(.success(let response)):
            do throws(BatonError) {
                registers.value = try ResponseReader.read(
                    output ?? EmptyResponse.self, from: response, using: run.settings.context.coding)
            } catch {
                return fail(error, &registers)
            }
        case .value(.failure(let error)), .node(.failure(let error)), .response(.failure(let error)):
            return fail(error, &registers)
        }
        interpret(&registers)
    }

    // MARK: Steps

    private func interpret(_ registers: inout Registers) {
        let context = run.settings.context
        if let entry = registers.entry {
            registers.entry = nil
            guard enter(entry, &registers) else { return }
        }
        while let top = registers.frames.indices.last {
            guard registers.frames[top].next < registers.frames[top].count else {
                registers.frames.removeLast()
                continue
            }
            if state.withLock({ $0.isCancelled }) { return fail(CallJob.cancelled, &registers) }
            let step = registers.frames[top].steps[registers.frames[top].next]
            registers.frames[top].next += 1
            do {
                switch step {
                case .start(let node):
                    guard enter(node, &registers) else { return }
                case .map(let map):
                    let value = registers.value
                    registers.value = try UserCode.call(scheduler) { try map.apply(value) }
                case .then(let then):
                    begin(&registers, top)
                    let value = registers.value
                    let node = try UserCode.call(scheduler) { try then.derive(value, context) }
                    guard enter(node, &registers) else { return }
                case .thenAsync(let then):
                    begin(&registers, top)
                    return derive(then, &registers)
                }
            } catch {
                let error = BatonError.wrapping(error, as: .deriveFailed, "a closure of the chain threw an error")
                return fail(error.with(phase: .derive), &registers)
            }
        }
        end(.success(registers.value))
    }

    /// The next step begins: the one before is done.
    private func begin(_ registers: inout Registers, _ top: Int) {
        if top == 0 { registers.completed.append(registers.value) }
        registers.frames[top].step += 1
    }

    /// Goes on with a node; false when the chain has to wait, or is over.
    private func enter(_ node: _PlanNode, _ registers: inout Registers) -> Bool {
        var node = node
        while true {
            switch node.content {
            case .value(let value):
                registers.value = value
                return true
            case .failure(let error):
                fail(error, &registers)
                return false
            case .plan(let plan):
                do throws(BatonError) {
                    node = try plan._node(in: run.settings.context)
                } catch {
                    fail(error, &registers)
                    return false
                }
            case .steps(let steps, let count):
                // A frame that has nothing left is dropped once there are many, so that endless recursion through
                // `then` needs no memory; with few, they tell where the chain is.
                if registers.frames.count >= 64, let last = registers.frames.last, last.next == last.count {
                    registers.frames.removeLast()
                }
                registers.frames.append(Frame(steps: steps.snapshot, count: count))
                return true
            case .call(let description):
                start(description, &registers)
                return false
            case .batch(let batch):
                startBatch(batch, &registers)
                return false
            }
        }
    }

    /// Puts the registers aside until something arrives; false when the chain was cancelled in between.
    private func wait(_ registers: inout Registers, _ change: (inout State) -> Void) -> Bool {
        let waits = state.withLock { state in
            guard !state.isCancelled else { return false }
            // Moved, not copied: the arrays in it have one owner, and grow in place.
            state.registers = registers
            registers = Registers()
            state.phase = .waiting
            change(&state)
            return true
        }
        if !waits { fail(CallJob.cancelled, &registers) }
        return waits
    }

    private func start(_ description: CallDescription, _ registers: inout Registers) {
        let call = state.withLock { $0.call } ?? CallJob(run: run)
        let waits = wait(&registers) { state in
            state.call = call
            state.child = call
            state.output = description.output
        }
        if waits { call.start(description, owner: self, lane: 0) }
    }

    private func startBatch(_ description: BatchDescription, _ registers: inout Registers) {
        let batch = BatchJob(run: run, owner: self, isNested: isNested, description: description)
        if wait(&registers, { $0.child = batch }) { batch.begin() }
    }

    private func derive(_ then: ChainStep.AsyncDerive, _ registers: inout Registers) {
        var token: UInt64 = 0
        let value = registers.value
        let waits = wait(&registers) { state in
            state.token &+= 1
            token = state.token
        }
        guard waits else { return }
        let context = run.settings.context
        let task = scheduler.startTask("an async closure of a chain") { [self, token] in
            // Cancelled before it began: then it does not begin.
            guard state.withLock({ $0.token == token && $0.phase == .waiting }) else { return }
            let result: Result<_PlanNode, BatonError>
            do {
                result = .success(try await then.derive(value, context))
            } catch {
                let error = BatonError.wrapping(error, as: .deriveFailed, "a closure of the chain threw an error")
                result = .failure(error.with(phase: .derive))
            }
            let isCurrent = state.withLock { state in
                state.task = nil
                return state.token == token && state.phase == .waiting
            }
            if isCurrent { arrive(.node(result)) }
        }
        let isOver = state.withLock { state in
            guard state.phase == .waiting, state.token == token, state.arrival == nil else { return true }
            state.task = task
            return false
        }
        if isOver, state.withLock({ $0.isCancelled }) { task.cancel() }
    }

    // MARK: Ending

    /// The step under way is stopped; its end, or the interpreter, ends the chain.
    func takeNote(_ walk: inout CancellationWalk) {
        let (child, task, ending): ((any Cancellable)?, Task<Void, Never>?, Registers?) = state.withLock { state in
            guard state.phase != .ended, !state.isCancelled else { return (nil, nil, nil) }
            state.isCancelled = true
            guard state.phase == .waiting, state.child == nil, state.arrival == nil else {
                return (state.child, state.task, nil)
            }
            // Nobody else will end it: an async closure need not heed its cancellation.
            defer { (state.registers, state.phase) = (nil, .running) }
            return (nil, state.task, state.registers)
        }
        if let child { walk.rest.append(child) }
        if task == nil, ending == nil { return }
        walk.actions.append { [self] in
            task?.cancel()
            if var ending { fail(CallJob.cancelled, &ending) }
        }
    }

    /// Ends the chain with an error. The closures go before anybody hears of the end.
    private func fail(_ error: BatonError, _ registers: inout Registers) {
        var error = error.with(path: path(registers))
        if let outermost = registers.frames.first, outermost.count > 1 {
            error.storage.completed = registers.completed
        }
        registers = Registers()
        end(.failure(error))
    }

    private func end(_ result: Result<any Sendable, BatonError>) {
        let (owner, call, isCancelled): ((any PlanOwner)?, CallJob?, Bool) = state.withLock { state in
            defer { (state.phase, state.owner, state.call, state.child, state.task) = (.ended, nil, nil, nil, nil) }
            return (state.owner, state.call, state.isCancelled)
        }
        call?.retire()
        if isCancelled, case .success(let value) = result {
            var error = CallJob.cancelled
            // If the last step was a batch, this is what it had done.
            error.storage.report = value
            owner?.planEnded(.failure(error), lane: lane)
        } else {
            owner?.planEnded(result, lane: lane)
        }
    }

    // MARK: Where

    private func path(_ registers: Registers) -> String {
        let own = Self.name(registers)
        let outer = state.withLock { $0.owner }?.path(of: lane) ?? ""
        return [outer, own].filter { !$0.isEmpty }.joined(separator: ".")
    }

    private static func name(_ registers: Registers) -> String {
        registers.frames.filter { frame in
            frame.count > 1
        }.suffix(32).map { "chain[\($0.step)]" }.joined(separator: ".")
    }

    func place(of lane: Int) -> (name: String, owner: (any PlanOwner)?, lane: Int) {
        state.withLock { state in
            (state.registers.map(Self.name) ?? "", state.owner, self.lane)
        }
    }

    func callPath(lane: Int) -> String { path(of: lane) }
}

extension Result<HTTPResponse, BatonError> {
    /// Whether there is so little to decode that it may be done on a transport's thread.
    var isSmall: Bool {
        if case .success(let response) = self { response.body.count <= 4_096 } else { true }
    }
}
