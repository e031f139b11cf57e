/// How much load retries and hedges may add to a host, so that a host that fails is not asked many times as often as
/// usual by everybody at once.
///
/// ```swift
/// RetryBudget()                             // 20 % of the requests of the last 10 s, plus 10
/// RetryBudget(share: 0.1, reserve: 3)
/// ```
/// Each host has a budget of its own. Retries and hedges draw on it; first attempts pay in and are never refused. When
/// it is used up, a failure is final at once: nothing waits for the budget. A batch's `reconnect` does not draw on it.
///
/// The semantics are those of Finagle's and tower's budgets: a bucket of tokens whose deposits and withdrawals are
/// forgotten after a window.
public struct RetryBudget: Sendable, Hashable {
    /// How many retries a request pays for. Default 0.2, which is 20 %.
    public var share: Double
    /// How many retries a window allows whatever the traffic, so that a quiet client can retry. Default 10.
    public var reserve: Int
    /// How far back requests and retries count. Default 10 s, kept in ten slots.
    public var window: Duration

    /// A budget; its defaults suit most clients.
    public init(share: Double = 0.2, reserve: Int = 10, window: Duration = .seconds(10)) {
        self.share = share
        self.reserve = reserve
        self.window = window
    }

    /// What is wrong with the values; nil when nothing is.
    package var fault: String? {
        if !(share >= 0 && share <= 1_000) {
            return "a retry budget's share is \(share): it must be a number from 0 to 1000, where 0.2 means 20 %"
        }
        if reserve < 0 { return "a retry budget's reserve is \(reserve): it must not be negative" }
        if window < .milliseconds(10) { return "a retry budget's window is \(window): it must be at least 10 ms" }
        return nil
    }
}

/// The budget of one host.
///
/// Whenever a retry is allowed, the retries of the window that ends there are at most `share` of the requests of the
/// same window, plus the reserve: retries are remembered for at least the window, requests for at most the window.
/// Over any longer time it follows that the extra load is at most `share` of the requests, plus the reserve for each
/// window begun.
package struct RetryBudgetState: Sendable {
    private let share: Double
    private let reserve: Double
    /// Requests are the first count, retries the second.
    private var counts: SlidingCounts

    package init(_ budget: RetryBudget) {
        share = budget.share
        reserve = Double(budget.reserve)
        counts = SlidingCounts(window: budget.window)
    }

    /// A request's first attempt goes to the host.
    package mutating func noteRequest(at now: Instant) {
        counts.add(first: 1, at: now)
    }

    /// How many retries could be drawn now.
    package mutating func available(at now: Instant) -> Int {
        let requests = counts.sum(at: now).first
        let retries = counts.sum(ofSlots: counts.slotCount + 1, at: now).second
        // The share of a whole number may come out a hair below the whole number that it is.
        let tokens = (share * Double(requests) + reserve + 1e-6).rounded(.down) - Double(retries)
        return tokens <= 0 ? 0 : Int(min(tokens, 1e15))
    }

    /// Draws one retry or hedge. False: the budget is used up, and nothing was drawn.
    package mutating func withdraw(at now: Instant) -> Bool {
        guard available(at: now) > 0 else { return false }
        counts.add(second: 1, at: now)
        return true
    }
}
