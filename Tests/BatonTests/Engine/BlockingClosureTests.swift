import Baton
import BatonTesting
import Dispatch
import Testing

/// Closures of the user's that wait, on the spot, for another run of the same client.
@Suite("Closures that block")
struct BlockingClosureTests {
    enum Place: CaseIterable, Sendable {
        case derive, map, recover, observer, reconnect, onEach, input, completion
        case asyncDerive, asyncReconnect, interceptor
    }

    enum Carrier: CaseIterable, Sendable {
        case inline, inlineShared, serialQueue, curl, urlSession
    }

    /// A client over a transport of that kind; what it has to keep alive comes with it.
    private static func client(
        _ carrier: Carrier, observers: [any EventObserver] = [], interceptors: [any Interceptor] = []
    ) throws -> (Client, keeps: LoopbackServer?) {
        func client(_ transport: any Transport, _ baseURL: String = "http://h") -> Client {
            Client(baseURL: baseURL, transport: transport, retry: .none, observers: observers) {
                $0.maxConcurrency = 2
                $0.interceptors = interceptors
            }
        }
        switch carrier {
        case .inline: return (client(InlineTransport(reply(to:))), nil)
        case .inlineShared: return (client(SharedInlineTransport()), nil)
        case .serialQueue: return (client(QueueTransport(reply(to:))), nil)
        case .curl, .urlSession:
            let server = try LoopbackServer()
            for n in [1, 2, 100] { server.on(.get, "/items/\(n)", .json("{\"n\": \(n)}")) }
            #if os(Linux)
                let curl: any Transport = try CurlTransport()
            #else
                let curl: any Transport = URLSessionTransport()
            #endif
            return (client(carrier == .curl ? curl : URLSessionTransport(), server.baseURL), server)
        }
    }

    /// Answers inside `send`, on threads that are said to serve nobody else.
    private struct SharedInlineTransport: Transport {
        var callbackThreads: CallbackThreads { .shared }

