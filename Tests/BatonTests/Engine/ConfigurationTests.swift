import Baton
import BatonTesting
import Foundation
import Testing

@Suite("A client's configuration")
struct ConfigurationTests {
    private struct Stamped: Codable, Response, Equatable { let at: Date }

    @Test("Y14: the fields that a configuration has are the ones that these tests look at")
    func known() {
        let names = Mirror(reflecting: Client.Configuration()).children.compactMap(\.label)
        let looked = [
            "baseURL", "transport", "fields", "timeout", "maxConcurrency", "maxConcurrencyPerHost", "maxWaiting",
            "retry",
            "interceptors", "observers", "coding", "retryBudget", "pacing", "breaker", "adaptiveConcurrency", "hedging",
            "coalescing",
            // Looked at in RequestDefaultsTests, CookieJarTests, ResponseLimitTests, ValidationTests, EnvelopeTests and
            // RedirectTests.
            "query", "attemptField", "avoidedNetworks", "cookies", "maxResponseBytes", "validation", "envelope",
            "redirects",
        ]
        #expect(names.sorted() == looked.sorted(), "a new field needs a test of its effect here")
    }

    @Test("Y14: base URL, fields, coding, interceptors and observers reach the wire")
    func wire() async throws {
        let transport = HeldTransport()
        let observer = RecordingObserver()
        var configuration = Client.Configuration()
        configuration.baseURL = "https://example.org:8443/api/v9?key=k"
        configuration.transport = transport
        configuration.fields = ["X-Client": "unusual", "Accept": "application/x-odd"]
        configuration.interceptors = [ClosureAdapter { request, _ in request.fields["X-Adapted"] = "yes" }]
        configuration.observers = [observer]
        configuration.coding = BodyCoding(
            jsonEncoder: {
                let encoder = JSONEncoder()
                encoder.dateEncodingStrategy = .millisecondsSince1970
                return encoder
            },
            jsonDecoder: {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .secondsSince1970
                return decoder
            })
        let date = Date(timeIntervalSince1970: 1_000)
        let request = Call("/things", method: .post, as: Stamped.self) {
            $0.query = ["q": 1]
            $0.body = .json(Stamped(at: date))
            $0.fields = ["X-Own": "1"]
        }
        let run = Client(configuration: configuration).start(request)
        await transport.hasSent(1)
        let sent = try #require(transport.sent.first)
        #expect(sent.urlString == "https://example.org:8443/api/v9/things?key=k&q=1")
        #expect(sent.fields["x-client"] == "unusual")
        #expect(sent.fields["accept"] == "application/x-odd")
        #expect(sent.fields["x-own"] == "1")
        #expect(sent.fields["x-adapted"] == "yes")
        #expect(sent.body.bytes.map { String(decoding: $0, as: UTF8.self) } == "{\"at\":1000000}")
        transport.reply(to: 0, with: .status(200, "{\"at\": 1000}"))
        #expect(try await run.value == Stamped(at: date))
        #expect(observer.story.first == "run")
        #expect(observer.story.last == "run ended")
    }

    @Test("Y14: timeout and retry hold, and a request's own go before them")
    func time() async throws {
        let transport = ScriptedTransport { _, _ in .silence }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.timeout = .milliseconds(1_234)
                $0.retry = RetryPolicy(attempts: 4, backoff: .constant(.milliseconds(111)))
            }
        ) { client, clock in
            _ = try await failure { try await client.run(GetItem(n: 1)) }
            #expect(clock.elapsed == .milliseconds(4 * 1_234 + 3 * 111))
            let before = clock.elapsed
            var request = Send(method: .get)
            request.options.timeout = .milliseconds(50)
            request.options.retry = RetryPolicy.none
            _ = try await failure { [request] in try await client.run(request) }
            #expect(clock.elapsed - before == .milliseconds(50))
        }
    }

    @Test("Y14: the limits hold: in all, for each host, and for those that wait")
    func limits() async throws {
        let transport = HeldTransport()
        let client = Client(transport: transport) {
            $0.maxConcurrency = 3
            $0.maxConcurrencyPerHost = 2
            $0.maxWaiting = 4
        }
        let runs = ["a", "a", "a", "a", "b", "b", "b"].map { host in
            client.start(Call("http://\(host)/items/1", as: Item.self))
        }
        await transport.hasSent(3)
        while client.counts.waiting < 4 { await Task.yield() }
        #expect(transport.sent.map(\.origin.host).sorted() == ["a", "a", "b"])
        let error = try await failure { try await client.run(Call("http://c/items/1", as: Item.self)) }
        #expect(error.code == .queueFull)
        for number in 0..<7 {
            await transport.hasSent(number + 1)
            transport.reply(to: number)
        }
        for run in runs { _ = try await run.value }
        #expect(transport.most == 3)
    }

    @Test(
        "Y14: what cannot work is refused",
        arguments: [
            { $0.maxConcurrency = 0 }, { $0.maxConcurrencyPerHost = 0 }, { $0.maxWaiting = -1 }, { $0.timeout = .zero },
            { $0.timeout = .seconds(-1) }, { $0.retry.attempts = 0 }, { $0.retry.backoff.base = .seconds(-1) },
            { $0.retry.backoff.factor = .infinity }, { $0.baseURL = "ftp://h" }, { $0.baseURL = "" },
        ] as [@Sendable (inout Client.Configuration) -> Void])
    func refused(change: @Sendable (inout Client.Configuration) -> Void) async throws {
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport, configure: change)
        let error = try await failure { try await client.run(GetItem(n: 1)) }
        #expect([.invalidConfiguration, .invalidRequest].contains(error.code))
        #expect(transport.sent.isEmpty)
    }
}
