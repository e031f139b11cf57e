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

/// A target of several endpoints, as a request.
private enum OrderAPI: Request {
    typealias Output = Order
    case get(Int), create(item: Int)

    var method: HTTPMethod {
        switch self {
        case .get: .get
        case .create: .post
        }
    }
    var path: String {
        switch self {
        case .get(let id): "/orders/\(id)"
        case .create: "/orders"
        }
    }
    var body: HTTPBody {
        switch self {
        case .get: .none
        case .create(let item): .json(["item": item])
        }
    }
}

/// Stamps each request.
private struct Stamp: RequestAdapter {
    func adapt(_ request: inout HTTPRequest, context: AttemptContext) {
        request.fields["X-Attempt"] = "\(context.attempt)"
    }
}

/// Tells of retries.
private struct PrintRetries: EventObserver {
    let told: Record<String>

    func observe(_ event: Event) {
        if case .retryScheduled(let attempt, _, let error) = event { told.add("\(attempt.attempt) \(error.code)") }
    }
}

/// Each row of the page's tables, run.
@Suite("Coming from Alamofire and Moya") struct ComingFromAlamofireAndMoyaTests: ShopStory {
    let mock = Shop.open()
    private let told = Record<String>()

    // MARK: Alamofire

    @Test("Request, validate, decode: one call, one typed error")
    func request() async throws {
        try await run {
            $0.retry = .none
        } _: { client, _ in
            let orders = try await client.run(Call("/orders", as: [Order].self) { $0.query = ["page": 2] })
            #expect(orders.count == 2)
            let error = try await failure { try await client.run(GetOrder(id: 404)) }
            #expect(error.code == .unacceptableStatus)
            #expect(error.response?.status == 404)
            #expect(error.decode([String: Int].self) == ["code": 77])
        }
    }

    @Test("Session and its configuration: a client, and clients derived from it")
    func session() async throws {
        try await run {
            $0.fields = ["Accept-Language": "de"]
            $0.timeout = .seconds(20)
            $0.maxConcurrencyPerHost = 6
        } _: { [mock] client, _ in
            let english = client.with { $0.fields = ["Accept-Language": "en"] }
            _ = try await client.run(GetOrder(id: 7))
            _ = try await english.run(GetOrder(id: 7))
            #expect(mock.calls.map { $0.fields[.acceptLanguage] } == ["de", "en"])
        }
    }

    @Test("Parameter encoders: the place is named, the style is a value")
    func encoders() async throws {
        try await run { [mock] client, _ in
            _ = try await client.run(
                Call("/orders", as: [Order].self) {
                    $0.query = ["ids": [1, 2], "open": true]
                    $0.query.style = ParameterStyle(arrays: .repeated, booleans: .numbers)
                })
            #expect(mock.calls.first?.query == "ids=1&ids=2&open=1")
        }
    }

    @Test("Request adapter: it gets the original for each attempt")
    func adapter() async throws {
        mock.on(.get, "/orders/7").reply(status: 503, times: 1).then.reply(Order(id: 7))
        try await run {
            $0.interceptors = [Stamp()]
        } _: { [mock] client, _ in
            _ = try await client.run(GetOrder(id: 7))
            #expect(mock.calls.map { $0.fields["X-Attempt"] } == ["1", "2"])
        }
    }

    @Test("Retry policy: jitter, Retry-After and 429 are in it, and a rule of one's own")
    func retryPolicy() async throws {
        mock.on(.get, "/orders/7").reply(status: 429, fields: ["Retry-After": "7"], times: 1).then.reply(
            status: 418, times: 1
        )
        .then.reply(Order(id: 7))
        try await run {
            $0.retry = RetryPolicy(
                attempts: 4, retryable: { $0.error.response?.status == 418 ? .retry(after: .seconds(2)) : nil })
        } _: { client, clock in
            check(try await client.run(GetOrder(id: 7)).id == 7)
            #expect(clock.elapsed >= .seconds(9))
        }
    }

    @Test("Cancel while a retry waits: the wait ends at once, nothing more is sent")
    func cancelInWait() async throws {
        mock.on(.get, "/orders/7").reply(status: 503)
        try await run {
            $0.retry = RetryPolicy(backoff: .constant(.seconds(60)))
        } _: { [mock] client, clock in
            let run = client.start(GetOrder(id: 7))
            try await clock.sleep(for: .seconds(1))
            run.cancel()
            check(try await failure { try await run.value }.isCancelled)
            #expect(clock.elapsed == .seconds(1))
            #expect(mock.calls.count == 1)
        }
    }

