import Baton
import BatonTesting
import Foundation
import Testing

private typealias Session = Shop.Session
private typealias Profile = Shop.Profile
private typealias Order = Shop.Order
private typealias SignIn = Shop.SignIn
private typealias GetProfile = Shop.GetProfile
private typealias GetOrder = Shop.GetOrder

private struct Job: Codable, Response { let done: Bool }

/// Each row of the page's tables, run.
@Suite("Coming from URLSession") struct ComingFromURLSessionTests: ShopStory {
    let mock = Shop.open()
    private let told = Record<String>()

    @Test("data(for:), a look at the status, a decoder: one call")
    func data() async throws {
        try await run {
            $0.retry = .none
        } _: { client, _ in
            let order = try await client.run(Call("/orders/7", as: Order.self))
            #expect(order.id == 7)
            check(try await failure { try await client.run(GetOrder(id: 404)) }.response?.status == 404)
        }
    }

    @Test("The raw response: an output like others, also when its status is refused")
    func raw() async throws {
        try await run {
            $0.retry = .none
        } _: { client, _ in
            let response = try await client.run(Call("/orders/7", as: HTTPResponse.self))
            #expect(response.status == 200 && !response.body.isEmpty)
        }
    }

    @Test("URLComponents: parameters, encoded in one way everywhere")
    func query() async throws {
        try await run { [mock] client, _ in
            _ = try await client.run(
                Call("/orders", as: [Order].self) { $0.query = ["q": "a+b c", "tags": ["x", "y"]] })
            #expect(mock.calls.first?.query == "q=a%2Bb%20c&tags%5B%5D=x&tags%5B%5D=y")
        }
    }

    @Test("httpBody and Content-Type: one value")
    func body() async throws {
        mock.on(.post, "/orders").field("Content-Type", "application/json").body(json: #"{"item": 3}"#).reply(
            Order(id: 1))
        try await run { client, _ in
            let order = try await client.run(
                Call("/orders", method: .post, as: Order.self) { $0.body = .json(["item": 3]) })
            #expect(order.id == 1)
        }
    }

    @Test("Session configuration: timeouts from the slot on, a deadline over all, a limit for each host")
    func configuration() async throws {
        mock.on(.get, "/orders/7").reply(Order(id: 7), after: .seconds(25))
        try await run {
            $0.timeout = .seconds(30)
            $0.maxConcurrencyPerHost = 1
            $0.fields = ["User-Agent": "Shop/7"]
        } _: { client, clock in
            // The third waits for 50 seconds, which is none of its timeout's.
            let runs = (1...3).map { _ in client.start(GetOrder(id: 7)) }
            for run in runs { _ = try await run.value }
            let hurried = GetOrder(id: 7).deadline(.seconds(20))
            check(try await failure { try await client.run(hurried) }.code == .deadlineExceeded)
        }
    }

    @Test("One await after the other: a chain, which says where it failed")
    func sequence() async throws {
        mock.on(.get, "/profile").reply(status: 500)
        try await run {
            $0.retry = .none
        } _: { client, _ in
            let plan = SignIn(user: "ada", password: "…").then { session in GetProfile(token: session.token) }
            let error = try await failure { try await client.run(plan) }
            #expect(error.path == "chain[1]")
            #expect(error.completed.count == 1)
        }
    }

    @Test("async let: a zip")
    func asyncLet() async throws {
        try await run { client, _ in
            let (profile, order) = try await client.run(zip(GetProfile(token: "t"), GetOrder(id: 7)))
            #expect(profile.name == "Ada" && order.id == 7)
        }
    }

    @Test("A task group with a counter: a batch")
    func taskGroup() async throws {
        mock.on(.get, pattern: "/orders/*").reply(after: .seconds(1)) { (request: HTTPRequest) in
            .status(request.number == 3 ? 500 : 200, "{\"id\": \(request.number ?? 0)}")
        }
        let ids = Array(1...5)
        try await run {
            $0.retry = .none
        } _: { [mock] client, _ in
            let report = try await client.run(Batch(ids.map(GetOrder.init), maxConcurrency: 2))
            #expect(report.values.map { $0?.id } == [1, 2, nil, 4, 5])
            #expect(mock.maxInFlight == 2)
        }
    }

    @Test("Results as they come: a loop over a stream, which holds the batch up where it is slow")
    func results() async throws {
        let ids = Array(1...5)
        try await run { [told] client, _ in
            for try await (index, outcome) in client.stream(Batch(ids.map(GetOrder.init), maxConcurrency: 2)) {
                told.add("\(index) \(outcome.isSuccess)")
            }
            #expect(told.count == 5)
        }
    }

    @Test("A loop with Task.sleep: retries")
    func retries() async throws {
        mock.on(.get, "/orders/7").fail(.connectionLost, times: 2).then.reply(Order(id: 7))
        try await run {
            $0.retry = RetryPolicy(attempts: 3, backoff: .constant(.seconds(1)))
        } _: { client, clock in
            check(try await client.run(GetOrder(id: 7)).id == 7)
            #expect(clock.elapsed == .seconds(2))
        }
    }

