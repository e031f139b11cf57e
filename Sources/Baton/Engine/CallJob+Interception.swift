/// The way through interceptors, which is a Swift task; requests without any never see one.
extension CallJob {
    /// Hands the call over to its interceptors.
    func interception(
        _ placement: InterceptorPlacement, by stack: InterceptorStack, _ original: CallDescription,
        _ state: inout State
    ) -> Course {
        state.phase = .intercepting
        (state.isExhausted, state.isPassTaken) = (false, false)
        let source = state.source ?? ClientSource(engine, settings)
        state.source = source
        let context = AttemptContext(
            run: run.id, call: state.number, attempt: max(1, state.attempt), options: state.options,
            scheduler: scheduler, source: source, events: run.events)
        return .intercept(
            Intercepting(
                original: original, layers: placement == .call ? stack.call : stack.attempt,
                below: placement == .call ? .attempts : .exchange, context: context))
    }

    /// Runs the interceptors; the last one hands on to a call with fewer layers.
    func intercept(_ facts: consuming Intercepting, _ token: UInt64) {
        let (request, below) = (facts.original.request, facts.below)
        let innermost: Next.Send = { [self] request, pass in
            await send(request, below: below, token: token, pass)
        }
        var onion = innermost
        for layer in facts.layers.reversed() {
            let (interceptor, context, next) = (layer.interceptor, facts.context.with(layer.id), onion)
            onion = { request, pass in
                do {
                    return .success(
                        try await interceptor.intercept(request, context: context, next: Next(pass, next)))
                } catch {
                    return .failure(
                        BatonError.wrapping(error, as: .interceptorFailed, "an interceptor threw an error")
                            .with(phase: .intercept))
                }
            }
        }
        let task = scheduler.startTask("an interceptor") { [self, onion] in
            // Cancelled before it began: then it does not begin.
            guard state.withLock({ $0.token == token && $0.phase == .intercepting }) else { return }
            let result = await onion(request, .own)
            UserCode.end { intercepted(result, token: token, below: below) }
        }
        let isStale = state.withLock { state in
            guard state.token == token, state.phase == .intercepting else { return true }
            state.task = task
            return false
        }
        if isStale { task.cancel() }
    }

    private func intercepted(_ result: Result<HTTPResponse, BatonError>, token: UInt64, below: Layers) {
        let next: UInt64? = state.withLock { state in
            guard state.token == token, state.phase == .intercepting else { return nil }
            state.phase = .preparing
            state.token &+= 1
            state.task = nil
            state.children = []
            return state.token
        }
        guard let next else { return }
        if below == .attempts { finish(result, next) } else { conclude(result, next) }
    }

    /// Sends what came through the interceptors, and waits for its end without holding a thread.
    private func send(
        _ request: HTTPRequest, below: Layers, token: UInt64, _ pass: NextPass
    ) async -> Result<HTTPResponse, BatonError> {
        switch state.withLock({ prepare(request, below: below, token: token, pass, &$0) }) {
        case .over:
            // Whoever goes on asking for a call that has ended shares the thread with others at least.
            await Task.yield()
            return .failure(Self.cancelled)
        case .refused(let error): return .failure(error)
        case .exhausted(let error, let task):
            task?.cancel()
            intercepted(.failure(error), token: token, below: below)
            return .failure(error)
        case .ready(let passage):
            let child = passage.child
            let description: CallDescription
            do throws(MessageFault) {
                description = try passage.original.changed(to: request)
            } catch {
                child.retire()
                return .failure(.wrapping(error, as: .invalidRequest, "").with(phase: .intercept))
            }
            // As `waiting` does it, without the calls of a generic async function, which each interceptor would pay for.
            scheduler.beginWait()
            let (result, attempts) = await withCheckedContinuation { continuation in
                child.start(
                    description, layers: below, number: passage.number, attempt: passage.attempt,
                    scope: passage.scope, owner: Waiter(continuation, within: self), lane: 0)
            }
            scheduler.endWait()
            let (waited, isSpent) = child.state.withLock { ($0.slotWait, $0.isCancelled) }
            let isKept = state.withLock { state in
                guard state.token == token else { return false }
                if let waited { state.slotWait = (state.slotWait ?? .zero) + waited }
                state.children.removeAll { $0 === child }
                if below == .attempts { state.attempt = max(state.attempt, attempts) }
                guard !isSpent, state.spare == nil else { return false }
                state.spare = child
                return true
            }
            if !isKept { child.retire() }
            return result
        }
    }

    /// What the call below begins with.
    private struct Passage {
        var child: CallJob
        var original: CallDescription
        var number: UInt64
        var attempt: Int
        var scope: PlanScope?
    }

    private enum Preparation {
        case ready(Passage)
        /// The interceptor hears of it, and may make something of it.
        case refused(BatonError)
        /// It was told so before: the call ends.
        case exhausted(BatonError, Task<Void, Never>?)
        /// The call has ended, or was cancelled.
        case over
    }

    /// Decides whether an interceptor's request is sent.
    private func prepare(
        _ request: HTTPRequest, below: Layers, token: UInt64, _ pass: NextPass,
        _ state: inout State
    ) -> Preparation {
        guard state.token == token, state.phase == .intercepting, !state.isCancelled, let original = state.original
        else { return .over }
        let turn = pass.take(&state.isPassTaken)
        if turn != .first {
            let limit = (state.options.retry ?? settings.retry).attempts
            guard turn == .replay || state.attempt < limit else {
                let error = BatonError(
                    .attemptsExhausted, "an interceptor asked for another attempt after the last of \(limit)"
                ).with(phase: .intercept)
                defer { state.isExhausted = true }
                return state.isExhausted ? .exhausted(error, state.task) : .refused(error)
            }
            guard original.request.body.isReplayable else {
                return .refused(
                    BatonError(
                        .notReplayable, "an interceptor asked for another attempt of a body that can be sent once"
                    ).with(phase: .intercept))
            }
            if below == .exchange { state.attempt += 1 }
        }
        let child = state.spare.take() ?? CallJob(run: run)
        state.children.append(child)
        return .ready(
            Passage(
                child: child, original: original, number: state.number, attempt: state.attempt, scope: state.scope))
    }

    private typealias Answer = (Result<HTTPResponse, BatonError>, attempts: Int)

    /// An interceptor that waits for its exchange.
    private final class Waiter: CallOwner {
        private let continuation: CheckedContinuation<Answer, Never>
        private let call: CallJob

        init(_ continuation: CheckedContinuation<Answer, Never>, within call: CallJob) {
            self.continuation = continuation
            self.call = call
        }

        /// While the call below waits, the one that the interceptor stands around does.
        func lender(of lane: Int) -> Lender {
            call.state.withLock { state in
                state.owner.map { .call($0, lane: state.lane, within: call) } ?? .none
            }
        }

        func callEnded(_ call: CallJob, _ result: Result<HTTPResponse, BatonError>, _ end: CallEnd) {
            continuation.resume(returning: (result, end.attempts))
        }

        func callPath(lane: Int) -> String { "" }
        func callPlace(lane: Int) -> PlanPlace { call.state.withLock { $0.place } }
    }
}
