/// Identical safe requests that are under way at the same time are sent once.
///
/// What travels is a run of its own, so that nobody who waits for it is special: the last one that leaves cancels it.
/// Its end reaches those who wait then; nothing is kept.
final class Coalescer: Sendable {
    private struct Shared {
        var run: RunCore?
        /// Tells it from one before it whose last guest has left, and which is still ending.
        var number: UInt64 = 0
        var guests: [ObjectIdentifier: (CallJob, token: UInt64)] = [:]
    }

    private let shared = LockBox<[CoalescingKey: Shared]>([:])

    /// Waits with the others; the first one starts it.
    func join(
        _ key: CoalescingKey, _ guest: CallJob, _ token: UInt64, _ call: CallDescription, _ options: RequestOptions
    ) {
        let run: RunCore? = shared.withLock { shared in
            let isFirst = shared[key] == nil
            shared[key, default: Shared()].guests[ObjectIdentifier(guest)] = (guest, token)
            guard isFirst else { return nil }
            let number = Numbering.next()
            let run = RunCore(engine: guest.engine, settings: guest.settings) { [weak self] result in
                self?.end(key, number, result)
            }
            shared[key]?.number = number
            shared[key]?.run = run
            return run
        }
        var options = options
        options.coalescing = nil
        let own = CallDescription(request: call.request, output: HTTPResponse.self, options: options)
        run?.start(_PlanNode(content: .call(own)), isShared: true)
    }

    /// One is not interested any more.
    func leave(_ key: CoalescingKey, _ guest: CallJob) {
        let run: RunCore? = shared.withLock { shared in
            shared[key]?.guests[ObjectIdentifier(guest)] = nil
            guard let entry = shared[key], entry.guests.isEmpty else { return nil }
            shared[key] = nil
            return entry.run
        }
        run?.cancel()
    }

    private func end(_ key: CoalescingKey, _ number: UInt64, _ result: Result<any Sendable, BatonError>) {
        let entry = shared.withLock { shared in
            shared[key]?.number == number ? shared.removeValue(forKey: key) : nil
        }
        let response: Result<HTTPResponse, BatonError> = result.flatMap { value in
            (value as? HTTPResponse).map { .success($0) } ?? .failure(BatonError(.transportFailed, "no response"))
        }
        for (guest, token) in (entry?.guests ?? [:]).values { guest.coalesced(response, token) }
    }
}

extension CallJob {
    /// Waits for an identical request instead of sending one, where that is asked for; false when it travels alone.
    func coalesces(_ token: UInt64) -> Bool {
        guard !run.isShared else { return false }
        let joins: (CoalescingKey, CallDescription, RequestOptions)? = state.withLock { state in
            guard state.token == token, let original = state.original,
                let coalescing = state.options.coalescing ?? settings.coalescing,
                let key = coalescing.key(of: original.request)
            else { return nil }
            state.phase = .coalescing
            state.key = key
            state.attempt = 1
            return (key, original, state.options)
        }
        guard let (key, original, options) = joins else { return false }
        engine.coalescer.join(key, self, token, original, options)
        if state.withLock({ $0.token != token }) { engine.coalescer.leave(key, self) }
        return true
    }

    func coalesced(_ result: Result<HTTPResponse, BatonError>, _ token: UInt64) {
        finish(result, token)
    }
}