    @Test("Authentication interceptor: one refresh for all who were refused, and before the credential ends")
    func authentication() async throws {
        let store = InMemoryCredentialStore(BearerToken("old", refreshToken: "R"))
        mock.on(.get, pattern: "/orders/*").reply { request in
            request.fields[.authorization] == "Bearer new" ? .status(200, #"{"id": 1}"#) : .status(401)
        }
        mock.on(.post, "/refresh").reply(BearerToken("new"))
        try await run {
            $0.interceptors = [
                Authentication(store) { old, client in
                    try await client.run(Call("/refresh", method: .post, as: BearerToken.self))
                }
            ]
        } _: { [mock] client, _ in
            let report = try await client.run(Batch((0..<20).map(GetOrder.init), maxConcurrency: 20))
            #expect(report.allSucceeded)
            #expect(mock.calls(.post, "/refresh").count == 1)
        }
    }

    @Test("Offline retrier: wait for the network in place of a retry")
    func offline() async throws {
        let network = ManualReachability(isReachable: false)
        try await run {
            $0.interceptors = [WaitForNetwork(network, upTo: .seconds(5))]
        } _: { [mock] client, clock in
            check(try await failure { try await client.run(GetOrder(id: 7)) }.code == .notReachable)
            #expect(mock.calls.isEmpty)
            network.set(isReachable: true)
            check(try await client.run(GetOrder(id: 7)).id == 7)
        }
    }

    @Test("Event monitor: one method, told typed events in their order")
    func monitor() async throws {
        mock.on(.get, "/orders/7").reply(status: 503, times: 1).then.reply(Order(id: 7))
        let told = told
        try await run {
            $0.observers = [PrintRetries(told: told)]
        } _: { client, clock in
            _ = try await client.run(GetOrder(id: 7))
            await clock.settle()
            #expect(told.all == ["1 unacceptableStatus"])
        }
    }

    @Test("cURL description: of a request, without its secrets")
    func curl() throws {
        let request = try HTTPRequest(url: "https://api.example.com/orders", fields: ["Authorization": "Bearer S3CRET"])
        let text = CURLCommand(request).description
        #expect(text.contains("curl") && text.contains("/orders") && !text.contains("S3CRET"))
    }

    @Test("Response cache: what HTTP says, or a mode of the app's")
    func responseCache() async throws {
        mock.on(.get, "/orders/7").reply(fields: ["Cache-Control": "max-age=60"], json: #"{"id": 7}"#)
        try await run {
            $0.interceptors = [Cache()]
        } _: { [mock] client, _ in
            for _ in 1...3 { _ = try await client.run(GetOrder(id: 7)) }
            #expect(mock.calls.count == 1)
        }
    }

    @Test("Redirect handler: follow, refuse or change; secrets stay at their origin")
    func redirects() async throws {
        mock.on(.get, "/old").reply(status: 302, fields: ["Location": "http://other/new"])
        mock.on(.get, "http://other/new").reply { request in .status(200, request.fields[.authorization] ?? "no secret")
        }
        try await run {
            $0.fields = ["Authorization": "Bearer S3CRET"]
        } _: { client, _ in
            var call = Call("/old", as: String.self)
            check(try await client.run(call) == "no secret")
            call.options.redirects = Redirects(limit: 3) { redirect in
                redirect.request.origin.host == "mock" ? redirect.request : nil
            }
            check(try await failure { try await client.run(call) }.response?.status == 302)
        }
    }

    @Test("Content type validation: media types, where a star stands for all of a kind")
    func contentTypes() async throws {
        mock.on(.get, "/page").reply(fields: ["Content-Type": "text/html"], json: "1")
        try await run {
            $0.validation = Validation(contentTypes: ["application/json", "image/*"])
        } _: { client, _ in
            check(
                try await failure { try await client.run(Call("/page", as: Data.self)) }.code
                    == .unacceptableContentType)
        }
    }

    @Test("Dispatch group around requests: a zip of different ones, a batch of many")
    func group() async throws {
        try await run { client, _ in
            let (profile, order) = try await client.run(zip(GetProfile(token: "t"), GetOrder(id: 7)))
            #expect(profile.name == "Ada" && order.id == 7)
            let report = try await client.run(Batch([7, 8, 9].map(GetOrder.init), maxConcurrency: 2))
            #expect(report.values.map { $0?.id } == [7, 8, 9])
        }
    }

    @Test("Request in a completion of a request: a chain")
    func chain() async throws {
        try await run { client, _ in
            let plan = SignIn(user: "ada", password: "…").then { session in GetProfile(token: session.token) }
            check(try await client.run(plan).name == "Ada")
        }
    }

    @Test("cancelAllRequests, suspend and resume: of the client, and of one run")
    func suspend() async throws {
        try await run { [mock] client, clock in
            client.suspend()
            let run = client.start(GetOrder(id: 7))
            try await clock.sleep(for: .seconds(1))
            #expect(mock.calls.isEmpty)
            client.resume()
            check(try await run.value.id == 7)
            client.cancelAll()
        }
    }

    @Test("Multipart form data: parts by name")
    func multipart() async throws {
        mock.on(.post, "/photos").reply(status: 204)
        try await run { [mock] client, _ in
            _ = try await client.run(
                Call("/photos", method: .post, as: EmptyResponse.self) {
                    $0.body = .multipart([.text("title", "Sea"), .data("photo", Data("…".utf8), filename: "sea.jpg")])
                })
            #expect(mock.calls.first?.fields[.contentType]?.hasPrefix("multipart/form-data") == true)
        }
    }

    // MARK: Moya

    @Test("Target type: a request type, or an enum of several")
    func target() async throws {
        mock.on(.post, "/orders").body(json: #"{"item": 3}"#).reply(Order(id: 9))
        try await run { client, _ in
            check(try await client.run(OrderAPI.get(7)).id == 7)
            check(try await client.run(OrderAPI.create(item: 3)).id == 9)
        }
    }

    @Test("MultiTarget: plans of any type with one output", arguments: [true, false])
    func multiTarget(isNew: Bool) async throws {
        mock.on(.post, "/orders").reply(Order(id: 9))
        try await run { client, _ in
            let plan = SignIn(user: "ada", password: "…").then { session -> any Plan<Order> in
                if isNew { return OrderAPI.create(item: 3) } else { return GetOrder(id: 7) }
            }
            check(try await client.run(plan).id == (isNew ? 9 : 7))
        }
    }

    @Test("Plugins' hooks: prepare, will send, did receive, process")
    func plugins() async throws {
        var hooks = Hooks()
        hooks.prepare = { request, _ in
            request.fields["X-Prepared"] = "1"
            return .go
        }
        hooks.process = { [told] result, _ in told.add((try? result.get().status).map { "\($0)" } ?? "failed") }
        try await run {
            $0.interceptors = [hooks]
        } _: { [mock, told] client, _ in
            _ = try await client.run(GetOrder(id: 7))
            #expect(mock.calls.first?.fields["X-Prepared"] == "1")
            #expect(told.all == ["200"])
        }
    }

    @Test("Logger, token and activity plugins: they are there, and wait for nobody")
    func shippedPlugins() async throws {
        let (presenter, told) = (RecordingPresenter(), told)
        let store = InMemoryCredentialStore(BearerToken("S3CRET"))
        try await run {
            $0.interceptors = [Authentication(store) { _, _ in throw BatonError(.refreshFailed) }]
            $0.observers = [RequestLogger(to: LogSink { told.add($1) }), LoadingIndicator(presenter, delay: .zero)]
        } _: { [mock] client, clock in
            _ = try await client.run(GetOrder(id: 7))
            await clock.run()
            #expect(mock.calls.first?.fields[.authorization] == "Bearer S3CRET")
            #expect(told.count == 1 && !told.all[0].contains("S3CRET"))
            #expect(presenter.isPaired && presenter.calls.count == 2)
        }
    }

    @Test("Sample data and stub closures: a transport in memory, and time that passes by itself")
    func stubs() async throws {
        let mock = MockTransport()
        mock.on(GetOrder.self).fail(.connectionLost).then.reply(Order(id: 7), after: .seconds(3_600))
        try await withVirtualTime(transport: mock, configure: { $0.timeout = .seconds(7_200) }) { client, clock in
            check(try await client.run(GetOrder(id: 7)).id == 7)
            #expect(clock.elapsed >= .seconds(3_600))
        }
        try mock.verify()
    }

    @Test("Filter and map: the type that is read, and map for the rest")
    func filterAndMap() async throws {
        try await run { client, _ in
            let names = SignIn(user: "ada", password: "…")
                .then { session in GetProfile(token: session.token) }
                .map(\.name)
            check(try await client.run(names) == "Ada")
            let ids = try await client.run(Call("/profile", as: Profile.self).map(\.orderIDs))
            #expect(ids == [7, 8, 9])
        }
    }

    @Test("Sharing requests in flight: identical safe ones are sent once")
    func inFlight() async throws {
        mock.on(.get, "/orders/7").reply(Order(id: 7), after: .seconds(1))
        try await run {
            $0.coalescing = Coalescing()
        } _: { [mock] client, _ in
            let runs = (1...5).map { _ in client.start(GetOrder(id: 7)) }
            for run in runs { _ = try await run.value }
            #expect(mock.calls.count == 1)
        }
    }
}
