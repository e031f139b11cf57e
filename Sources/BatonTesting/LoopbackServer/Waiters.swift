/// Those who wait for the activity of a server. Pure; whoever holds it resumes what it gives out, under no lock.
struct Waiters {
    enum Condition: Sendable {
        case requests(Int)
        case changes(after: Int)
    }

    struct Waiter: Sendable {
        let number: Int
        let condition: Condition
        let continuation: CheckedContinuation<Void, Never>

        func resume() { continuation.resume() }
    }

    private var waiting: [Waiter] = []
    /// Those that have a number and no continuation yet, and whether they were cancelled meanwhile.
    private var announced: [Int: Bool] = [:]
    private var lastNumber = 0

    mutating func announce() -> Int {
        lastNumber += 1
        announced[lastNumber] = false
        return lastNumber
    }

    /// Adds a waiter that was announced. Returns false when there is nothing to wait for.
    mutating func add(_ waiter: Waiter, requests: Int, changes: Int) -> Bool {
        let isCancelled = announced.removeValue(forKey: waiter.number) ?? true
        if isCancelled || Self.isMet(waiter.condition, requests, changes) { return false }
        waiting.append(waiter)
        return true
    }

    mutating func cancel(_ number: Int) -> Waiter? {
        if let index = waiting.firstIndex(where: { $0.number == number }) { return waiting.remove(at: index) }
        if announced[number] != nil { announced[number] = true }
        return nil
    }

    mutating func takeMet(requests: Int, changes: Int) -> [Waiter] {
        guard !waiting.isEmpty else { return [] }
        let met = waiting.filter { Self.isMet($0.condition, requests, changes) }
        if !met.isEmpty { waiting.removeAll { Self.isMet($0.condition, requests, changes) } }
        return met
    }

    mutating func takeAll() -> [Waiter] {
        defer { waiting = [] }
        return waiting
    }

    private static func isMet(_ condition: Condition, _ requests: Int, _ changes: Int) -> Bool {
        switch condition {
        case .requests(let count): requests >= count
        case .changes(let seen): changes > seen
        }
    }
}
