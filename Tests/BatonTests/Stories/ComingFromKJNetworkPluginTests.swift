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

/// Each row of the page's tables, run.
@Suite("Coming from KJNetworkPlugin") struct ComingFromKJNetworkPluginTests: ShopStory {
    let mock = Shop.open()
    private let presenter = RecordingPresenter()
    private let told = Record<String>()

    // MARK: Requests

    @Test("A request: a value, which can be run again")
    func request() async throws {
        let orders = Call("/orders", as: [Order].self) { $0.query = ["page": 1] }
        try await run { [mock] client, _ in
            for _ in 1...2 { check(try await client.run(orders).count == 2) }
            #expect(mock.calls.map(\.query) == ["page=1", "page=1"])
        }
    }

    @Test("Base URL and base parameters: parameters are parameters, fields are fields")
    func base() async throws {
        try await run {
            $0.baseURL = "https://api.example.com/v1?app=7"
            $0.fields = ["X-App": "7"]
        } _: { [mock] client, _ in
            mock.on(.get, "/v1/orders/7").anyQuery().reply(Order(id: 7))
            _ = try await client.run(GetOrder(id: 7))
            #expect(mock.calls.first?.url == "https://api.example.com/v1/orders/7?app=7")
            #expect(mock.calls.first?.fields["X-App"] == "7")
        }
    }

