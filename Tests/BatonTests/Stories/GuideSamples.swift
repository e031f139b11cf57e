import Baton
import BatonTesting
import Dispatch
import Foundation
import Testing

// The samples of the articles in Docs, so that they compile; what each needs stands before it.

@Suite("The samples of the articles") struct GuideSamples {
    struct Order: Codable, Response {
        let id: Int
        let total: Double
    }

    fileprivate static let client = Client(baseURL: "https://api.example.com")
    fileprivate static let plan = GetProfile(token: "t").chain
    fileprivate static let orders = [7, 8, 9].map { Call("/orders/\($0)", as: Order.self) }

    struct SignIn: Request {
        struct Output: Codable, Response { let token: String }
        let user, password: String
        var method: HTTPMethod { .post }
        var path: String { "/sign-in" }
        var body: HTTPBody { .json(["user": user, "password": password]) }
    }

    struct GetProfile: Request {
        struct Output: Codable, Response { let name: String, orderIDs: [Int] }
        let token: String
        var path: String { "/profile" }
        var fields: HTTPFields { ["Authorization": "Bearer \(token)"] }
    }

    @Test("Ada's profile is read with the token of her session")
    func profile() async throws {
        let mock = MockTransport()
        mock.on(SignIn.self).reply(SignIn.Output(token: "t"))
        mock.on(.get, "/profile").reply(json: #"{"name": "Ada", "orderIDs": [7]}"#)
        try await withVirtualTime(transport: mock) { client, _ in
            let profile = try await client.run(
                SignIn(user: "ada", password: "…").then { GetProfile(token: $0.token) })
            #expect(profile.name == "Ada")
        }
        #expect(mock.calls.last?.fields[.authorization] == "Bearer t")
    }

    @MainActor
    final class ProfileScreen {
        private let scope = CancellationScope()
        private(set) var name = ""

        func load(with client: Client) {
            client.start(GetProfile(token: "t"), in: scope) { [weak self] result in
                if case .success(let profile) = result { self?.name = profile.name }
            }
        }
    }

    struct Stopwatch: Interceptor {
        func intercept(
            _ request: HTTPRequest, context: AttemptContext, next: Next
        ) async throws -> HTTPResponse {
            let clock = ContinuousClock()
            let start = clock.now
            let response = try await next(request)
            print(request.path, start.duration(to: clock.now))
            return response
        }
    }

    struct PrintRetries: EventObserver {
        func observe(_ event: Event) {
            if case .retryScheduled(let attempt, let wait, let error) = event {
                print(attempt.path, attempt.request.path, wait, error.code)
            }
        }
    }

    final class Parrot: Transport {
        func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
            receiver.head(HTTPResponseHead(status: 200))
            receiver.chunk(Data(request.target.utf8))
            receiver.end()
            return FinishedTransmission.shared
        }
    }

    struct AllOrders: Sequence, IteratorProtocol, Sendable {
        private var id = 0

        mutating func next() -> Call<Order>? {
            id += 1
            return id <= 1_000_000 ? Call("/orders/\(id)") : nil
        }
    }

    private func sampleOne() async throws {
        let client = Client(baseURL: "https://api.example.com")
        let session = try await client.run(SignIn(user: "ada", password: "…"))
        let order = try await client.run(Call("/orders/7", as: Order.self))
        _ = (client, session, order)
    }

    private func sampleChain() async throws {
        let client = GuideSamples.client
        let profile = try await client.run(
            SignIn(user: "ada", password: "…")
                .then { session in GetProfile(token: session.token) }
        )
        _ = profile
    }

    private func sampleBatch() async throws {
        let client = GuideSamples.client
        let report = try await client.run(
            Batch([7, 8, 9].map { Call("/orders/\($0)", as: Order.self) }, maxConcurrency: 2)
        )
        for success in report.successes { print(success.index, success.value.total) }
        for failure in report.failures { print(failure.index, failure.error) }
        _ = report
    }

    private func sampleBranches() async throws {
        let profile = GuideSamples.plan
        let order = profile.then { profile -> Call<Order>? in
            guard let first = profile.orderIDs.first else { return nil }
            return Call("/orders/\(first)")
        }
        _ = order
    }

    private func sampleZip() async throws {
        let client = GuideSamples.client
        let session = SignIn(user: "ada", password: "…").shared()
        let both = zip(
            session.then { GetProfile(token: $0.token) },
            session.then { _ in Call("/news", as: [String].self) }
        )
        let (profile, news) = try await client.run(both)
        _ = (session, both, profile, news)
    }

    private func sampleRecover() async throws {
        let plan = Call("/orders", method: .post, as: Order.self)
            .undo { order in Call("/orders/\(order.id)", method: .delete, as: EmptyResponse.self) }
            .then { order in Call("/payments/\(order.id)", method: .put, as: EmptyResponse.self) }
        _ = plan
    }

    private func sampleDescribe() async throws {
        let plan = SignIn(user: "ada", password: "…")
            .then { session in GetProfile(token: session.token) }
            .then { profile in Batch(profile.orderIDs.map { Call("/orders/\($0)", as: Order.self) }) }
        print(plan)  // an indented tree
        print(plan.diagram(.mermaid))  // a flowchart
        _ = plan
    }

    private func sampleReport() async throws {
        let client = GuideSamples.client
        let orders = GuideSamples.orders
        let report = try await client.run(Batch(orders, maxConcurrency: 4))
        let total = report[3].value?.total  // what item 3 yielded
        let attempts = report[3].attempts  // how often it was sent
        let failed = report.failures.map(\.index)
        _ = (report, total, attempts, failed)
    }