        func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
            receiver.complete(reply(to: request))
            return FinishedTransmission.shared
        }
    }

    @Sendable private static func reply(to request: HTTPRequest) -> HTTPResponse {
        request.number == 404 ? .status(404) : .item(for: request)
    }

    /// Starts another run and holds the thread until it is over; false when that does not come about.
    @Sendable private static func waitForAnother(_ client: Client) -> Bool {
        let gate = Gate()
        client.start(GetItem(n: 100).then { GetItem(n: $0.n) }.map(\.n), on: .global()) { _ in gate.open() }
        return gate.blocks(within: 20)
    }

    /// Waits at the first event of the first run.
    private final class Waiter: EventObserver {
        let client = LockBox<Client?>(nil)
        let waited = Record<Bool>()

        func observe(_ event: Event) {
            let client = client.withLock { client in
                defer { client = nil }
                return client
            }
            if let client { waited.add(BlockingClosureTests.waitForAnother(client)) }
        }
    }

    /// Waits in the first run before its request is passed on, and when the response is there.
    private final class Holder: Interceptor {
        let client = LockBox<Client?>(nil)
        let waited = Record<Bool>()

        func intercept(_ request: HTTPRequest, context: AttemptContext, next: Next) async throws -> HTTPResponse {
            let client = client.withLock { client in
                defer { client = nil }
                return client
            }
            guard let client else { return try await next(request) }
            waited.add(BlockingClosureTests.waitForAnother(client))
            let response = try await next(request)
            waited.add(BlockingClosureTests.waitForAnother(client))
            return response
        }
    }

    @Test("Z01: a closure may wait for another run of the same client", arguments: Place.allCases, Carrier.allCases)
    func waits(place: Place, carrier: Carrier) async throws {
        let (observer, interceptor) = (Waiter(), Holder())
        let (client, keeps) = try Self.client(
            carrier, observers: place == .observer ? [observer] : [],
            interceptors: place == .interceptor ? [interceptor] : [])
        let waited = Record<Bool>()
        let wait: @Sendable () -> Void = { waited.add(Self.waitForAnother(client)) }
        let ended = Gate()
        let items = Batch([GetItem(n: 1), GetItem(n: 2), GetItem(n: 404)])
        @Sendable func start<P: Plan>(_ plan: P) { client.start(plan, on: .global()) { _ in ended.open() } }
        switch place {
        case .derive:
            start(
                GetItem(n: 1).then { item in
                    wait()
                    return GetItem(n: item.n + 1)
                })
        case .map:
            start(
                GetItem(n: 1).map { item in
                    wait()
                    return item.n
                })
        case .recover:
            start(
                GetItem(n: 404).recover { _ in
                    wait()
                    return GetItem(n: 2)
                })
        case .observer:
            observer.client.withLock { $0 = client }
            start(GetItem(n: 1))
        case .reconnect:
            start(
                items.reconnect { _ in
                    wait()
                    return .accept
                })
        case .asyncDerive:
            start(
                GetItem(n: 1).then { item in
                    await Task.yield()
                    wait()
                    return GetItem(n: item.n + 1)
                })
        case .asyncReconnect:
            start(
                items.reconnect { _ in
                    await Task.yield()
                    wait()
                    return .accept
                })
        case .interceptor:
            interceptor.client.withLock { $0 = client }
            start(GetItem(n: 1))
        case .onEach: start(items.onEach { _, _ in wait() })
        case .input:
            start(
                Batch(
                    Made(2) { n in
                        wait()
                        return GetItem(n: n + 1)
                    }))
        case .completion:
            client.start(GetItem(n: 1), on: DispatchQueue(label: "test.completion")) { _ in
                wait()
                ended.open()
            }
        }
        #expect(await ended.opens())
        let all = waited.all + observer.waited.all + interceptor.waited.all
        #expect(!all.isEmpty)
        #expect(all.allSatisfy { $0 })
        keeps?.stop()
    }

    @Test("Z01: what stands around a request that is awaited may wait for another run", arguments: Carrier.allCases)
    func waitsAroundAwaited(carrier: Carrier) async throws {
        let (observer, interceptor) = (Waiter(), Holder())
        let (client, keeps) = try Self.client(carrier, observers: [observer], interceptors: [interceptor])
        observer.client.withLock { $0 = client }
        interceptor.client.withLock { $0 = client }
        #expect(try await client.run(GetItem(n: 1)).n == 1)
        #expect(observer.waited.all == [true] && interceptor.waited.all == [true, true])
        keeps?.stop()
    }

    @Test("Z01: fifty closures may wait at the same time, each for a run of its own (20 by default)")
    func manyAtOnce() async throws {
        let count = Scale.count(50, everyday: 20)
        let (client, _) = try Self.client(.serialQueue)
        let waited = Record<Bool>()
        let report = try await client.run(
            Batch(
                (0..<count).map { n in
                    GetItem(n: n).then { item in
                        waited.add(Self.waitForAnother(client))
                        return Chain.value(item.n)
                    }
                }, maxConcurrency: count))
        #expect(report.allSucceeded)
        #expect(waited.all == Array(repeating: true, count: count))
    }

    @Test("Z01: fifty interceptors may wait at the same time, each for a run of its own (20 by default)")
    func manyInterceptors() async throws {
        /// Waits for a run of another client over the same transport.
        struct Holding: Interceptor {
            let other: Client
            let waited: Record<Bool>

            func intercept(_ request: HTTPRequest, context: AttemptContext, next: Next) async throws -> HTTPResponse {
                let response = try await next(request)
                waited.add(BlockingClosureTests.waitForAnother(other))
                return response
            }
        }
        let count = Scale.count(50, everyday: 20)
        let (other, _) = try Self.client(.serialQueue)
        let waited = Record<Bool>()
        let (client, _) = try Self.client(.serialQueue, interceptors: [Holding(other: other, waited: waited)])
        let report = try await client.run(Batch((0..<count).map { GetItem(n: $0) }, maxConcurrency: count))
        #expect(report.allSucceeded)
        #expect(waited.all == Array(repeating: true, count: count))
    }

    @Test("Z01: closures of one run may wait for each other's batches, from inside the closures of those")
    func nestedWaits() async throws {
        let (client, _) = try Self.client(.inline)
        @Sendable func descend(_ level: Int) -> Int {
            guard level > 0 else { return 0 }
            let (gate, result) = (Gate(), Record<Int>())
            client.start(GetItem(n: level).map { _ in descend(level - 1) + 1 }, on: .global()) { value in
                result.add((try? value.get()) ?? -1)
                gate.open()
            }
            gate.blocks(within: 20)
            return result.all.first ?? -1
        }
        #expect(try await client.run(Chain.value(12).map { descend($0) }) == 12)
    }
}
