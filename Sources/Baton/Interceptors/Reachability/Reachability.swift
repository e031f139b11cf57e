/// Says whether there is a network, as far as the system knows.
///
/// **Choose** `SystemReachability` on Apple platforms, and ``ManualReachability`` in tests and where the app knows better.
///
/// **Implement** both members so that they may be called from anywhere.
public protocol Reachability: Sendable {
    /// Whether there is a network now, as far as the system knows.
    var isReachable: Bool { get }
    /// Returns as soon as there is a network, at once where there is one; throws `CancellationError` when the task is
    /// cancelled.
    func waitUntilReachable() async throws
}

/// A network that is there when it is told so.
///
/// ```swift
/// let network = ManualReachability(isReachable: false)
/// network.set(isReachable: true)
/// ```
public final class ManualReachability: Reachability {
    private struct State {
        var isReachable: Bool
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        /// Waiters whose task was cancelled before they came to wait.
        var cancelled: Set<UInt64> = []
    }

    private let state: LockBox<State>

    /// A network that is there or not. Default: there.
    public init(isReachable: Bool = true) {
        state = LockBox(State(isReachable: isReachable))
    }

    public var isReachable: Bool { state.withLock { $0.isReachable } }

    /// How many wait for the network.
    public var waiting: Int { state.withLock { $0.waiters.count } }

    /// Says that the network is there, or is not; those that wait for it go on.
    public func set(isReachable: Bool) {
        let waiters = state.withLock { state in
            state.isReachable = isReachable
            guard isReachable else { return [CheckedContinuation<Bool, Never>]() }
            defer { state.waiters = [:] }
            return state.waiters.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiters { waiter.resume(returning: true) }
    }

    public func waitUntilReachable() async throws {
        let id = Numbering.next()
        let isThere = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.cancelled.contains(id) { return false }
                    if state.isReachable { return true }
                    state.waiters[id] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                let waiter = state.waiters.removeValue(forKey: id)
                if waiter == nil { state.cancelled.insert(id) }
                return waiter
            }
            waiter?.resume(returning: false)
        }
        state.withLock { _ = $0.cancelled.remove(id) }
        if !isThere { throw CancellationError() }
    }
}
