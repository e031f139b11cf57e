import Baton
import BatonTesting
import Dispatch
import Testing

/// Real threads, all at once; the thread sanitizer looks on.
@Suite("Under stress")
struct StressTests {
    private static let count = Scale.count(1_000, everyday: 300)

    /// Replies on many threads, ends a cancelled exchange at once, and knows when it has nothing in hand.
    private final class BusyTransport: Transport {
        private let queue = DispatchQueue(label: "test.busy", attributes: .concurrent)
        private let group = DispatchGroup()
        private let inFlight = LockBox((now: 0, most: 0))

        var most: Int { inFlight.withLock { $0.most } }

        func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
            group.enter()
            inFlight.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
            let exchange = Exchange { [self] result in
                inFlight.withLock { $0.now -= 1 }
                receiver.end(with: result)
                group.leave()
            }
            queue.async { exchange.end(.success((request.number ?? 0) % 5 == 4 ? .status(503) : .item(for: request))) }
            return exchange
        }

        func idle() async {
            await withCheckedContinuation { continuation in group.notify(queue: queue) { continuation.resume() } }
        }

        private final class Exchange: Transmission {
            private let ending: LockBox<(@Sendable (Result<HTTPResponse, BatonError>) -> Void)?>
            init(_ ending: @escaping @Sendable (Result<HTTPResponse, BatonError>) -> Void) {
                self.ending = LockBox(ending)
            }
            func end(_ result: Result<HTTPResponse, BatonError>) {
                let ending = ending.withLock { ending in
                    defer { ending = nil }
                    return ending
                }
                ending?(result)
            }
            func cancel() { end(.failure(BatonError(.cancelled))) }
        }
    }

    private static func client(_ transport: any Transport, limit: Int = 8, interceptors: [any Interceptor] = [])
        -> Client
    {
        Client(
            baseURL: "http://h", transport: transport, retry: RetryPolicy(attempts: 2, backoff: .none),
            interceptors: interceptors, observers: [RecordingObserver()]
        ) { $0.maxConcurrency = limit }
    }

    @Test("Runs that many threads start and cancel end once each, and every slot comes back", arguments: [1, 8])
    func startAndCancel(limit: Int) async {
        let transport = BusyTransport()
        let client = Self.client(transport, limit: limit)
        let completions = LockBox([Int](repeating: 0, count: Self.count))
        let ended = Countdown(Self.count)
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                DispatchQueue.concurrentPerform(iterations: Self.count) { n in
                    let plan = GetItem(n: n).then { item in
                        Batch((0..<3).map { GetItem(n: item.n + $0) }, maxConcurrency: 2).reconnect { round in
                            round.number == 1 ? .retry(round.failures.map(\.index)) : .accept
                        }
                    }
                    let run = client.start(plan, on: .global()) { _ in
                        completions.withLock { $0[n] += 1 }
                        ended()
                    }
                    if n % 3 == 0 { run.cancel() }
                    if n % 3 == 1 { DispatchQueue.global().async { run.cancel() } }
                }
                continuation.resume()
            }
        }
        #expect(await ended.gate.opens())
        await transport.idle()
        #expect(completions.withLock { $0 } == Array(repeating: 1, count: Self.count))
        #expect(transport.most <= limit)
        #expect(client.counts.inFlight == 0)
        #expect(client.counts.waiting == 0)
        #expect(client.engine.activeRuns.isEmpty)
    }

    @Test("One batch that many threads cancel, while others read its progress, ends once")
    func cancelStorm() async throws {
        for round in 0..<Scale.count(100, everyday: 20) {
            let transport = BusyTransport()
            let client = Self.client(
                transport,
                interceptors: round % 2 == 0 ? [] : [CountingInterceptor(.attempt), CountingInterceptor(.call)])
            let counted = client.counting(Batch((0..<60).map(GetItem.init), maxConcurrency: 6).onEach { _, _ in })
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 { group.addTask { for await _ in counted.run.progress {} } }
                for _ in 0..<6 {
                    group.addTask {
                        await Task.yield()
                        counted.run.cancel()
                    }
                }
            }
            #expect(await counted.ended.opens())
            await transport.idle()
            #expect(counted.completions.count == 1)
            #expect(client.counts.inFlight == 0)
        }
    }

    @Test("Replies, timeouts and cancels that race for one attempt leave one end and no slot")
    func races() async throws {
        let transport = BusyTransport()
        let client = Self.client(transport, limit: 4)
        let ended = Countdown(Self.count)
        let twice = LockBox(0)
        for n in 0..<Self.count {
            var request = Send(method: .get, path: "/items/\(n)")
            request.options.timeout = .nanoseconds(n * 1_000 + 1)
            let count = LockBox(0)
            let run = client.start(request, on: .global()) { _ in
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                if !isFirst { twice.withLock { $0 += 1 } }
                ended()
            }
            if n % 2 == 0 { DispatchQueue.global().async { run.cancel() } }
        }
        #expect(await ended.gate.opens())
        await transport.idle()
        #expect(twice.withLock { $0 } == 0)
        #expect(client.counts.inFlight == 0)
        #expect(client.counts.waiting == 0)
    }

    @Test("A completion may start the next run, a thousand times in a row")
    func fromCompletions() async {
        let client = Self.client(InlineTransport())
        let done = Gate()
        let sum = LockBox(0)
        @Sendable func next(_ rest: Int) {
            guard rest > 0 else { return done.open() }
            client.start(GetItem(n: 1), on: .global()) { result in
                sum.withLock { $0 += (try? result.get().n) ?? 0 }
                next(rest - 1)
            }
        }
        next(Self.count)
        #expect(await done.opens())
        #expect(sum.withLock { $0 } == Self.count)
    }

    enum Place: CaseIterable, Sendable {
        case send, observer, adapter, interceptor, derive, asyncDerive, map, input, onEach, reconnect, asyncReconnect,
            completion
    }

    @Test("A run may be cancelled from inside each kind of closure, and ends once", arguments: Place.allCases)
    func cancelInside(place: Place) async throws {
        let box = LockBox<(@Sendable () -> Void)?>(nil)
        let isThere = Gate()
        /// Cancels the run at the first call.
        let stop: @Sendable () -> Void = {
            isThere.blocks()
            box.withLock { $0 }?()
        }
        @Sendable func at(_ here: Place) { if here == place { stop() } }
        struct Watcher: EventObserver {
            let stop: @Sendable () -> Void
            func observe(_ event: Event) { stop() }
        }
        let client = Client(
            baseURL: "http://h",
            transport: QueueTransport { request in
                at(.send)
                return request.number == 404 ? .status(404) : .item(for: request)
            }, retry: .none,
            interceptors: [
                place == .adapter
                    ? ClosureAdapter { _, _ in stop() } as any Interceptor
                    : ClosureInterceptor { request, _, next in
                        if place == .interceptor {
                            await isThere.opens()
                            stop()
                        }
                        return try await next(request)
                    }
            ],
            observers: place == .observer ? [Watcher(stop: stop)] : [])
        let plan = GetItem(n: 1)
            .then { item in
                at(.derive)
                return GetItem(n: item.n)
            }
            .then { item async in
                if place == .asyncDerive {
                    await isThere.opens()
                    stop()
                }
                return GetItem(n: item.n)
            }
            .map { item in
                at(.map)
                return item
            }
            .then { item in
                let batch = Batch(
                    Made(4) { n in
                        at(.input)
                        return GetItem(n: n == 3 ? 404 : item.n)
                    }
                ).onEach { _, _ in at(.onEach) }
                if place == .asyncReconnect {
                    return batch.reconnect { _ async -> Reconnection in
                        await isThere.opens()
                        stop()
                        return .retry([3])
                    }
                }
                return batch.reconnect { _ in
                    at(.reconnect)
                    return .accept
                }
            }
        let (completions, ended) = (Record<Bool>(), Gate())
        let run = client.start(plan, on: .global()) { result in
            at(.completion)
            if case .failure(let error) = result { completions.add(error.isCancelled) } else { completions.add(false) }
            ended.open()
        }
        box.withLock { $0 = { run.cancel() } }
        isThere.open()
        #expect(await ended.opens())
        box.withLock { $0 = nil }
        #expect(completions.all == [place != .completion])
        #expect(client.engine.activeRuns.isEmpty)
    }
}