    @Test("A loop that asks until it is done: repeated")
    func polling() async throws {
        mock.on(.get, "/jobs/1").reply(Job(done: false), times: 2).then.reply(Job(done: true))
        try await run { client, clock in
            let job = Call("/jobs/1", as: Job.self).repeated(every: .seconds(2), atMost: 10, until: { $0.done })
            check(try await client.run(job).done)
            #expect(clock.elapsed == .seconds(4))
        }
    }

    @Test("A loop over pages: Pages, read as they are wanted")
    func pages() async throws {
        mock.on(.get, "/orders").anyQuery().reply { request in
            .status(200, request.query == "page=1&size=2" ? #"[{"id": 1}, {"id": 2}]"# : #"[{"id": 3}]"#)
        }
        try await run { [told] client, _ in
            let pages = Pages(from: 1, size: 2, until: .shortPage) { page in
                Call("/orders", as: [Order].self) { $0.query = page.query() }
            }
            for try await page in client.stream(pages) { told.add("\(page.map(\.id))") }
            #expect(told.all == ["[1, 2]", "[3]"])
        }
    }

    @Test("Cancelling the task: it cancels the run; a handle and a scope do as well", arguments: [0, 1, 2])
    func cancelling(way: Int) async throws {
        let mock = MockTransport()
        mock.on(.get, "/orders/7").hold()
        let client = Client(baseURL: "http://mock", transport: mock)
        var scope: CancellationScope? = CancellationScope()
        let run = client.start(GetOrder(id: 7), in: scope)
        let task = Task { try await client.run(GetOrder(id: 7)) }
        await mock.waitForRequests(2)
        switch way {
        case 0: run.cancel()
        case 1: scope = nil
        default: client.cancelAll()
        }
        task.cancel()
        check(try await failure { try await run.value }.isCancelled)
        check(try await failure { try await task.value }.isCancelled)
        #expect((way == 1) == (scope == nil))
    }

    @Test("Completion handlers and the main queue: a completion on the main actor")
    func completion() async throws {
        try await run { [told] client, clock in
            client.start(GetOrder(id: 7)) { result in
                MainActor.preconditionIsolated()
                told.add((try? result.get()).map { "\($0.id)" } ?? "failed")
            }
            await clock.run()
            #expect(told.all == ["7"])
        }
    }

    @Test("waitsForConnectivity: an interceptor with a limit")
    func connectivity() async throws {
        let network = ManualReachability(isReachable: false)
        try await run {
            $0.interceptors = [WaitForNetwork(network, upTo: .seconds(60))]
        } _: { client, clock in
            let run = client.start(GetOrder(id: 7))
            try await clock.sleep(for: .seconds(30))
            network.set(isReachable: true)
            check(try await run.value.id == 7)
        }
    }

    @Test("URLCache: one that also forgets what was changed")
    func urlCache() async throws {
        mock.on(.get, "/orders/7").reply(fields: ["Cache-Control": "max-age=60"], json: #"{"id": 7}"#)
        mock.on(.put, "/orders/7").reply(status: 204)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await run {
            $0.interceptors = [Cache(store: DiskCacheStore(directory: folder))]
        } _: { [mock] client, _ in
            for _ in 1...2 { _ = try await client.run(GetOrder(id: 7)) }
            #expect(mock.calls.count == 1)
            _ = try await client.run(Call("/orders/7", method: .put, as: EmptyResponse.self))
            _ = try await client.run(GetOrder(id: 7))
            #expect(mock.calls.count == 3)
        }
    }

    @Test("URLProtocol in tests: a transport in memory")
    func urlProtocol() async throws {
        let mock = MockTransport()
        mock.on(.get, "/orders/7").fail(.timedOut).then.reply(status: 200, json: #"{"id": 7}"#)
        try await withVirtualTime(transport: mock) { client, clock in
            let order = try await client.run(GetOrder(id: 7))
            #expect(order.id == 7)
        }
        try mock.verify()
    }

    @Test("Task metrics and counters: an observer")
    func metrics() async throws {
        mock.on(.get, "/orders/7").reply(Order(id: 7), after: .milliseconds(200))
        let metrics = Metrics()
        try await run {
            $0.observers = [metrics]
        } _: { client, clock in
            _ = try await client.run(GetOrder(id: 7))
            await clock.settle()
            #expect(metrics.snapshot.total.succeeded == 1)
            #expect(metrics.snapshot.latency.percentile(0.95) == .milliseconds(200))
        }
    }

    @Test("bytes(for:) and its lines: a stream, which holds the server up where it is slow")
    func lines() async throws {
        mock.on(.get, "/log").reply(chunks: [Data("one\ntw".utf8), Data("o\nthree".utf8)])
        try await run { [told] client, _ in
            for try await line in client.stream(Call("/log", as: Data.self).lines) { told.add(line) }
            #expect(told.all == ["one", "two", "three"])
        }
    }

    @Test("URLSession itself: it can stay the transport")
    func transport() async throws {
        let server = try LoopbackServer()
        defer { server.stop() }
        server.on(.get, "/orders/7", .json(#"{"id": 7}"#))
        let client = Client(baseURL: server.baseURL, transport: URLSessionTransport())
        check(try await client.run(GetOrder(id: 7)).id == 7)
    }
}
