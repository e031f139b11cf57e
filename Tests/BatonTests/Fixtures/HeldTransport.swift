import Baton

/// Holds every exchange until the test ends it; knows how many were held at once.
///
/// It works under virtual time too: it needs none.
final class HeldTransport: ScheduledTransport {
    /// What it does with an exchange that is cancelled.
    enum Manners: Sendable {
        /// Ends it from inside `cancel`.
        case prompt
        /// Goes on as if nothing had been said.
        case deaf
    }

    /// One exchange in hand; it can be ended as often as a faulty transport would.
    struct Exchange: Sendable {
        let request: HTTPRequest
        let receiver: TransportReceiver

        func reply(_ response: HTTPResponse? = nil) { receiver.complete(response ?? .item(for: request)) }
        func fail(_ code: BatonError.Code) { receiver.fail(BatonError(code, "said the test")) }
    }

    private struct State {
        var exchanges: [Exchange] = []
        var open: Set<Int> = []
        var most = 0
        var cancelled: [Int] = []
        var countdowns: [(count: Int, gate: Gate)] = []
    }

    private let state = LockBox(State())
    private let manners: Manners

    init(_ manners: Manners = .prompt) {
        self.manners = manners
    }

    func attach(to scheduler: any Scheduler) {}

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        let exchange = Exchange(request: request, receiver: receiver)
        let (number, reached): (Int, [Gate]) = state.withLock { state in
            state.exchanges.append(exchange)
            let number = state.exchanges.count - 1
            state.open.insert(number)
            state.most = max(state.most, state.open.count)
            let reached = state.countdowns.filter { $0.count <= number + 1 }.map(\.gate)
            state.countdowns.removeAll { $0.count <= number + 1 }
            return (number, reached)
        }
        for gate in reached { gate.open() }
        return Handle(transport: self, number: number)
    }

    /// Everything that was sent so far.
    var sent: [HTTPRequest] { state.withLock { $0.exchanges.map(\.request) } }
    /// Which exchanges were cancelled, in order.
    var cancelled: [Int] { state.withLock { $0.cancelled } }
    /// The most exchanges that were open at once.
    var most: Int { state.withLock { $0.most } }

    /// The exchange that was begun as the nth, whether or not it is over.
    subscript(number: Int) -> Exchange { state.withLock { $0.exchanges[number] } }

    /// Ends an exchange with the item that it asked for, or with `response`.
    func reply(to number: Int, with response: HTTPResponse? = nil) {
        let exchange = state.withLock { state in
            state.open.remove(number)
            return state.exchanges[number]
        }
        exchange.reply(response)
    }

    /// Waits until so many exchanges were begun in all; false when that does not come about.
    @discardableResult
    func hasSent(_ count: Int) async -> Bool {
        let gate = Gate()
        let isThere = state.withLock { state in
            if state.exchanges.count < count { state.countdowns.append((count, gate)) }
            return state.exchanges.count >= count
        }
        if isThere { return true }
        return await gate.opens()
    }

    private func cancel(_ number: Int) {
        let exchange: Exchange? = state.withLock { state in
            state.cancelled.append(number)
            guard manners == .prompt, state.open.remove(number) != nil else { return nil }
            return state.exchanges[number]
        }
        exchange?.fail(.cancelled)
    }

    private final class Handle: Transmission {
        private let transport: HeldTransport
        private let number: Int
        init(transport: HeldTransport, number: Int) {
            self.transport = transport
            self.number = number
        }
        func cancel() { transport.cancel(number) }
    }
}
