import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Cache") struct CacheTests {
    private let mock = MockTransport()
    private let store = MemoryCacheStore()

    private func news(_ mode: CacheMode? = nil, fields: HTTPFields = [:]) -> Call<HTTPResponse> {
        Call("/news") {
            $0.options.cacheMode = mode
            $0.fields = fields
        }
    }

    /// Runs a test with a cache in front of the mock; time passes only where the test lets it.
    private func with(
        _ cache: Cache, _ body: @escaping @Sendable (Client, VirtualClock, MockTransport) async throws -> Void
    ) async throws {
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.interceptors = [cache]
                $0.retry = .none
            }
        ) { [mock] client, clock in try await body(client, clock, mock) }
    }

    @Test("Each mode asks the cache and the network in its own order")
    func modes() async throws {
        mock.on(.get, "/news").reply(json: "1").then.reply(json: "2").then.reply(json: "3").then.fail(.cannotConnect)
        try await with(Cache(.cacheElseNetwork, store: store)) { [self] client, clock, mock in
            #expect(try await failure { try await client.run(news(.cacheOnly)) }.code == .cacheMiss)
            #expect(try await client.run(news()).text == "1")
            try await clock.sleep(for: .seconds(5))
            let hit = try await client.run(news())
            #expect(hit.text == "1")
            #expect(hit.cacheAge == .seconds(5))
            #expect(mock.calls.count == 1)
            let fresh = try await client.run(news(.networkOnly))
            #expect(fresh.text == "2")
            #expect(fresh.cacheAge == nil)
            #expect(try await client.run(news(.cacheOnly)).text == "2")
            #expect(try await client.run(news(.ignore)).text == "3")
            #expect(try await client.run(news(.cacheOnly)).text == "2")
            #expect(try await client.run(news(.networkElseCache)).text == "2")
            #expect(try await failure { try await client.run(news(.networkOnly)) }.code == .cannotConnect)
        }
    }

    @Test(
        "K58 Network else cache: cold it fails with the network's error, and no failure takes the place of a response")
    func fallback() async throws {
        mock.on(.get, "/news").fail(.cannotConnect).then.reply(json: "1").then.reply(status: 500).then.reply(
            status: 200
        )
        .then.fail(.timedOut)
        try await with(Cache(.networkElseCache, store: store) { $0.maxAge = .seconds(60) }) { [self] client, clock, _ in
            #expect(try await failure { try await client.run(news()) }.code == .cannotConnect)
            #expect(try await client.run(news()).text == "1")
            let fallback = try await client.run(news())
            #expect(fallback.text == "1")
            #expect(!fallback.isStale)
            #expect(try await client.run(news()).body.isEmpty)
            try await clock.sleep(for: .seconds(61))
            let expired = try await client.run(news())
            #expect(expired.text == "1")
            #expect(expired.isStale)
            #expect(expired.cacheAge == .seconds(61))
            #expect(try await failure { try await client.run(news(.cacheOnly)) }.code == .cacheMiss)
        }
    }

    @Test("K58 What was stored after now is not used where age counts")
    func clockMovedBack() async throws {
        mock.on(.get, "/news").reply(json: "2")
        let cache = Cache(.cacheElseNetwork, store: store) { $0.maxAge = .seconds(60) }
        try await with(cache) { [self] client, clock, _ in
            let request = try HTTPRequest(url: "http://mock/news")
            let later = clock.date.addingTimeInterval(3_600)
            #expect(try await cache.save(HTTPResponse(status: 200, body: Data("1".utf8)), for: request, at: later))
            #expect(try await client.run(news()).text == "2")
        }
    }

    @Test("Cache then network delivers twice in a stream, once where the cache has nothing, and is refused elsewhere")
    func twice() async throws {
        mock.on(.get, "/news").reply(json: "1").then.reply(json: "2").then.fail(.cannotConnect)
        try await with(Cache(.cacheThenNetwork, store: store)) { [self] client, _, _ in
            @Sendable func deliveries() async throws -> [String] {
                var result: [String] = []
                do {
                    for try await news in client.stream(news()) {
                        result.append("\(news.value.text)\(news.isFromCache ? " cached" : "")")
                    }
                } catch let error as BatonError { result.append("\(error.code)") }
                return result
            }
            let refusal = try await failure { try await client.run(news()) }
            #expect(refusal.code == .invalidConfiguration)
            #expect(try await deliveries() == ["1"])
            #expect(try await deliveries() == ["1 cached", "2"])
            #expect(try await deliveries() == ["2 cached", "cannotConnect"])
        }
    }

    @Test("Who asks for what is in the cache only gets that or an error, and the network hears nothing")
    func onlyIfCached() async throws {
        mock.on(.get, "/news").reply(status: 200, fields: ["Cache-Control": "max-age=10"], body: Data("1".utf8))
        try await with(Cache(store: store)) { [self] client, _, mock in
            let only: HTTPFields = ["Cache-Control": "only-if-cached"]
            let missing = try await failure { try await client.run(news(fields: only)) }
            #expect(missing.code == .cacheMiss && mock.calls.isEmpty)
            let (first, second) = (try await client.run(news()), try await client.run(news(fields: only)))
            #expect(first.text == "1" && second.text == "1")
            #expect(mock.calls.count == 1)
        }
    }

    @Test("A response is fresh until the date that it names, counted from the one when it was made")
    func expires() async throws {
        mock.on(.get, "/news").reply(
            status: 200,
            fields: ["Date": "Sun, 06 Nov 1994 08:49:37 GMT", "Expires": "Sun, 06 Nov 1994 08:50:37 GMT"],
            body: Data("1".utf8)
        ).then.reply(json: "2")
        try await with(Cache(store: store)) { [self] client, clock, mock in
            #expect(try await client.run(news()).text == "1")
            try await clock.sleep(for: .seconds(59))
            #expect(try await client.run(news()).text == "1")
            #expect(mock.calls.count == 1)
            try await clock.sleep(for: .seconds(2))
            // Nothing tells whether it has changed, so it is asked for anew.
            #expect(try await client.run(news()).text == "2")
            #expect(mock.calls.last?.fields[.ifNoneMatch] == nil)
        }
    }

    @Test("What has changed takes the place of what was asked about, and a failure does not")
    func changed() async throws {
        let old: HTTPFields = ["ETag": "\"a\"", "Cache-Control": "max-age=10"]
        mock.on(.get, "/news").reply(status: 200, fields: old, body: Data("1".utf8))
            .then.reply(status: 500)
            .then.reply(status: 200, fields: ["ETag": "\"b\"", "Cache-Control": "max-age=10"], body: Data("2".utf8))
        try await with(Cache(store: store)) { [self] client, clock, mock in
            #expect(try await client.run(news()).text == "1")
            try await clock.sleep(for: .seconds(11))
            #expect(try await failure { try await client.run(news()) }.response?.status == 500)
            #expect(try await client.run(news()).text == "2")
            #expect(mock.calls.map { $0.fields[.ifNoneMatch] } == [nil, "\"a\"", "\"a\""])
            #expect(try await client.run(news()).text == "2")
            #expect(mock.calls.count == 3)
        }
    }

    @Test("What HTTP calls fresh is used, what is not is confirmed, and what has changed is replaced")
    func freshness() async throws {
        mock.on(.get, "/news").reply { request in
            let tag = request.fields[.ifNoneMatch]
            if tag == "\"a\"", request.fields[.ifModifiedSince] == nil {
                return HTTPResponse(status: 304, fields: ["Cache-Control": "max-age=100"])
            }
            return HTTPResponse(
                status: 200, fields: ["ETag": "\"a\"", "Cache-Control": "max-age=10"], body: Data("1".utf8))
        }
        try await with(Cache(store: store)) { [self] client, clock, mock in
            #expect(try await client.run(news()).text == "1")
            try await clock.sleep(for: .seconds(9))
            #expect(try await client.run(news()).cacheAge == .seconds(9))
            #expect(mock.calls.count == 1)
            try await clock.sleep(for: .seconds(2))
            let confirmed = try await client.run(news())
            #expect(confirmed.text == "1")
            #expect(confirmed.status == 200)
            #expect(confirmed.cacheAge == .zero)
            #expect(mock.calls.count == 2)
            try await clock.sleep(for: .seconds(99))
            #expect(try await client.run(news()).cacheAge == .seconds(99))
            #expect(mock.calls.count == 2)
            let asked = news(fields: ["Cache-Control": "no-cache"])
            #expect(try await client.run(asked).cacheAge == .zero)
            #expect(mock.calls.count == 3)
        }
    }

    @Test(
        "K56 Variants and users are told apart, and what must not be kept is not",
        arguments: [
            (["Vary": "X-Plan"], ["X-Plan": "a"], ["X-Plan": "b"], false),
            (["Vary": "X-Plan"], ["X-Plan": "a"], ["X-Plan": "a"], true),
            (["Vary": "*"], [:], [:], false),
            (["Cache-Control": "no-store"], [:], [:], false),
            (["Cache-Control": "private"], [:], [:], false),
            (["Cache-Control": "private"], ["Authorization": "Bearer A"], ["Authorization": "Bearer A"], true),
            ([:], ["Authorization": "Bearer A"], ["Authorization": "Bearer B"], false),
            ([:], ["Accept-Language": "fr"], ["Accept-Language": "de"], false),
            ([:], ["Accept": "text/html"], ["Accept": "application/json"], false),
            (["Set-Cookie": "a=1"], [:], [:], false),
            ([:], [:], [:], true),
        ] as [([String: String], [String: String], [String: String], Bool)])
    func variants(
        _ response: [String: String], _ first: [String: String], _ second: [String: String], _ isHit: Bool
    ) async throws {
        mock.on(.get, "/news").reply(fields: HTTPFields(response), json: "1")
        try await with(Cache(.cacheElseNetwork, store: store)) { [self] client, _, mock in
            _ = try await client.run(news(fields: HTTPFields(first)))
            let again = try await client.run(news(fields: HTTPFields(second)))
            #expect((again.cacheAge != nil) == isHit)
            // The first one is still found, beside the second.
            if response["Vary"] != "*", !isHit, response.isEmpty || response["Vary"] != nil {
                #expect(try await client.run(news(fields: HTTPFields(first))).cacheAge != nil)
            }
            #expect(mock.calls.count == (isHit ? 1 : 2))
        }
    }

    @Test("K56 All lines of Vary count")
    func varyLines() async throws {
        var fields = HTTPFields()
        fields.append("Accept-Encoding, X-A", for: .vary)
        fields.append("X-B", for: .vary)
        mock.on(.get, "/news").reply(HTTPResponse(status: 200, fields: fields, body: Data("1".utf8)))
        try await with(Cache(.cacheElseNetwork, store: store)) { [self] client, _, _ in
            _ = try await client.run(news(fields: ["X-A": "1", "X-B": "1"]))
            #expect(try await client.run(news(fields: ["X-A": "1", "X-B": "1"])).cacheAge != nil)
            #expect(try await client.run(news(fields: ["X-A": "1", "X-B": "2"])).cacheAge == nil)
            #expect(try await client.run(news(fields: ["X-A": "1", "X-B": "1"])).cacheAge != nil)
        }
    }

    @Test("K55 Keys tell apart methods, URLs, bodies and identities, and parts do not run into each other")
    func keys() throws {
        func key(
            _ method: HTTPMethod = .get, _ url: String = "http://h/q", body: HTTPBody = .none, identity: String? = nil,
            fields: HTTPFields = [:]
        ) throws -> CacheKey? {
            CacheKey(
                try HTTPRequest(method: method, url: url, fields: fields, body: body), identity: identity,
                varyingBy: ["X-A", "X-B"])
        }
        let keys = try [
            key(), key(.head), key(.post, body: .text("1")), key(.post, body: .text("2")), key(identity: "ab"),
            key(identity: "abc"), key(.get, "http://h/q?a=1"), key(.get, "https://h/q"),
            key(fields: ["X-A": "ab", "X-B": "cx"]), key(fields: ["X-A": "abc", "X-B": "x"]),
            key(fields: ["X-A": "ab"]),
            key(fields: ["X-B": "ab"]),
        ]
        #expect(Set(keys).count == keys.count)
        #expect(Set(keys.map { $0?.name }).count == keys.count)
        let stream = HTTPBody.stream(HTTPBodyStream.data(Data()))
        #expect(try key(.post, body: stream) == nil)
    }

    @Test("Other methods are answered only where that is asked for; other versions never are")
    func methodsAndVersions() async throws {
        mock.on(.post, "/q").reply(json: "1").then.reply(json: "2").then.reply(json: "3").then.reply(json: "4")
        let post = Call("/q", method: .post, as: String.self) { $0.body = .text("x") }
        try await with(Cache(.cacheElseNetwork, store: store)) { client, _, _ in
            _ = try await client.run(post)
            #expect(try await client.run(post) == "2")
            let kept = MemoryCacheStore()
            let asked = { (version: Int) in
                post.interceptors(
                    .adding(
                        Cache(.cacheElseNetwork, store: kept) {
                            $0.methods = [.post]
                            $0.version = version
                        }))
            }
            #expect(try await client.run(asked(1)) == "3")
            #expect(try await client.run(asked(1)) == "3")
            #expect(try await client.run(asked(2)) == "4")
        }
    }

    @Test(
        "What another method changes is forgotten, for every user and variant, and only when it succeeded",
        arguments: [HTTPMethod.post, .put, .patch, .delete, .get, .head], [200, 204, 404])
    func invalidation(_ method: HTTPMethod, _ status: Int) async throws {
        mock.on(.get, "/news").reply(json: "1")
        mock.on(.get, "/news").field("Accept-Language", "de").reply(json: "2")
        mock.on(.get, "/other").reply(json: "3")
        mock.on(method, "/change").reply(status: status, fields: ["Location": "/news"])
        let observer = RecordingObserver()
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.interceptors = [Cache(.cacheElseNetwork, store: store)]
                $0.observers = [observer]
                $0.retry = .none
            }
        ) { [self] client, clock in
            func fill() async throws {
                _ = try await client.run(news())
                _ = try await client.run(news(fields: ["Accept-Language": "de"]))
                _ = try await client.run(Call("/other", as: Data.self))
            }
            try await fill()
            #expect(mock.calls.count == 3)
            let run = client.start(Call<HTTPResponse>("/change", method: method))
            _ = await run.outcome
            try await fill()
            let isForgotten = !method.isSafe && status < 400
            #expect(mock.calls.count == (isForgotten ? 6 : 4))
            await clock.settle()
            let told = observer.story.filter { $0.contains("invalidated") }
            #expect(told == (isForgotten ? ["cache /change: invalidated(url: \"http://mock/news\")"] : []))
        }
    }

    @Test("The URL itself is forgotten, one of another origin is not, and a method that is answered changes nothing")
    func invalidationOfURLs() async throws {
        mock.on(.get, "/news").reply(json: "1")
        mock.on(.put, "/news").reply(
            status: 204, fields: ["Content-Location": "http://mock/a", "Location": "http://elsewhere/b"])
        mock.on(.post, "/q").reply(json: "2")
        for name in ["mock/a", "elsewhere/b", "mock/q"] {
            try await Cache(store: store).save(
                HTTPResponse(status: 200, body: Data("0".utf8)), for: try HTTPRequest(url: "http://\(name)"),
                at: Date(timeIntervalSince1970: 0))
        }
        let cache = Cache(.cacheElseNetwork, store: store) { $0.methods = [.get, .post] }
        try await with(cache) { [self] client, _, mock in
            func has(_ url: String) async throws -> Bool { try await cache.read(try HTTPRequest(url: url)) != nil }
            _ = try await client.run(news())
            _ = try await client.run(Call("/news", method: .put, as: EmptyResponse.self))
            let left = [
                try await has("http://mock/news"), try await has("http://mock/a"), try await has("http://elsewhere/b"),
            ]
            #expect(left == [false, false, true])
            _ = try await client.run(Call("/q", method: .post, as: Data.self))
            let kept = try await has("http://mock/q")
            #expect(kept)
            // By hand, as well.
            let removed = [try await cache.remove(url: "http://mock/q"), try await cache.remove(url: "http://mock/q")]
            #expect(removed == [true, false])
        }
    }

    @Test("Observers are told what the cache does, log and counts included")
    func events() async throws {
        mock.on(.get, "/news").reply { request in
            request.fields[.ifNoneMatch] == "a"
                ? .status(304)
                : HTTPResponse(status: 200, fields: ["ETag": "a", "Cache-Control": "max-age=10"], body: Data("1".utf8))
        }
        mock.on(.put, "/news").reply(status: 204)
        let (observer, metrics, log) = (RecordingObserver(), Metrics(), Record<String>())
        let logger = RequestLogger(.debug, to: LogSink { log.add($1) })
        let small = MemoryCacheStore(maxSize: 400)
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.interceptors = [Cache(store: small)]
                $0.observers = [observer, metrics, logger]
                $0.retry = .none
            }
        ) { [self] client, clock in
            try await client.run(news(.cacheOnly), orNothing: ())
            _ = try await client.run(news())
            try await clock.sleep(for: .seconds(2))
            _ = try await client.run(news())
            try await clock.sleep(for: .seconds(20))
            _ = try await client.run(news())
            _ = try await client.run(
                Call("/news?2") { $0.options.cacheMode = .networkOnly } as Call<HTTPResponse>, orNothing: ())
            mock.on { _ in true }.fail(.cannotConnect, times: 1)
            _ = try await client.run(news(.networkElseCache), orNothing: ())
            _ = try await client.run(Call("/news", method: .put, as: EmptyResponse.self))
            await clock.settle()
        }
        let told = observer.story.filter { $0.hasPrefix("cache") }
        #expect(
            told == [
                "cache /news: miss", "cache /news: miss", "cache /news: stored",
                "cache /news: hit(age: 2.0 seconds, isStale: false)", "cache /news: revalidated",
                "cache /news: hit(age: 0.0 seconds, isStale: false)",
                "cache /news: invalidated(url: \"http://mock/news\")",
            ])
        let counts = metrics.snapshot.cache
        #expect(counts.hits == 2 && counts.misses == 2 && counts.stored == 1 && counts.revalidated == 1)
        #expect(counts.invalidated == 1 && counts.staleHits == 0)
        #expect(log.all.filter { $0.hasPrefix("cache: ") }.count == told.count)
        #expect(log.all.contains { $0.hasSuffix("GET http://mock/news was answered, 2.0 s old") })
    }

    @Test("A store without room says how many had to go, and the event does")
    func evicted() async throws {
        mock.on(pattern: "/pages/*").reply(json: String(repeating: " ", count: 600) + "1")
        let metrics = Metrics()
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.interceptors = [Cache(.cacheElseNetwork, store: MemoryCacheStore(maxSize: 2_000))]
                $0.observers = [metrics]
            }
        ) { client, clock in
            for n in 1...4 { _ = try await client.run(Call("/pages/\(n)", as: Data.self)) }
            await clock.settle()
        }
        #expect(metrics.snapshot.cache.stored == 4)
        #expect(metrics.snapshot.cache.evicted == 2)
    }

    @Test("Content can be read, removed, cleared and weighed")
    func content() async throws {
        let cache = Cache(.cacheElseNetwork, store: store) { $0.version = 2 }
        let request = try HTTPRequest(url: "http://h/a")
        let response = HTTPResponse(status: 200, fields: ["Vary": "X-A"], body: Data("hello".utf8))
        #expect(try await cache.save(response, for: request, at: Date(timeIntervalSince1970: 0)))
        #expect(try await cache.read(request)?.response?.text == "hello")
        #expect(try await Cache(store: store) { $0.version = 3 }.read(request) == nil)
        #expect(try await cache.size > 0)
        try await cache.remove(request)
        #expect(try await cache.read(request) == nil)
        try await cache.save(response, for: request, at: Date(timeIntervalSince1970: 0))
        try await cache.clear()
        #expect(try await cache.size == 0)
    }
}

extension HTTPResponse {
    fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}

extension HTTPFields {
    fileprivate init(_ dictionary: [String: String]) {
        self.init(dictionary.map { Line(name: HTTPFieldName($0.key), value: $0.value) })
    }
}

extension Client {
    /// For those whose failure does not matter.
    fileprivate func run(_ plan: some Plan, orNothing: Void) async throws {
        do { _ = try await run(plan) } catch {}
    }
}
