import Baton
import BatonTesting
import Foundation
import Testing

private typealias Session = Shop.Session
private typealias Profile = Shop.Profile
private typealias Order = Shop.Order
private typealias SignIn = Shop.SignIn
private typealias GetProfile = Shop.GetProfile

/// A request of the page's samples.
private struct GetOrder: Request {
    typealias Output = Shop.Order
    let id: Int
    var path: String { "/orders/\(id)" }
    var options: RequestOptions {
        RequestOptions {
            $0.timeout = .seconds(30)
            $0.priority = .high
        }
    }
}

/// Puts what every URL needs into it.
private struct CommonParameters: RequestAdapter {
    func adapt(_ request: inout HTTPRequest, context: AttemptContext) {
        request.target += (request.query == nil ? "?" : "&") + "version=7"
    }
}

/// Counts what is loading.
private final class Accessory: EventObserver {
    let told = Record<String>()

    func observe(_ event: Event) {
        switch event {
        case .runStarted: told.add("will start")
        case .runEnded(_, let error): told.add(error == nil ? "did stop" : "did stop, failed")
        default: break
        }
    }
}

/// Each row of the page's tables, run.
@Suite("Coming from YTKNetwork") struct ComingFromYTKNetworkTests: ShopStory {
    let mock = Shop.open()
    private let told = Record<String>()

    // MARK: Requests

    @Test("Request by subclass: a type that says what differs from the defaults")
    func subclass() async throws {
        mock.on(.get, "/orders/7").reply(Order(id: 7), after: .seconds(40))
        try await run {
            $0.retry = .none
        } _: { client, clock in
            check(try await failure { try await client.run(GetOrder(id: 7)) }.code == .timedOut)
            #expect(clock.elapsed == .seconds(30))
        }
    }

    @Test("Base URL and CDN: a client for each, and a whole URL where there is no base")
    func cdn() async throws {
        mock.on(.get, "http://cdn.example.com/a.png").reply(status: 200, body: Data("png".utf8))
        try await run { [mock] client, _ in
            let cdn = client.with { $0.baseURL = "http://cdn.example.com" }
            _ = try await client.run(GetOrder(id: 7))
            _ = try await cdn.run(Call("/a.png", as: Data.self))
            let anywhere = client.with { $0.baseURL = nil }
            _ = try await anywhere.run(Call("http://cdn.example.com/a.png", as: Data.self))
            #expect(mock.calls.map(\.url).suffix(2) == Array(repeating: "http://cdn.example.com/a.png", count: 2))
        }
    }

    @Test("URL filters: adapters, in their order, on each attempt")
    func filters() async throws {
        try await run {
            $0.interceptors = [CommonParameters()]
        } _: { [mock] client, _ in
            _ = try await client.run(Call("/orders", as: [Order].self) { $0.query = ["page": 2] })
            #expect(mock.calls.first?.query == "page=2&version=7")
        }
    }