    private func sampleReconnect() async throws {
        let orders = GuideSamples.orders
        let batch = Batch(orders, maxConcurrency: 4)
            .reconnect { round in
                let busy = round.failures.filter { $0.error.response?.status == 503 }.map(\.index)
                return round.number < 3 ? .retry(busy, after: .seconds(1)) : .accept
            }
            .failurePolicy(.tolerate(2))
        _ = batch
    }

    private func sampleStream() async throws {
        let client = GuideSamples.client
        let orders = GuideSamples.orders
        for try await (index, outcome) in client.stream(Batch(orders, maxConcurrency: 64)) {
            if let error = outcome.error { print(index, error) }
        }
    }

    private func sampleProgress() async throws {
        let client = GuideSamples.client
        let orders = GuideSamples.orders
        let run = client.start(Batch(orders))
        await ConsoleProgress("orders").follow(run)
        let report = try await run.value
        _ = (run, report)
    }

    private func sampleRetry() async throws {
        let patient = Client(
            baseURL: "https://api.example.com",
            retry: RetryPolicy(attempts: 5, backoff: .exponential(base: .milliseconds(200))))
        let once = GetProfile(token: "t").retry(.none)
        _ = (patient, once)
    }

    private func sampleDeadline() async throws {
        let plan = GetProfile(token: "t")
            .timeout(.seconds(5))  // each attempt
            .deadline(.seconds(12))  // all of it
        _ = plan
    }

    private func sampleBreaker() async throws {
        let client = Client(baseURL: "https://api.example.com") { configuration in
            configuration.breaker = CircuitBreaker()
            configuration.maxConcurrencyPerHost = 8
        }
        _ = client
    }

    private func sampleTask() async throws {
        let client = GuideSamples.client
        let plan = GuideSamples.plan
        let task = Task { try await client.run(plan) }
        task.cancel()  // cancels the run

        let run = client.start(plan)
        run.cancel()  // the same, by its handle
        _ = (task, run)
    }

    private func sampleTag() async throws {
        let client = GuideSamples.client
        let plan = GuideSamples.plan
        let run = client.start(plan.tag("search"))
        client.cancel(tag: "search")
        _ = run
    }

    private func sampleAuth() async throws {
        let store = InMemoryCredentialStore(BearerToken("…", refreshToken: "…"))
        let client = Client(
            baseURL: "https://api.example.com",
            interceptors: [
                Authentication(store) { old, client in
                    try await client.run(Call("/refresh", method: .post, as: BearerToken.self))
                },
                Stopwatch(),
            ])
        _ = (store, client)
    }

    private func sampleChoose() async throws {
        let plan = SignIn(user: "ada", password: "…").interceptors(.except(.authentication))
        _ = plan
    }

    private func sampleObservers() async throws {
        let plan = GuideSamples.plan
        let metrics = Metrics()
        let client = Client(
            baseURL: "https://api.example.com",
            observers: [RequestLogger(.info), metrics, Capture(perURL: 5)])
        _ = try await client.run(plan)
        print(metrics.snapshot.latency.percentile(0.95) as Any)
        _ = (metrics, client)
    }

    private func sampleTimeline() async throws {
        let plan = GuideSamples.plan
        let timeline = Timeline()
        let client = Client(baseURL: "https://api.example.com", observers: [timeline])
        _ = try await client.run(plan)
        print(timeline.text())
        try timeline.write(to: URL(fileURLWithPath: "timeline.html"))
        _ = (timeline, client)
    }

    private func sampleBuffered() async throws {
        let transport = BufferedTransport { request in
            HTTPResponse(status: 200, body: Data("you asked for \(request.path)".utf8))
        }
        let client = Client(baseURL: "http://anything", transport: transport)
        _ = (transport, client)
    }

    private func sampleCatching() async throws {
        let client = GuideSamples.client
        let plan = GuideSamples.plan
        do throws(BatonError) {
            _ = try await client.run(plan)
        } catch {
            switch error.code {
            case .unacceptableStatus: print(error.response?.status ?? 0, error.path)
            case .timedOut, .connectionLost: print("try again later")
            default: print(error)
            }
        }
    }

    private func samplePartial() async throws {
        let client = GuideSamples.client
        let orders = GuideSamples.orders
        do throws(BatonError) {
            _ = try await client.run(Batch(orders).failurePolicy(.failFast))
        } catch {
            let report = error.report(of: Order.self)
            print(report?.successes.count ?? 0, "were done")
        }
    }

    private func sampleCallbacks() async throws {
        let client = GuideSamples.client
        let plan = GuideSamples.plan
        client.start(plan, on: DispatchQueue(label: "orders")) { result in
            print((try? result.get()) as Any)
        }
    }

    private func sampleNested() async throws {
        let orders = GuideSamples.orders
        let client = Client(baseURL: "https://api.example.com") { $0.maxConcurrency = 1 }
        let plan = Batch([Batch(orders), Batch(orders)])  // no deadlock
        _ = (client, plan)
    }

    private func samplePriority() async throws {
        let client = GuideSamples.client
        let orders = GuideSamples.orders
        async let news = client.run(Batch(orders).priority(.low))
        async let tap = client.run(GetProfile(token: "t").priority(.high))
        _ = try await (news, tap)
    }

    private func sampleHuge() async throws {
        let client = GuideSamples.client
        var total = 0.0
        for try await (_, outcome) in client.stream(Batch(AllOrders(), maxConcurrency: 64)) {
            total += outcome.value?.total ?? 0
        }
        _ = total
    }

    private func sampleRedaction() async throws {
        var redaction = Redaction()
        redaction.add("X-Internal-Ticket", "iban")
        let client = Client(
            baseURL: "https://api.example.com", observers: [RequestLogger(.debug, redaction: redaction)])
        _ = (redaction, client)
    }

}
