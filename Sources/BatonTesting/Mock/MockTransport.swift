public import Baton

/// A transport that answers from memory, as it was told.
///
/// ```swift
/// let mock = MockTransport()
/// mock.on(SignIn.self).reply(SignIn.Output(token: "t"))
/// mock.on(.get, "/orders/7").fail(.connectionLost).then.reply(status: 200, json: #"{"total": 3}"#)
/// let client = Client(baseURL: "https://api.example.com", transport: mock)
/// ```
/// Nothing is shared between instances, and a request that fits no stub fails at once: it never reaches a network.
///
/// **Precedence.** Of the stubs that fit a request, the one that was registered last answers. One whose replies are
/// used up is passed over, so that a stub for a few requests can stand in front of a general one.
///
/// **Threads.** A reply without delay comes before `send` returns. Closures that are given to the mock are called on
/// the thread that sends, with no lock held; they must not block, the asynchronous ones excepted.
public final class MockTransport: ScheduledTransport {
    struct State {
        var scheduler: any Scheduler = LiveScheduler.shared
        var stubs: [StubCore] = []
        var calls: [MockCall] = []
        /// The number of the newest request; it survives a reset, so that those under way are not mixed up.
        var newest = 0
        var open: [Int: ScriptedExchange] = [:]
        var maxInFlight = 0
        /// Requests that arrived with their whole body.
        var received = 0
        var waiters: [Waiter] = []
        var isClosed = false
    }

    let state = LockBox(State())
    private let coding: BodyCoding

    /// A mock without stubs. `coding` encodes the values that it replies; the default suits the default of a client.
    public init(coding: BodyCoding = BodyCoding()) {
        self.coding = coding
    }

    package func attach(to scheduler: any Scheduler) {
        state.withLock { $0.scheduler = scheduler }
    }

    var scheduler: any Scheduler { state.withLock { $0.scheduler } }

    // MARK: Stubs

    /// A stub for the requests of a type; it replies values of the type's output.
    ///
    /// ```swift
    /// mock.on(GetUser.self).reply(User(name: "Ada"))
    /// ```
    @discardableResult
    public func on<R: Request>(
        _ type: R.Type, fileID: StaticString = #fileID, line: UInt = #line
    ) -> MockStub<R> {
        add(RequestMatcher(type: type), fileID, line)
    }

    /// A stub for a method and a path.
    ///
    /// ```swift
    /// mock.on(.get, "/orders/7")          // exactly this path, and only without a query
    /// mock.on(.get, "/orders?page=2")     // with this query, in any order
    /// mock.on(.get, "/orders/*")          // a star makes it a pattern
    /// ```
    /// - Parameter path: what follows the client's base URL, the whole path, or an absolute URL. A `*` stands for any
    ///   text within a segment, `**` for any number of segments.
    @discardableResult
    public func on(
        _ method: HTTPMethod, _ path: String, fileID: StaticString = #fileID, line: UInt = #line
    ) -> MockStub<AnyRequest> {
        add(RequestMatcher(method: method, path: path), fileID, line)
    }

    /// A stub for all paths that fit a pattern, with any method unless one is named.
    ///
    /// ```swift
    /// mock.on(pattern: "/users/*/avatar").reply(status: 404)
    /// mock.on(.delete, pattern: "/drafts/**").reply(status: 204)
    /// ```
    @discardableResult
    public func on(
        _ method: HTTPMethod? = nil, pattern: String, fileID: StaticString = #fileID, line: UInt = #line
    ) -> MockStub<AnyRequest> {
        add(RequestMatcher(method: method, path: pattern), fileID, line)
    }

    /// A stub for the requests that `matches` accepts. The body of the request is there as bytes, whatever it was.
    ///
    /// ```swift
    /// mock.on { request in request.fields.contains(.authorization) }.reply(status: 204)
    /// ```
    @discardableResult
    public func on(
        fileID: StaticString = #fileID, line: UInt = #line,
        where matches: @escaping @Sendable (HTTPRequest) -> Bool
    ) -> MockStub<AnyRequest> {
        add(RequestMatcher(predicate: matches), fileID, line)
    }

    private func add<Subject>(_ matcher: RequestMatcher, _ fileID: StaticString, _ line: UInt) -> MockStub<Subject> {
        let file = "\(fileID)".split(separator: "/").last.map(String.init) ?? ""
        let core = StubCore(matcher, place: "\(file):\(line)")
        state.withLock { $0.stubs.append(core) }
        return MockStub(core: core, coding: coding)
    }

    /// The subject of stubs that are not for a request's type.
    public enum AnyRequest {}

    /// Removes the stubs and forgets the calls; requests that are under way go on.
    public func reset() {
        let old = state.withLock { state in
            let old = (state.stubs, state.calls)
            (state.stubs, state.calls, state.received, state.maxInFlight) = ([], [], 0, state.open.count)
            return old
        }
        withExtendedLifetime(old) {}
    }

    // MARK: Exchanges

    public func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        let opened: (ScriptedExchange, Int)? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.newest += 1
            let number = state.newest
            let exchange = ScriptedExchange(receiver, state.scheduler) { [self] in ended(number) }
            state.calls.append(MockCall(request, number: number, instant: state.scheduler.now))
            state.open[number] = exchange
            state.maxInFlight = max(state.maxInFlight, state.open.count)
            return (exchange, number)
        }
        guard let (exchange, number) = opened else {
            receiver.fail(Self.closed)
            return FinishedTransmission.shared
        }
        exchange.begin(request) { [self] in
            reply(to: $0, number: number)
        } handled: { [self] in
            received()
        }
        return exchange
    }

    public func shutdown() {
        let open = state.withLock { state in
            state.isClosed = true
            return state.open
        }
        for exchange in open.sorted(by: { $0.key < $1.key }) { exchange.value.end(with: Self.closed) }
    }

    private static let closed = BatonError(.transportClosed, "the mock was shut down")

    /// The exchange is over; it is so before its receiver knows, who may send the next one at once.
    func ended(_ number: Int) {
        let (exchange, ready, scheduler) = state.withLock { state in
            (state.open.removeValue(forKey: number), state.takeReady(), state.scheduler)
        }
        withExtendedLifetime(exchange) {}
        if !ready.isEmpty { scheduler.post(Arrival(ready), Signal(kind: 0)) }
    }
}
