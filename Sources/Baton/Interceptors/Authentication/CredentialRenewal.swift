internal import Foundation

/// The one refresh of ``Authentication``: who waits for it, how often it may begin, and what comes of it.
final class CredentialRenewal<Value: Credential>: Sendable {
    private let store: any CredentialStore<Value>
    private let options: Authentication<Value>.Options
    private let refresh: @Sendable (Value, any Runner) async throws -> Value
    private let flight = SingleFlight<Value?>()
    /// When refreshes began, as far as that matters still.
    private let starts = LockBox<[Instant]>([])

    init(
        _ store: some CredentialStore<Value>, _ options: Authentication<Value>.Options,
        _ refresh: @escaping @Sendable (Value, any Runner) async throws -> Value
    ) {
        self.store = store
        self.options = options
        self.refresh = refresh
    }

    /// The credential for an attempt, after the refresh that is under way, or that is due.
    func current(_ context: AttemptContext) async throws -> Value? {
        if let renewed = try await flight.value(context.scheduler, named: "a refresh", work: nil) { return renewed }
        guard let stored = try await store.read() else { return nil }
        guard isEnding(stored, context, within: options.leeway) else { return stored }
        do {
            return try await replacement(for: stored, after: nil, context)
        } catch {
            // While it is good for a little longer, a refresh that failed does no harm.
            guard !error.isCancelled, !isEnding(stored, context, within: .zero) else { throw error }
            return stored
        }
    }

    private func isEnding(_ credential: Value, _ context: AttemptContext, within leeway: Duration) -> Bool {
        guard let expiry = credential.expiry else { return false }
        return expiry.timeIntervalSince(context.scheduler.date) <= leeway.inSeconds
    }

    /// Another credential than the one that was refused; nil when there is none at all.
    func replacement(
        for old: Value, after refusal: Result<HTTPResponse, BatonError>?, _ context: AttemptContext
    ) async throws(BatonError) -> Value? {
        do {
            let renewed = try await flight.value(context.scheduler, named: "a refresh") { [self] in
                await renew(old, context)
            }
            return renewed ?? nil
        } catch {
            throw error.with(response: refusal?.response)
        }
    }

    private func renew(_ old: Value, _ context: AttemptContext) async -> Result<Value?, BatonError> {
        do {
            // Somebody else has renewed it since the request was sent, or the user signed in or out.
            let stored = try await store.read()
            guard stored == old else { return .success(stored) }
            guard noteStart(at: context.now) else {
                return .failure(
                    BatonError(
                        .limitReached,
                        "more than \(options.maxRefreshes) refreshes within \(options.window) were asked for"))
            }
            let fresh = try await TimeLimit.run(context.scheduler, options.refreshTimeout, named: "a refresh") {
                [self] in try await refresh(old, context.runner)
            }
            // Who signed out or in meanwhile has the last word.
            let present = try await store.read()
            guard present == old else { return .success(present) }
            try await store.write(fresh)
            return .success(fresh)
        } catch {
            let reason = BatonError.wrapping(error, as: .interceptorFailed, "the refresh threw an error")
            let failed = BatonError(.refreshFailed, "the credential could not be renewed", underlying: reason)
            if options.needsSignIn(reason) { options.onSignInNeeded?(failed) }
            return .failure(failed)
        }
    }

    /// Whether one more refresh may begin.
    private func noteStart(at now: Instant) -> Bool {
        starts.withLock { starts in
            starts.removeAll { $0.duration(to: now) >= options.window }
            guard starts.count < options.maxRefreshes else { return false }
            starts.append(now)
            return true
        }
    }

    /// Forgets a credential that has ended for good; whether it was still there.
    func remove(_ credential: Value?) async throws -> Bool {
        guard let credential, try await store.read() == credential else { return false }
        try await store.write(nil)
        return true
    }
}