    @Test("Arguments and serializers: query, form and JSON by name, not by method")
    func serializers() async throws {
        mock.on(.post, "/form").reply { request in
            .status(200, request.body.bytes.map { String(decoding: $0, as: UTF8.self) } ?? "")
        }
        try await run { client, _ in
            var call = Call("/form", method: .post, as: String.self)
            call.body = .form(["a": 1, "b": ["x", "y"]])
            check(try await client.run(call) == "a=1&b%5B%5D=x&b%5B%5D=y")
            call.body = .json(["a": 1])
            check(try await client.run(call) == #"{"a":1}"#)
        }
    }

    @Test("Response serializers: the output's type says what is read")
    func outputs() async throws {
        try await run { client, _ in
            check(try await client.run(Call("/orders/7", as: Order.self)).id == 7)
            check(try await client.run(Call("/orders/7", as: JSONValue.self)) == ["id": 7])
            check(try await client.run(Call("/orders/7", as: Data.self)).count == 9)
            check(try await client.run(Call("/orders/7", as: HTTPResponse.self)).status == 200)
        }
    }

    @Test("JSON validator: a shape, and the error says which key has another one")
    func validator() async throws {
        mock.on(.get, "/orders/7").reply(json: #"{"id": "seven"}"#)
        try await run {
            $0.retry = .none
        } _: { client, _ in
            var call = Call("/orders/7", as: JSONValue.self)
            call.options.validation = Validation(shape: .object(["id": .integer, "note": .optional(.string)]))
            let error = try await failure { try await client.run(call) }
            #expect(error.code == .validationFailed)
            #expect(error.message.contains("$.id"))
        }
    }

    @Test("Status validator: the statuses that are accepted")
    func statuses() async throws {
        try await run {
            $0.retry = .none
        } _: { client, _ in
            var call = Call("/orders/404", as: HTTPResponse.self)
            call.options.validation = Validation(statuses: [200, 404])
            check(try await client.run(call).status == 404)
        }
    }

    @Test("Header fields and basic authorization: fields of the request or of the client")
    func headers() async throws {
        let basic = Data("ada:secret".utf8).base64EncodedString()
        try await run {
            $0.fields = ["Authorization": "Basic \(basic)"]
        } _: { [mock] client, _ in
            _ = try await client.run(Call("/orders", as: [Order].self) { $0.fields = ["X-Trace": "1"] })
            #expect(mock.calls.first?.fields["Authorization"] == "Basic YWRhOnNlY3JldA==")
            #expect(mock.calls.first?.fields["X-Trace"] == "1")
        }
    }

    @Test("Multipart block: parts by name, also where no file is")
    func multipart() async throws {
        mock.on(.post, "/photos").reply { request in
            .status(200, "\(request.fields[.contentType]?.prefix(19) ?? "") \(request.body.bytes?.count ?? 0 > 0)")
        }
        try await run { client, _ in
            let upload = Call("/photos", method: .post, as: String.self) {
                $0.body = .multipart([.text("title", "Sea"), .data("photo", Data("…".utf8), filename: "sea.jpg")])
            }
            check(try await client.run(upload) == "multipart/form-data true")
        }
    }

    @Test("Resumable download: what is there is kept, and gone on with")
    func download() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        let file = folder.appendingPathComponent("film.txt")
        defer { try? FileManager.default.removeItem(at: folder) }
        mock.on(.get, "/film").matching { !$0.fields.contains("Range") }.reply(
            fields: ["ETag": "\"a\"", "Content-Length": "10"], chunks: [Data("01234".utf8)], failing: .connectionLost)
        mock.on(.get, "/film").field("Range", "bytes=5-").reply(
            status: 206, fields: ["ETag": "\"a\"", "Content-Range": "bytes 5-9/10", "Content-Length": "5"],
            body: Data("56789".utf8))
        try await run {
            $0.retry = .none
        } _: { client, _ in
            let film = Call("/film", as: Data.self).download(to: file)
            check(try await failure { try await client.run(film) }.code == .connectionLost)
            check(try await client.run(film).resumedFrom == 5)
            #expect(try Data(contentsOf: file) == Data("0123456789".utf8))
        }
    }

    @Test("Request priority: it decides who gets the next slot")
    func priority() async throws {
        mock.on(.get, pattern: "/orders/*").reply(after: .seconds(1)) { (request: HTTPRequest) in
            .status(200, "{\"id\": \(request.number ?? 0)}")
        }
        try await run {
            $0.maxConcurrency = 1
        } _: { [mock] client, clock in
            let first = client.start(Call("/orders/1", as: Order.self))
            await clock.settle()
            let low = client.start(Call("/orders/2", as: Order.self).priority(.low))
            await clock.settle()
            let high = client.start(GetOrder(id: 3))
            for run in [first, low, high] { _ = try await run.value }
            #expect(mock.calls.map { $0.path.suffix(1) } == ["1", "3", "2"])
        }
    }

    @Test("Delegate and blocks: one completion, on the main actor or the queue that is named")
    func completion() async throws {
        try await run { [told] client, clock in
            client.start(GetOrder(id: 7)) { result in told.add("main \((try? result.get().id) ?? 0)") }
            client.start(GetOrder(id: 7), on: .global()) { result in told.add("global \((try? result.get().id) ?? 0)") }
            await clock.run()
            #expect(Set(told.all) == ["main 7", "global 7"])
        }
    }

    @Test("Stop, and a screen that goes away: by the handle, or with the scope", arguments: [true, false])
    func stop(byScope: Bool) async throws {
        mock.on(.get, "/orders/7").reply(Order(id: 7), after: .seconds(10))
        try await run { client, clock in
            var scope: CancellationScope? = CancellationScope()
            let run = client.start(GetOrder(id: 7), in: scope)
            await clock.settle()
            if byScope { scope = nil } else { run.cancel() }
            check(try await failure { try await run.value }.isCancelled)
            #expect(clock.elapsed == .zero)
            #expect(byScope == (scope == nil))
        }
    }

    @Test("Accessories: observers, told whatever the end is, cache hits included")
    func accessories() async throws {
        let accessory = Accessory()
        try await run {
            $0.observers = [accessory]
            $0.interceptors = [Cache(.cacheElseNetwork)]
            $0.retry = .none
        } _: { client, clock in
            for id in [7, 7, 404] { _ = await client.start(GetOrder(id: id)).outcome }
            await clock.settle()
            let pair = ["will start", "did stop"]
            #expect(accessory.told.all == pair + pair + ["will start", "did stop, failed"])
        }
    }

    @Test("Completion preprocessor and filter: off the main thread, then on it")
    func preprocessor() async throws {
        try await run { [told] client, clock in
            client.start(GetOrder(id: 7).map { order in "order \(order.id)" }) { result in
                MainActor.preconditionIsolated()
                told.add((try? result.get()) ?? "")
            }
            await clock.run()
            #expect(told.all == ["order 7"])
        }
    }

    // MARK: Cache

    @Test("cacheTimeInSeconds: an age of the client's cache")
    func cacheTime() async throws {
        mock.on(.get, "/orders/7").reply(Order(id: 1)).then.reply(Order(id: 2))
        try await run {
            $0.interceptors = [Cache(.cacheElseNetwork) { $0.maxAge = .seconds(60) }]
        } _: { client, clock in
            check(try await client.run(GetOrder(id: 7)).id == 1)
            try await clock.sleep(for: .seconds(59))
            check(try await client.run(GetOrder(id: 7)).id == 1)
            try await clock.sleep(for: .seconds(2))
            check(try await client.run(GetOrder(id: 7)).id == 2)
        }
    }

    @Test("cacheVersion and app version: what another version stored is not used")
    func cacheVersion() async throws {
        mock.on(.get, "/orders/7").reply(Order(id: 1)).then.reply(Order(id: 2))
        let store = MemoryCacheStore()
        for version in [1, 1, 2] {
            try await run {
                $0.interceptors = [
                    Cache(.cacheElseNetwork, store: store) {
                        $0.version = version
                        $0.appVersion = "4.2"
                    }
                ]
            } _: { client, _ in
                check(try await client.run(GetOrder(id: 7)).id == version)
            }
        }
    }

    @Test("cacheSensitiveData: who asks is part of the key")
    func sensitiveData() async throws {
        mock.on(.get, "/orders/7").reply(Order(id: 1)).then.reply(Order(id: 2))
        let user = Record<String>()
        try await run {
            $0.interceptors = [Cache(.cacheElseNetwork) { $0.identity = { _ in user.all.last } }]
        } _: { client, _ in
            for (name, id) in [("ada", 1), ("bob", 2), ("ada", 1)] {
                user.add(name)
                check(try await client.run(GetOrder(id: 7)).id == id)
            }
        }
    }

    @Test("ignoreCache and isDataFromCache: a mode of the request, an age of the response")
    func ignoreCache() async throws {
        try await run {
            $0.interceptors = [Cache(.cacheElseNetwork)]
        } _: { client, _ in
            var call = Call("/orders/7", as: HTTPResponse.self)
            _ = try await client.run(call)
            check(try await client.run(call).cacheAge != nil)
            call.options.cacheMode = .networkOnly
            check(try await client.run(call).cacheAge == nil)
        }
    }

    @Test("Loading, saving and clearing a cache by hand: on the cache itself")
    func cacheByHand() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = Cache(.cacheElseNetwork, store: DiskCacheStore(directory: folder))
        try await run {
            $0.interceptors = [cache]
        } _: { [mock] client, clock in
            let request = try HTTPRequest(url: "http://mock/orders/7", fields: .standard)
            let response = HTTPResponse(status: 200, body: Data(#"{"id": 70}"#.utf8))
            try await cache.save(response, for: request, at: clock.date)
            check(try await client.run(Call("/orders/7", as: Order.self)).id == 70)
            #expect(mock.calls.isEmpty)
            check(try await cache.read(request) != nil)
            try await cache.remove(url: "http://mock/orders/7")
            check(try await cache.read(request) == nil)
            try await cache.clear()
            check(try await cache.size == 0)
        }
    }

    // MARK: Configuration

    @Test("Debug log: an observer, without secrets")
    func debugLog() async throws {
        let told = told
        let sink = LogSink { _, message in told.add(message) }
        try await run {
            $0.observers = [RequestLogger(.debug, to: sink)]
        } _: { client, clock in
            _ = try await client.run(GetProfile(token: "S3CRET"))
            await clock.settle()
            #expect(told.all.contains { $0.contains("curl") && $0.contains("/profile") })
            #expect(!told.all.contains { $0.contains("S3CRET") })
        }
    }

    @Test("cancelAllRequests: of a client, and of those that share its queue")
    func cancelAll() async throws {
        mock.on(.get, pattern: "/orders/*").reply(Order(id: 1), after: .seconds(10))
        try await run { client, clock in
            let runs = [client.start(GetOrder(id: 7)), client.with { _ in }.start(GetOrder(id: 8))]
            await clock.settle()
            client.cancelAll()
            for run in runs { check(try await failure { try await run.value }.isCancelled) }
        }
    }

    // MARK: Batches and chains

    @Test("Batch request: at most so many at once, and one failure does not sink the others")
    func batch() async throws {
        try await run {
            $0.retry = .none
        } _: { client, _ in
            let report = try await client.run(Batch([7, 404, 9].map(GetOrder.init), maxConcurrency: 2))
            #expect(report.successes.map(\.value.id) == [7, 9])
            #expect(report.failures.map(\.index) == [1])
        }
    }

    @Test("First failure cancels the others: where that is wanted, and what was done by then is told")
    func failFast() async throws {
        mock.on(.get, "/orders/9").reply(Order(id: 9), after: .seconds(10))
        try await run {
            $0.retry = .none
        } _: { client, clock in
            let batch = Batch([404, 9].map(GetOrder.init)).failurePolicy(.failFast)
            let error = try await failure { try await client.run(batch) }
            #expect(error.code == .batchFailed)
            #expect(error.report(of: Order.self)?.failures.map(\.index) == [0])
            #expect(clock.elapsed < .seconds(10))
        }
    }

    @Test("Batch delegate: the completion, each item as it ends, and how far it is")
    func batchDelegate() async throws {
        try await run { [told] client, clock in
            let batch = Batch([7, 8, 9].map(GetOrder.init)).onEach { index, outcome in
                told.add("\(index) \(outcome.isSuccess)")
            }
            client.start(batch) { result in told.add("all \((try? result.get().allSucceeded) ?? false)") }
            await clock.run()
            #expect(told.all.last == "all true")
            #expect(Set(told.all.dropLast()) == ["0 true", "1 true", "2 true"])
        }
    }

    @Test("Empty batch, and one that is run again: both complete")
    func emptyBatch() async throws {
        try await run { client, _ in
            check(try await client.run(Batch([GetOrder]())).isEmpty)
            let batch = Batch([7, 8].map(GetOrder.init))
            for _ in 1...2 { check(try await client.run(batch).allSucceeded) }
        }
    }

    @Test("Chain request: each step made from the answer before it")
    func chain() async throws {
        try await run { client, _ in
            let plan = SignIn(user: "ada", password: "…")
                .then { session in GetProfile(token: session.token) }
                .then { profile in GetOrder(id: profile.orderIDs[0]) }
            check(try await client.run(plan).id == 7)
        }
    }

    @Test("Chain delegate: which step failed, and what was done before it")
    func chainDelegate() async throws {
        mock.on(.get, "/profile").reply(status: 500)
        try await run {
            $0.retry = .none
        } _: { [told] client, clock in
            let plan = SignIn(user: "ada", password: "…").then { session in GetProfile(token: session.token) }
            client.start(plan) { result in
                guard case .failure(let error) = result else { return }
                told.add("\(error.path), \(error.request ?? ""), after \(error.completed.count) that were done")
            }
            await clock.run()
            #expect(told.all == ["chain[1], GET http://mock/profile, after 1 that were done"])
        }
    }

    @Test("Batch in a chain, chain in a batch: plans nest")
    func nesting() async throws {
        try await run {
            $0.maxConcurrency = 1
        } _: { client, _ in
            let orders = SignIn(user: "ada", password: "…")
                .then { session in GetProfile(token: session.token) }
                .then { profile in Batch(profile.orderIDs.map(GetOrder.init)) }
            check(try await client.run(orders).values.map { $0?.id } == [7, 8, 9])
            let both = try await client.run(Batch([orders, orders]))
            #expect(both.allSucceeded)
        }
    }
}
