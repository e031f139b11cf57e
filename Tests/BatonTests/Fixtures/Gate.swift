import Baton
import Dispatch

/// Something that a test waits for: closed until somebody opens it, then open for good.
///
/// A wait ends by itself after a while, so that a fault fails a test instead of hanging it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
    }

    private let state = LockBox(State())
    private let semaphore = DispatchSemaphore(value: 0)

    var isOpen: Bool { state.withLock { $0.isOpen } }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters = [:] }
            return state.waiters.values.map { $0 }
        }
        semaphore.signal()
        for waiter in waiters { waiter.resume(returning: true) }
    }

    /// Waits without holding a thread; false when the gate stayed closed.
    @discardableResult
    func opens(within seconds: Int = 180) async -> Bool {
        await withCheckedContinuation { continuation in
            let id = Numbering.next()
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiters[id] = continuation }
                return state.isOpen
            }
            if isOpen { return continuation.resume(returning: true) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) { [weak self] in
                self?.state.withLock { $0.waiters.removeValue(forKey: id) }?.resume(returning: false)
            }
        }
    }

    /// Holds the calling thread until the gate opens; false when it stayed closed.
    @discardableResult
    func blocks(within seconds: Int = 180) -> Bool {
        guard semaphore.wait(timeout: .now() + .seconds(seconds)) == .success else { return false }
        semaphore.signal()
        return true
    }
}

/// Opens a gate when it is released.
final class Canary: Sendable {
    private let gate: Gate
    init(_ gate: Gate) { self.gate = gate }
    deinit { gate.open() }
}

/// Opens a gate at the nth call.
final class Countdown: Sendable {
    let gate = Gate()
    private let rest: LockBox<Int>

    init(_ count: Int) {
        rest = LockBox(count)
        if count == 0 { gate.open() }
    }

    func callAsFunction() {
        let isLast = rest.withLock { rest in
            rest -= 1
            return rest == 0
        }
        if isLast { gate.open() }
    }
}

/// A list that may be added to from anywhere.
final class Record<Element: Sendable>: Sendable {
    private let elements = LockBox<[Element]>([])

    func add(_ element: Element) { elements.withLock { $0.append(element) } }
    var all: [Element] { elements.withLock { $0 } }
    var count: Int { elements.withLock { $0.count } }
}
