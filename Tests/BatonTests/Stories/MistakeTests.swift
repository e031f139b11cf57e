import Baton
import BatonTesting
import Foundation
import Testing

/// The mistakes that are made most often, and what the library says of each: what was wrong, where, and what to do.
@Suite("Errors that help") struct MistakeTests {
    struct Mistake: Sendable, CustomTestStringConvertible {
        let name: String
        let code: BatonError.Code
        /// What the error's line has to say.
        let says: [String]
        let make: @Sendable () async throws -> Void

        var testDescription: String { name }
    }

    private struct Order: Codable, Response { let id: Int, total: Double }

    private static func client(
        _ base: String? = "https://api.example.com", _ configure: (inout Client.Configuration) -> Void = { _ in }
    ) -> Client {
        Client(baseURL: base, transport: InlineTransport(), configure: configure)
    }

    private static func virtually(
        _ mock: MockTransport = MockTransport(), time: VirtualTime = .automatic,
        configure: (inout Client.Configuration) -> Void = { _ in },
        _ body: @escaping @Sendable (Client) async throws -> Void
    ) async throws {
        try await withVirtualTime(transport: mock, time: time, configure: configure) { client, _ in
            try await body(client)
        }
    }

    /// A mock whose one order answers so.
    private static func mock(
        status: Int = 200, type: String = "application/json", _ body: String
    ) -> MockTransport {
        let mock = MockTransport()
        mock.on(.get, "/orders/7").reply(
            status: status, fields: [.contentType: type], body: Data(body.utf8))
        return mock
    }

    private static let order = Call("/orders/7", as: Order.self)

    // MARK: Addresses

    static let addresses: [Mistake] = [
        Mistake(
            name: "a base URL without a scheme", code: .invalidRequest,
            says: ["base URL", "has no scheme", "https://api.example.com"]
        ) { _ = try await client("api.example.com").run(order) },
        Mistake(
            name: "a base URL with another scheme", code: .invalidRequest,
            says: ["base URL", "the scheme ftp", "only http and https"]
        ) { _ = try await client("ftp://api.example.com").run(order) },
        Mistake(name: "a base URL with a space", code: .invalidRequest, says: ["base URL", "percent-encode"]) {
            _ = try await client("https://api.example.com/my app").run(order)
        },
        Mistake(
            name: "a base URL with a user", code: .invalidRequest,
            says: ["base URL", "user or password", "Authorization"]
        ) { _ = try await client("https://ada:pw@api.example.com").run(order) },
        Mistake(name: "a port that is none", code: .invalidRequest, says: ["base URL", "port", "1 to 65535"]) {
            _ = try await client("https://api.example.com:99999").run(order)
        },
        Mistake(
            name: "a relative path without a base URL", code: .invalidRequest,
            says: ["path", "relative", "no base URL", "write the URL out"]
        ) { _ = try await client(nil).run(order) },
        Mistake(
            name: "a URL of another origin", code: .invalidRequest,
            says: ["path", "another origin", "use a client for that origin"]
        ) { _ = try await client().run(Call("https://elsewhere.example/a", as: Order.self)) },
        Mistake(name: "a # in a path", code: .invalidRequest, says: ["path", "#", "%23"]) {
            _ = try await client().run(Call("/orders/#7", as: Order.self))
        },
    ]

    // MARK: Requests

    static let requests: [Mistake] = [
        Mistake(
            name: "a GET with a body", code: .invalidRequest,
            says: ["body", "may not go with GET", "use POST", "GET https://api.example.com/orders"]
        ) { _ = try await client().run(Call("/orders", as: Order.self) { $0.body = .text("x") }) },
        Mistake(
            name: "a line break in a field", code: .invalidRequest, says: ["field X-Note", "CR, LF", "take it out"]
        ) { _ = try await client().run(Call("/", as: Order.self) { $0.fields["X-Note"] = "a\r\nb" }) },
        Mistake(name: "a field whose name is none", code: .invalidRequest, says: ["field X Note", "not a token"]) {
            _ = try await client().run(Call("/", as: Order.self) { $0.fields["X Note"] = "a" })
        },
        Mistake(name: "a method that is none", code: .invalidRequest, says: ["method", "no token"]) {
            _ = try await client().run(Call("/", method: "GET IT", as: Order.self))
        },
        Mistake(
            name: "a body that cannot be encoded", code: .encodingFailed,
            says: ["body could not be encoded", "POST https://api.example.com/orders"]
        ) {
            _ = try await client().run(
                Call("/orders", method: .post, as: Order.self) { $0.body = .json(["total": Double.nan]) })
        },
    ]