    @Test("Method, timeout and headers: each request has its own")
    func oneRequest() async throws {
        let send = Call("/orders", method: .post, as: Order.self) {
            $0.fields = ["X-Trace": "1"]
            $0.body = .json(["item": 3])
            $0.options.timeout = .seconds(30)
        }
        mock.on(.post, "/orders").body(json: #"{"item": 3}"#).reply(Order(id: 1), after: .seconds(100))
        try await run { client, clock in
            let error = try await failure { try await client.run(send) }
            #expect(error.code == .timedOut)
            #expect(clock.elapsed == .seconds(30))
        }
    }

    @Test("Success and failure blocks: one completion, on the main actor, once")
    func blocks() async throws {
        try await run { [told] client, clock in
            client.start(GetOrder(id: 7)) { result in
                switch result {
                case .success(let order): told.add("order \(order.id)")
                case .failure(let error): told.add("\(error.code)")
                }
            }
            await clock.run()
            #expect(told.all == ["order 7"])
        }
    }

    @Test("Upload and download with progress: of each run, with the share that is known")
    func progress() async throws {
        mock.on(.get, "/film").reply(
            fields: ["Content-Length": "10"], chunks: [Data("01234".utf8), Data("56789".utf8)],
            every: .milliseconds(5))
        let client = Client(baseURL: "http://mock", transport: mock)
        let run = client.start(Call("/film", as: Data.self))
        for await progress in run.progress { told.add("\(progress.fraction ?? 0)") }
        check(try await run.value.count == 10)
        #expect(told.all.last.map { $0 == "1.0" || $0 == "0.5" } ?? true)
    }

    @Test("Cancel all, or by URL: by the client or by a name")
    func cancel() async throws {
        mock.on(.get, pattern: "/orders/*").reply(Order(id: 1), after: .seconds(10))
        try await run { client, clock in
            let tagged = client.start(GetOrder(id: 7).tag("orders"))
            let others = [client.start(GetOrder(id: 8)), client.start(GetOrder(id: 9))]
            await clock.settle()
            client.cancel(tag: "orders")
            check(try await failure { try await tagged.value }.isCancelled)
            client.cancelAll()
            for run in others { check(try await failure { try await run.value }.isCancelled) }
            #expect(clock.elapsed == .zero)
        }
    }

    // MARK: Plugins

    @Test("Loading plugin: shown from the begin of a run to its end, whatever that is", arguments: [7, 404])
    func loading(id: Int) async throws {
        let presenter = presenter
        try await run {
            $0.observers = [LoadingIndicator(presenter, delay: .zero)]
        } _: { client, clock in
            _ = await client.start(GetOrder(id: id).presentation(Presentation(in: "list"))).outcome
            await clock.run()
            #expect(presenter.calls == [.showLoading("list"), .hideLoading("list")])
        }
    }

    @Test("Warning plugin: one message for each run that failed, after its retries")
    func warning() async throws {
        let presenter = presenter
        try await run {
            $0.observers = [Notices(presenter)]
        } _: { [mock] client, clock in
            _ = await client.start(GetOrder(id: 503)).outcome
            await clock.run()
            #expect(mock.calls.count == 3)
            #expect(presenter.notices.map(\.message) == ["The server is busy. Please try again later."])
        }
    }

    @Test("Indicator plugin: counted, so that the last run hides it")
    func indicator() async throws {
        mock.on(.get, "/orders/8").reply(Order(id: 8), after: .seconds(5))
        let presenter = presenter
        try await run {
            $0.observers = [LoadingIndicator(presenter)]
        } _: { client, clock in
            let runs = [client.start(GetOrder(id: 8)), client.start(GetOrder(id: 8))]
            for run in runs { _ = try await run.value }
            await clock.run()
            #expect(presenter.calls == [.showLoading(nil), .hideLoading(nil)])
        }
    }

    @Test("Anslysis plugin: code, message and data, read in one place and with the model's type")
    func analysis() async throws {
        mock.on(.get, "/orders/7").reply(json: #"{"code": 1000, "data": {"id": 7}}"#).then
            .reply(json: #"{"code": 1001, "message": "Sold out."}"#)
        try await run {
            $0.envelope = Envelope(success: [1_000])
        } _: { client, _ in
            check(try await client.run(GetOrder(id: 7)).id == 7)
            let error = try await failure { try await client.run(GetOrder(id: 7)) }
            #expect(error.business?.code == 1_001 && error.business?.message == "Sold out.")
        }
    }

    @Test("Cache plugin: six modes, with expiry, and the method in the key")
    func cache() async throws {
        mock.on(.get, "/orders/7").reply(json: #"{"id": 1}"#).then.reply(json: #"{"id": 2}"#)
        let store = MemoryCacheStore()
        try await run {
            $0.interceptors = [Cache(.cacheElseNetwork, store: store) { $0.maxAge = .seconds(600) }]
        } _: { [mock] client, clock in
            var request = GetOrder(id: 7)
            for _ in 1...2 { check(try await client.run(request).id == 1) }
            #expect(mock.calls.count == 1)
            request.options.cacheMode = .networkOnly
            check(try await client.run(request).id == 2)
            try await clock.sleep(for: .seconds(601))
            request.options.cacheMode = .cacheOnly
            check(try await failure { try await client.run(request) }.code == .cacheMiss)
            #expect(store.size() > 0)
        }
    }

    @Test("Cache, then network: both deliveries, told apart")
    func cacheThenNetwork() async throws {
        mock.on(.get, "/orders/7").reply(Order(id: 1)).then.reply(Order(id: 2))
        try await run {
            $0.interceptors = [Cache(.cacheThenNetwork)]
        } _: { [told] client, _ in
            for _ in 1...2 {
                for try await order in client.stream(GetOrder(id: 7)) {
                    told.add("\(order.value.id)\(order.isFromCache ? " cached" : "")")
                }
            }
            #expect(told.all == ["1", "1 cached", "2"])
        }
    }

    #if os(Linux)
        @Test("Certificate plugin: public keys, and a fault in one is reported")
        func certificate() async throws {
            var curl = CurlTransport.Configuration()
            curl.pinnedPublicKeys = ["sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="]
            _ = try CurlTransport(configuration: curl)
            curl.pinnedPublicKeys = ["AAAA"]
            let error = try await failure { [curl] in try CurlTransport(configuration: curl) }
            #expect(error.code == .invalidConfiguration)
        }
    #endif

    @Test("Thief plugin: other hosts when one fails, and changes on the way")
    func thief() async throws {
        mock.on { $0.origin.host == "mock" }.fail(.cannotConnect)
        mock.on(.get, "http://b.example.com/orders/7").field("X-Seen", "1").reply(Order(id: 7))
        try await run {
            $0.interceptors = [
                HostList("http://b.example.com"),
                Modify(request: { request, _ in request.fields["X-Seen"] = "1" }),
            ]
        } _: { [mock] client, _ in
            check(try await client.run(GetOrder(id: 7)).id == 7)
            #expect(mock.calls.count == 4)
        }
    }

    @Test("Capture plugin: the last exchanges of each URL, and all of them as HAR")
    func capture() async throws {
        let capture = Capture()
        try await run {
            $0.observers = [capture]
        } _: { client, clock in
            _ = try await client.run(GetOrder(id: 7))
            await clock.settle()
            #expect(capture.exchanges(of: "http://mock/orders/7").first?.status == 200)
            #expect(String(decoding: capture.har(), as: UTF8.self).contains("/orders/7"))
        }
    }

    @Test("Code plugin: texts by status, by error and by code of the app")
    func code() async throws {
        var texts = NoticeTexts()
        texts.statuses[404] = "This order is gone."
        texts.codes[.timedOut] = "Too slow."
        texts.businessCodes[77] = "Ask again tomorrow."
        let presenter = presenter
        mock.on(.get, "/orders/1").reply(status: 404)
        try await run {
            $0.observers = [Notices(presenter, texts)]
            $0.retry = .none
        } _: { client, clock in
            for id in [1, 500] { _ = await client.start(GetOrder(id: id)).outcome }
            await clock.run()
            #expect(presenter.notices.map(\.message) == ["This order is gone.", "Ask again tomorrow."])
        }
    }

    @Test("Refresh plugin: number and size in each request, and a list that refreshes and grows")
    func refresh() async throws {
        mock.on(.get, "/orders").anyQuery().reply { request in
            .status(200, request.query == "page=0&size=2" ? #"[{"id": 1}, {"id": 2}]"# : #"[{"id": 3}]"#)
        }
        try await run { [mock] client, _ in
            let orders = PageList(
                Pages(from: 0, size: 2, until: .shortPage) { page in
                    Call("/orders", as: [Order].self) { $0.query = page.query() }
                })
            _ = try await client.run(orders.refresh)
            let pages = try await client.run(orders.more)
            #expect(pages.joined().map(\.id) == [1, 2, 3])
            #expect(!orders.hasMore)
            #expect(mock.calls.map(\.query) == ["page=0&size=2", "page=1&size=2"])
        }
    }

    @Test("Secret plugin: bodies sealed and opened, requests signed")
    func secret() async throws {
        mock.on(.post, "/secret").reply { request in
            HTTPResponse(status: 200, fields: request.fields, body: request.body.bytes ?? Data())
        }
        let seal: @Sendable (Data) -> Data = { Data($0.map { $0 ^ 0x55 }) }
        try await run {
            $0.interceptors = [
                Signing { request in ["X-Signature": "\(request.method) \(request.path)"] },
                BodyTransform(request: { body, _ in seal(body) }, response: { body, _ in seal(body) }),
            ]
        } _: { client, _ in
            let answer = try await client.run(
                Call("/secret", method: .post, as: HTTPResponse.self) { $0.body = .text("hello") })
            #expect(answer.body == Data("hello".utf8))
            #expect(answer.fields["X-Signature"] == "POST /secret")
        }
    }

    @Test("Empty plugin: a message where there is nothing to show")
    func empty() async throws {
        mock.on(.get, "/orders").reply(json: "[]")
        var texts = NoticeTexts()
        texts.empty = "No orders yet."
        let presenter = presenter
        try await run {
            $0.observers = [Notices(presenter, texts)]
        } _: { client, clock in
            _ = try await client.run(Call("/orders", as: [Order].self))
            await clock.run()
            #expect(presenter.notices.map(\.kind) == [.empty])
        }
    }

    @Test("Zip plugin: bodies made smaller by code of the app's")
    func zipped() async throws {
        mock.on(.post, "/zip").reply { request in
            .status(200, "\(request.body.bytes?.count ?? 0) \(request.fields["Content-Encoding"] ?? "")")
        }
        let half: @Sendable (Data) -> Data = { $0.prefix($0.count / 2) }
        try await run {
            $0.interceptors = [
                BodyTransform(request: { body, fields in
                    fields["Content-Encoding"] = "half"
                    return half(body)
                })
            ]
        } _: { client, _ in
            let text = try await client.run(Call("/zip", method: .post, as: String.self) { $0.body = .text("1234") })
            #expect(text == "2 half")
        }
    }

    // MARK: Hooks

    @Test("Five hook moments: in their order, and what is changed reaches the wire")
    func hooks() async throws {
        let told = told
        mock.on(.get, "/orders/1").fail(.cannotConnect, times: 1).then.reply { request in
            told.add("sent \(request.fields["X-Sent"] ?? "")")
            return .status(200, #"{"id": 1}"#)
        }
        var hooks = Hooks()
        hooks.prepare = { _, _ in
            told.add("prepare")
            return .go
        }
        hooks.willSend = { request, _ in
            request.fields["X-Sent"] = "1"
            return .go
        }
        hooks.didFail = { error, _, _ in error.code == .cannotConnect ? .sendAgain : .fail }
        hooks.didSucceed = { _, _, _ in
            told.add("succeed")
            return .done
        }
        hooks.process = { _, _ in told.add("process") }
        try await run {
            $0.interceptors = [hooks]
        } _: { client, _ in
            _ = try await client.run(GetOrder(id: 1))
            #expect(told.all == ["prepare", "prepare", "sent 1", "succeed", "process"])
        }
    }

    @Test("Ending early, stopping, sending again: by what a hook returns, and never without a limit")
    func steps() async throws {
        var hooks = Hooks()
        hooks.prepare = { request, _ in
            request.path == "/orders/1" ? .end(HTTPResponse(status: 200, body: Data(#"{"id": 0}"#.utf8))) : .go
        }
        hooks.willSend = { request, _ in request.path == "/orders/2" ? .stop : .go }
        hooks.didFail = { _, _, _ in .sendAgain }
        mock.on(.get, "/orders/3").reply(status: 500)
        try await run {
            $0.interceptors = [hooks]
            $0.retry = RetryPolicy(attempts: 3, backoff: .none)
        } _: { [mock] client, _ in
            check(try await client.run(GetOrder(id: 1)).id == 0)
            check(try await failure { try await client.run(GetOrder(id: 2)) }.isCancelled)
            #expect(mock.calls.isEmpty)
            check(try await failure { try await client.run(GetOrder(id: 3)) }.code == .attemptsExhausted)
            #expect(mock.calls.count == 3)
        }
    }

    // MARK: Batches

    @Test("maxQueue: a limit that holds, and what is asked for once is sent once")
    func maxQueue() async throws {
        mock.on(.get, pattern: "/orders/*").reply(after: .seconds(1)) { (request: HTTPRequest) in
            .status(200, "{\"id\": \(request.number ?? 0)}")
        }
        let requests = (0..<10).map(GetOrder.init)
        try await run { [mock] client, _ in
            let report = try await client.run(Batch(requests, maxConcurrency: 5))
            #expect(report.allSucceeded)
            #expect(mock.maxInFlight == 5)
            #expect(mock.calls.count == 10)
        }
    }

    @Test("againCount: counted for each item of each run")
    func againCount() async throws {
        mock.on(.get, "/orders/2").reply(status: 500, times: 3).then.reply(Order(id: 2))
        let requests = [GetOrder(id: 1), GetOrder(id: 2)]
        try await run {
            $0.retry = .none
        } _: { client, _ in
            let report = try await client.run(Batch(requests).retryFailed(.atOnce, atMost: 3))
            #expect(report.map(\.attempts) == [1, 4])
            #expect(report.allSucceeded)
        }
    }

    @Test(
        "Opportunity: none, after the others, or promptly", arguments: [RetryTiming.whenAsked, .afterOthers, .atOnce])
    func opportunity(_ timing: RetryTiming) async throws {
        mock.on(.get, "/orders/1").reply(status: 500, times: 1).then.reply(Order(id: 1))
        let requests = (1...3).map(GetOrder.init)
        try await run {
            $0.retry = .none
        } _: { [mock] client, _ in
            let report = try await client.run(Batch(requests, maxConcurrency: 1).retryFailed(timing))
            let order = mock.calls.map { $0.path.suffix(1) }
            switch timing {
            case .whenAsked: #expect(order == ["1", "2", "3"] && report.failures.count == 1)
            case .afterOthers: #expect(order == ["1", "2", "3", "1"] && report.allSucceeded)
            case .atOnce: #expect(order == ["1", "1", "2", "3"] && report.allSucceeded)
            }
        }
    }

    @Test("Reconnect block: asked when all have landed, told the errors, and only what it names is sent again")
    func reconnect() async throws {
        mock.on(.get, "/orders/2").reply(status: 500, times: 1).then.reply(Order(id: 2))
        let requests = [GetOrder(id: 1), GetOrder(id: 2), GetOrder(id: 404)]
        try await run {
            $0.retry = .none
        } _: { [mock] client, clock in
            let report = try await client.run(
                Batch(requests, maxConcurrency: 5)
                    .reconnect { round in
                        let again = round.failures.filter { $0.error.response?.status == 500 }
                        return again.isEmpty ? .accept : .retry(again.map(\.index), after: .seconds(2))
                    })
            #expect(report.successes.map(\.index) == [0, 1])
            #expect(report.failures.map(\.index) == [2])
            #expect(mock.calls.count == 4)
            #expect(clock.elapsed == .seconds(2))
        }
    }

    @Test("Batch complete: one outcome for each request, in their order, none for none")
    func complete() async throws {
        mock.on(.get, "/orders/1").reply(Order(id: 1), after: .seconds(9))
        try await run {
            $0.retry = .none
        } _: { client, _ in
            let report = try await client.run(Batch([GetOrder(id: 1), GetOrder(id: 404), GetOrder(id: 3)]))
            #expect(report[0].value?.id == 1)
            #expect(report[1].error?.response?.status == 404)
            #expect(report.values.map { $0?.id } == [1, nil, 3])
            let nothing = try await client.run(Batch([GetOrder]()))
            #expect(nothing.isEmpty)
        }
    }

    // MARK: Chains

    @Test("Variadic chain: each step from the one before, typed, and nil ends it early with success")
    func variadic() async throws {
        try await run { [mock] client, _ in
            let plan = SignIn(user: "ada", password: "…")
                .then { session in GetProfile(token: session.token) }
                .then { profile -> GetOrder? in profile.orderIDs.first.map(GetOrder.init) }
            check(try await client.run(plan)?.id == 7)
            mock.on(.get, "/profile").reply(Profile(name: "Bob", orderIDs: []))
            check(try await client.run(plan) == nil)
        }
    }

    @Test("All responses of a chain: kept where they are wanted")
    func allResponses() async throws {
        try await run { client, _ in
            let (session, profile) = try await client.run(
                SignIn(user: "ada", password: "…").thenKeeping { session in GetProfile(token: session.token) })
            #expect(session.token == "t")
            #expect(profile.name == "Ada")
        }
    }

    @Test("Fluent chain: no thread is blocked, and what comes after a failure is not run")
    func fluent() async throws {
        mock.on(.get, "/profile").reply(status: 500)
        try await run {
            $0.retry = .none
        } _: { [mock, told] client, clock in
            let plan = SignIn(user: "ada", password: "…")
                .then { session in GetProfile(token: session.token) }
                .then { profile in GetOrder(id: profile.orderIDs[0]) }
            client.start(plan) { result in
                if case .failure(let error) = result { told.add(error.path) }
            }
            await clock.run()
            #expect(told.all == ["chain[1]"])
            #expect(mock.calls.count == 2)
        }
    }

    @Test("lastChain: what follows a failure says that it does")
    func lastChain() async throws {
        mock.on(.get, "/profile").reply(status: 500)
        try await run {
            $0.retry = .none
        } _: { client, _ in
            let plan = SignIn(user: "ada", password: "…")
                .then { session in GetProfile(token: session.token) }
                .recover { error in Chain.value(Profile(name: "nobody", orderIDs: [])) }
                .then { profile in GetOrder(id: profile.orderIDs.first ?? 1) }
            check(try await client.run(plan).id == 1)
        }
    }
}
