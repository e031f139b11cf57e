/// Stops what was started in it when it is released: for work that nobody needs once its owner is gone.
///
/// ```swift
/// final class ProfileScreen {
///     let scope = CancellationScope()
///     func load() { client.start(GetProfile(), in: scope) { self.show($0) } }
/// }
/// ```
/// Keep it in a property of the owner: a scope that nobody keeps is released at once, and stops what was started in it.
public final class CancellationScope: Sendable {
    private struct State {
        var runs: [UInt64: RunCore] = [:]
        var isCancelled = false
    }

    private let state = LockBox(State())

    /// A scope in which nothing runs yet.
    public init() {}

    deinit { cancel(because: Self.released) }

    /// Stops everything that runs in the scope; what is started in it later is cancelled at once.
    public func cancel() { cancel(because: CallJob.cancelled) }

    private static let released = BatonError(
        .cancelled, "the scope that the run was started in was released: keep it as long as the run is wanted")

    private func cancel(because reason: BatonError) {
        let runs = state.withLock { state in
            defer { (state.runs, state.isCancelled) = ([:], true) }
            return state.runs.values
        }
        for run in runs { run.cancel(because: reason) }
    }

    func add(_ run: RunCore) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.runs[run.id] = run }
            return state.isCancelled
        }
        if isCancelled { run.cancel() }
    }

    func remove(_ id: UInt64) {
        let run = state.withLock { $0.runs.removeValue(forKey: id) }
        withExtendedLifetime(run) {}
    }
}