    // MARK: Settings

    static let settings: [Mistake] = [
        Mistake(name: "a limit of 0", code: .invalidConfiguration, says: ["maxConcurrency is 0", "at least 1"]) {
            _ = try await client { $0.maxConcurrency = 0 }.run(order)
        },
        Mistake(
            name: "a limit of 0 for each host", code: .invalidConfiguration,
            says: ["maxConcurrencyPerHost is 0", "at least 1"]
        ) { _ = try await client { $0.maxConcurrencyPerHost = 0 }.run(order) },
        Mistake(name: "a batch with a limit of 0", code: .invalidConfiguration, says: ["batch", "0", "at least 1"]) {
            _ = try await client().run(Batch([order], maxConcurrency: 0))
        },
        Mistake(
            name: "a negative timeout", code: .invalidConfiguration, says: ["timeout is -1", "longer than nothing"]
        ) {
            _ = try await client { $0.timeout = .seconds(-1) }.run(order)
        },
        Mistake(name: "a plan with a negative timeout", code: .invalidConfiguration, says: ["timeout is -1"]) {
            _ = try await client().run(order.timeout(.seconds(-1)))
        },
        Mistake(name: "a policy of no attempts", code: .invalidConfiguration, says: ["attempts", "0", "1"]) {
            _ = try await client { $0.retry = RetryPolicy(attempts: 0) }.run(order)
        },
        Mistake(
            name: "a derived client with a transport of its own", code: .invalidConfiguration,
            says: ["derived client shares the transport", "a client of its own"]
        ) { _ = try await client().with { $0.transport = SilentTransport() }.run(order) },
        Mistake(
            name: "a share that is none", code: .invalidConfiguration,
            says: ["tolerates a share of 3.0", "from 0 to 1"]
        ) { _ = try await client().run(Batch([order]).failurePolicy(.tolerateShare(3))) },
        Mistake(
            name: "cache, then network, with run", code: .invalidConfiguration,
            says: ["answers twice", "client.stream"]
        ) {
            try await virtually(mock(#"{"id": 7, "total": 1}"#), configure: { $0.interceptors = [Cache()] }) { client in
                _ = try await client.run(
                    Call("/orders/7", as: Order.self) { $0.options.cacheMode = .cacheThenNetwork })
            }
        },
    ]

    // MARK: Answers

    static let answers: [Mistake] = [
        Mistake(
            name: "a key that the server does not send", code: .decodingFailed,
            says: ["no Order", "the key total is missing", "GET http://mock/orders/7", "status 200"]
        ) { try await virtually(mock(#"{"id": 7}"#)) { _ = try await $0.run(order) } },
        Mistake(
            name: "a value of another type", code: .decodingFailed, says: ["no Order", "Double expected", "at .total"]
        ) { try await virtually(mock(#"{"id": 7, "total": "3"}"#)) { _ = try await $0.run(order) } },
        Mistake(
            name: "a page in place of JSON", code: .decodingFailed,
            says: ["no Order", "text/html, not JSON", "check the URL"]
        ) { try await virtually(mock(type: "text/html; charset=utf-8", "<html>")) { _ = try await $0.run(order) } },
        Mistake(
            name: "no body where the output needs one", code: .emptyBody,
            says: ["no body to decode Order from", "optional or EmptyResponse"]
        ) { try await virtually(mock(status: 200, "")) { _ = try await $0.run(order) } },
        Mistake(
            name: "a status that is no success", code: .unacceptableStatus,
            says: ["the server answered 404", "GET http://mock/orders/7"]
        ) { try await virtually(mock(status: 404, "{}")) { _ = try await $0.run(order) } },
        Mistake(
            name: "a cursor that does not move", code: .repeatedCursor,
            says: ["a page that was read before", "cursor does not move"]
        ) {
            try await virtually(mock(#"{"id": 7, "total": 1}"#)) { client in
                _ = try await client.run(Pages(order) { _ in order })
            }
        },
    ]

    // MARK: Plans

    static let plans: [Mistake] = [
        Mistake(
            name: "a sequence that is run twice", code: .inputConsumed,
            says: ["read by an earlier run", "give the batch a collection"]
        ) {
            let batch = Batch(Made(2) { GetItem(n: $0) })
            _ = try await client().run(batch)
            _ = try await client().run(batch)
        },
        Mistake(
            name: "a closure that throws", code: .deriveFailed, says: ["closure of the chain threw", "at chain[1]"]
        ) { _ = try await client().run(GetItem(n: 1).then { _ -> GetItem in throw CocoaError(.coderInvalidValue) }) },
        Mistake(
            name: "a condition that is never met", code: .limitReached,
            says: ["condition was still not met after 3 repetitions"]
        ) {
            try await virtually(mock(#"{"id": 7, "total": 1}"#)) { client in
                _ = try await client.run(order.repeated(every: .seconds(1), atMost: 3) { $0.total > 1 })
            }
        },
        Mistake(
            name: "a scope that nobody keeps", code: .cancelled, says: ["scope", "released", "keep it"]
        ) {
            let run = Client(baseURL: "http://h", transport: SilentTransport()).start(order, in: CancellationScope())
            _ = try await run.value
        },
        Mistake(name: "a queue that is full", code: .queueFull, says: ["queue is full", "maxWaiting"]) {
            let client = Client(baseURL: "http://h", transport: SilentTransport()) {
                $0.maxConcurrency = 1
                $0.maxWaiting = 0
            }
            let first = client.start(order)
            defer { first.cancel() }
            while client.counts.inFlight == 0 { await Task.yield() }
            _ = try await client.run(order)
        },
        Mistake(
            name: "a server that is too slow", code: .timedOut,
            says: ["no complete response within 2.0 seconds", "raise the timeout"]
        ) {
            let mock = MockTransport()
            mock.on(.get, "/orders/7").reply(json: "{}", after: .seconds(60))
            try await virtually(mock, configure: { ($0.timeout, $0.retry) = (.seconds(2), .none) }) { client in
                _ = try await client.run(order)
            }
        },
    ]

    // MARK: Tests

    static let tests: [Mistake] = [
        Mistake(
            name: "a real transport on virtual time", code: .unsupported,
            says: ["URLSessionTransport cannot be driven by virtual time", "use a MockTransport"]
        ) { try await withVirtualTime(transport: URLSessionTransport()) { _, _ in } },
        Mistake(
            name: "a request that no stub matches", code: .unmatchedRequest, says: ["GET", "/orders/7", "/orders/8"]
        ) {
            let mock = MockTransport()
            mock.on(.get, "/orders/8").reply(status: 200)
            try await virtually(mock) { _ = try await $0.run(order) }
        },
        Mistake(
            name: "time that nobody moves", code: .virtualTimeStopped, says: ["until time moves", "clock.advance"]
        ) {
            let mock = MockTransport()
            mock.on(.get, "/orders/7").reply(json: "{}", after: .seconds(1))
            try await virtually(mock, time: .manual) { _ = try await $0.run(order) }
        },
    ]

    @Test(
        "The error says what was wrong, where, and what to do",
        arguments: addresses + requests + settings + answers + plans + tests)
    func message(of mistake: Mistake) async throws {
        let error = try await failure { try await mistake.make() }
        #expect(error.code == mistake.code)
        for words in mistake.says { #expect("\(error)".contains(words), "\(error)") }
        #expect(!"\(error)".contains("\n"))
    }

    @Test("A batch within a batch within a batch, at a limit of one, is no mistake")
    func nested() async throws {
        let client = Self.client { $0.maxConcurrency = 1 }
        let inner = Batch([GetItem(n: 1), GetItem(n: 2)], maxConcurrency: 1)
        let report = try await client.run(Batch([Batch([inner], maxConcurrency: 1)], maxConcurrency: 1))
        #expect(report[0].value?[0].value?.successes.count == 2)
    }
}
