internal import Baton

/// When a fault is injected.
struct FaultRule: Sendable {
    enum Trigger: Sendable {
        case probability(Double)
        /// The nth request that fits the rule, from 1.
        case call(Int)
    }

    let fault: Fault
    let trigger: Trigger
    let path: PathPattern?
    /// Requests that fitted so far.
    private var seen = 0
    /// Requests of a burst that are still to come.
    private var left = 0

    init(_ fault: Fault, _ trigger: Trigger, path: String?) {
        self.fault = fault
        self.trigger = trigger
        self.path = path.map { PathPattern($0) }
    }

    func fits(_ request: HTTPRequest) -> Bool { path?.matches(request) ?? true }

    /// Counts a request that fits; whether the fault strikes it. `draw` is between 0 and 1.
    mutating func strikes(_ draw: Double) -> Bool {
        seen += 1
        if left > 0 {
            left -= 1
            return true
        }
        let strikes =
            switch trigger {
            case .probability(let probability): draw < probability
            case .call(let number): seen == number
            }
        if strikes, case .unavailable(let count, _) = fault { left = max(0, count - 1) }
        return strikes
    }
}
