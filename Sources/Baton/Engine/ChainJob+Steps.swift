/// The interpreter: one step after the other, until one has to wait.
extension ChainJob {
    func interpret(_ registers: inout Registers) {
        let context = run.settings.context
        let loop = ThreadLoop.current
        if let entry = registers.entry {
            registers.entry = nil
            guard enter(entry, &registers) else { return }
        }
        while let top = registers.frames.indices.last {
            guard registers.frames[top].next < registers.frames[top].count else {
                registers.frames.removeLast()
                continue
            }
            if let cancellation = state.withLock({ $0.cancellation }) { return fail(cancellation, &registers) }
            let step = registers.frames[top].steps[registers.frames[top].next]
            registers.frames[top].next += 1
            do {
                switch step {
                case .start(let node):
                    guard enter(node, &registers) else { return }
                case .map(let map):
                    registers.value = try UserCode.call(scheduler, loop) { try map.apply(registers.value) }
                case .then(let then):
                    begin(&registers, top)
                    let node = try UserCode.call(scheduler, loop) { try then.derive(registers.value, context) }
                    guard enter(node, &registers) else { return }
                case .thenAsync(let then):
                    begin(&registers, top)
                    return derive(then, &registers)
                case .recover: break
                case .undo(let derive, let deadline):
                    registers.undos.append(Undo(derive: derive, value: registers.value, deadline: deadline))
                case .wait(let duration): return pause(duration, &registers)
                }
            } catch {
                let error = BatonError.wrapping(error, as: .deriveFailed, "a closure of the chain threw an error")
                return fail(error.with(phase: .derive), &registers)
            }
        }
        end(.success(registers.value), undos: registers.undos)
    }

    /// The next step begins: the one before is done.
    private func begin(_ registers: inout Registers, _ top: Int) {
        if top == 0 { registers.completed.append(registers.value) }
        registers.frames[top].step += 1
    }

    /// Goes on with a node; false when the chain has to wait, or is over.
    private func enter(_ node: consuming _PlanNode, _ registers: inout Registers) -> Bool {
        while true {
            switch (consume node).content {
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
                push(Frame(steps: steps.snapshot, count: count, scope: currentScope(registers)), &registers)
                return true
            case .scoped(let part):
                if let fault = part.options.fault {
                    fail(BatonError(.invalidConfiguration, fault), &registers)
                    return false
                }
                let scope = PlanScope.nested(in: currentScope(registers), part.options, now: scheduler.now)
                if part.options.isFence {
                    startPart(part.node, scope, tag: part.options.tag, &registers)
                    return false
                }
                push(Frame(steps: [.start(part.node)], count: 1, scope: scope), &registers)
                return true
            case .call(let description):
                start(description, &registers)
                return false
            case .batch(let batch):
                startBatch(batch, &registers)
                return false
            case .shared(let part):
                join(part, &registers)
                return false
            }
        }
    }

    func currentScope(_ registers: Registers) -> PlanScope? {
        registers.frames.last.map(\.scope) ?? scope
    }

    private func push(_ frame: Frame, _ registers: inout Registers) {
        // A frame that has nothing left is dropped once there are many, so that endless recursion through `then` needs
        // no memory; with few, they tell where the chain is.
        if registers.frames.count >= 64, let last = registers.frames.last, last.next == last.count {
            registers.frames.removeLast()
        }
        registers.frames.append(frame)
    }

    // MARK: Steps that wait

    /// Puts the registers aside until something arrives; false when the chain was cancelled in between.
    private func wait(_ registers: inout Registers, _ change: (inout State) -> Void) -> Bool {
        let cancellation: BatonError? = state.withLock { state in
            if let cancellation = state.cancellation { return cancellation }
            swap(&registers, &state.registers)
            (state.isAside, state.phase) = (true, .waiting)
            change(&state)
            return nil
        }
        if let cancellation { fail(cancellation, &registers) }
        return cancellation == nil
    }

    private func start(_ description: CallDescription, _ registers: inout Registers) {
        let scope = currentScope(registers)
        if description.options.isFence {
            let inner = PlanScope.nested(in: scope, description.options, now: scheduler.now)
            let node = _PlanNode(content: .call(description.withoutFence))
            return startPart(node, inner, tag: description.options.tag, &registers)
        }
        let traced = run.traceStart != nil && !isNested ? (description, scheduler.now) : nil
        var job: CallJob?
        let waits = wait(&registers) { state in
            let call = state.call ?? CallJob(run: run)
            job = call
            state.traced = traced
            state.call = call
            state.child = call
            state.asked = description
        }
        guard waits, let call = job else { return }
        call.start(
            description, scope: scope, owner: self, lane: 0, needsPlace: isNested && call.hasLentPlace(self, 0))
    }

    /// A part that can end before what stands around it is a job of its own.
    private func startPart(_ node: _PlanNode, _ scope: PlanScope, tag: String?, _ registers: inout Registers) {
        let part = ChainJob(
            run: run, owner: self, lane: 0, isNested: isNested, scope: scope, isFence: true, tag: tag, node: node)
        if wait(&registers, { $0.child = part }) { scheduler.execute(part, .start) }
    }

    private func startBatch(_ description: BatchDescription, _ registers: inout Registers) {
        let batch = BatchJob(
            run: run, owner: self, isNested: isNested, scope: currentScope(registers), description: description)
        if wait(&registers, { $0.child = batch }) { batch.begin() }
    }

    private func join(_ part: SharedPlan, _ registers: inout Registers) {
        let currentScope = currentScope(registers)
        let guest = SharedJob.Guest(self)
        if wait(&registers, { $0.child = guest }) { run.shared(part).join(guest, currentScope) }
    }

    private func pause(_ duration: Duration, _ registers: inout Registers) {
        _ = wait(&registers) { state in
            state.token &+= 1
            state.timer = scheduler.schedule(
                self, Signal(kind: Self.waited, token: state.token), at: scheduler.now.advanced(by: duration))
        }
    }

    func waited(_ token: UInt64) {
        let isCurrent = state.withLock { state in
            guard state.token == token, state.phase == .waiting, state.timer != nil else { return false }
            state.timer = nil
            return true
        }
        // What follows may be a closure.
        if isCurrent { scheduler.execute(self, .resume) }
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
                guard state.token == token, state.phase == .waiting else { return false }
                state.task = nil
                return true
            }
            if isCurrent { UserCode.end { arrive(.node(result)) } }
        }
        let isOver = state.withLock { state in
            guard state.phase == .waiting, state.token == token, state.arrival == nil else { return true }
            state.task = task
            return false
        }
        if isOver, state.withLock({ $0.isCancelled }) { task.cancel() }
    }
}
