public import Baton

/// A transport that lets things go wrong with another one's requests, by rule and by seed.
///
/// ```swift
/// let faults = Faults(around: mock, seed: 7)
/// faults.inject(.refuse, probability: 0.1)
/// faults.inject(.cutBody(after: 10), onCall: 3, path: "/orders/*")
/// let client = Client(baseURL: "https://api.example.com", transport: faults)
/// …
/// print(faults.injected)
/// ```
/// Whether a fault strikes a request depends on the seed, the rule, and the request's number in the order of arrival,
/// and on nothing else. Of several rules that would strike, the first one does. Requests without a fault pass as if the
/// wrapper were not there. A reply with a fault in its body comes when the fault has the bytes that it needs.
public final class Faults: ScheduledTransport {
    private struct State {
        var scheduler: any Scheduler = LiveScheduler.shared
        var rules: [FaultRule] = []
        var calls = 0
        var injected: [InjectedFault] = []
        var open: [Int: ScriptedExchange] = [:]
        var isClosed = false
    }

    private let transport: any Transport
    private let seed: UInt64
    private let state = LockBox(State())

    /// Wraps `transport`. The same seed and the same order of requests yield the same faults.
    public init(around transport: any Transport, seed: UInt64 = 0) {
        self.transport = transport
        self.seed = seed
    }

    // MARK: Rules

    /// Injects a fault into a share of the requests, 0 to 1.
    ///
    /// - Parameter path: only into requests with that path, which may be a pattern; nil, the default: into any.
    public func inject(_ fault: Fault, probability: Double, path: String? = nil) {
        state.withLock { $0.rules.append(FaultRule(fault, .probability(probability), path: path)) }
    }

    /// Injects a fault into one request: the nth, from 1, of those with the path.
    ///
    /// - Parameter path: the path to count, which may be a pattern; nil, the default: any.
    public func inject(_ fault: Fault, onCall number: Int, path: String? = nil) {
        state.withLock { $0.rules.append(FaultRule(fault, .call(number), path: path)) }
    }

    /// Removes the rules; the count of requests and what was injected stay.
    public func removeAll() {
        state.withLock { $0.rules = [] }
    }

    /// What was injected so far, in the order of the requests.
    public var injected: [InjectedFault] { state.withLock { $0.injected } }

    // MARK: Transport

    package func attach(to scheduler: any Scheduler) {
        state.withLock { $0.scheduler = scheduler }
        (transport as? any ScheduledTransport)?.attach(to: scheduler)
    }

    package var isInMemory: Bool { (transport as? any ScheduledTransport)?.isInMemory ?? false }
    public var callbackThreads: CallbackThreads { transport.callbackThreads }

    public func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        let struck: (FaultyExchange, ScriptedExchange)? = state.withLock { state in
            state.calls += 1
            guard !state.isClosed, let fault = strike(request, &state) else { return nil }
            let call = state.calls
            state.injected.append(
                InjectedFault(call: call, request: "\(request.method) \(request.path)", fault: fault))
            let faulty = FaultyExchange(fault, seed: seed &+ UInt64(call))
            let exchange = ScriptedExchange(receiver, state.scheduler) { [self] in
                ended(call)
                faulty.outerEnded()
            }
            faulty.connect(to: exchange)
            state.open[call] = exchange
            return (faulty, exchange)
        }
        guard let (faulty, exchange) = struck else { return transport.send(request, to: receiver) }
        faulty.begin(request, over: transport)
        return exchange
    }

    public func shutdown() {
        let open = state.withLock { state in
            state.isClosed = true
            return state.open
        }
        transport.shutdown()
        for (_, exchange) in open.sorted(by: { $0.key < $1.key }) {
            exchange.end(with: BatonError(.transportClosed, "the transport was shut down"))
        }
    }

    private func ended(_ call: Int) {
        let exchange = state.withLock { $0.open.removeValue(forKey: call) }
        withExtendedLifetime(exchange) {}
    }

    /// The fault of the first rule that strikes. Every rule that fits counts the request.
    private func strike(_ request: HTTPRequest, _ state: inout State) -> Fault? {
        var fault: Fault?
        for index in state.rules.indices where state.rules[index].fits(request) {
            var generator = SeededGenerator(seed: seed ^ (UInt64(state.calls) << 20 | UInt64(index)))
            // The first draws of neighbouring seeds are alike in nothing, but one more costs nothing.
            _ = generator.next()
            let draw = Double(generator.next() >> 11) / Double(1 << 53 as UInt64)
            if state.rules[index].strikes(draw), fault == nil { fault = state.rules[index].fault }
        }
        return fault
    }
}
