@testable import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Logging, capturing and counting") struct RequestLoggerTests {
    private let mock = MockTransport()
    private let messages = Record<(level: LogLevel, text: String)>()

    private var sink: LogSink {
        LogSink { [messages] level, text in messages.add((level, text)) }
    }

    private func with(
        _ observers: [any EventObserver],
        _ body: @escaping @Sendable (Client, VirtualClock) async throws -> Void
    ) async throws {
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.observers = observers
                $0.retry = RetryPolicy(backoff: .constant(.seconds(1)))
            }, body)
    }

    @Test("Each level says more than the one above it, a message an event", arguments: LogLevel.allCases)
    func levels(_ level: LogLevel) async throws {
        mock.on(pattern: "/items/*").reply(status: 503, times: 1).reply(fields: ["X-Long": "1"], json: #"{"n": 1}"#)
        mock.on(.post, "/things").reply(status: 400)
        try await with([RequestLogger(level, to: sink)]) { [messages] client, _ in
            _ = try await client.run(GetItem(n: 1))
            _ = try await failure { try await client.run(Send(body: .text("hello"))) }
            let all = messages.all
            #expect(all.allSatisfy { $0.level <= level })
            let text = all.map(\.text).joined(separator: "\n")
            #expect(all.count == [.error: 1, .warning: 4, .info: 5, .debug: 8, .trace: 11][level])
            #expect(text.contains("is sent again in 1.0 s") == (level >= .warning))
            #expect(text.contains("GET http://mock/items/1: 200, 8 bytes") == (level >= .info))
            #expect(text.contains("X-Long: 1") == (level >= .debug))
            #expect(text.contains("curl --globoff 'http://mock/items/1'") == (level >= .debug))
            #expect(text.contains(#"{"n": 1}"#) == (level >= .trace))
            #expect(text.contains("--data-binary 'hello'") == (level >= .trace))
        }
    }

    @Test("Previews are cut, what is no text is only weighed, and streams are left alone")
    func previews() async throws {
        mock.on(.get, "/long").reply(status: 200, body: Data(String(repeating: "ä", count: 5_000).utf8))
        mock.on(.get, "/binary").reply(status: 200, body: Data([0, 255, 254, 0, 1]))
        mock.on(.put, "/things").reply(status: 204)
        try await with([RequestLogger(.trace, maxPreview: 10, to: sink)]) { [messages] client, _ in
            _ = try await client.run(Call("/long", as: Data.self))
            _ = try await client.run(Call("/binary", as: Data.self))
            let body = HTTPBody.stream(.once("a"))
            _ = try await client.run(Send(method: .put, body: body))
            let text = messages.all.map(\.text).joined(separator: "\n")
            #expect(text.contains("äääää… (10000 bytes)"))
            #expect(text.contains("(5 bytes that are no text)"))
            #expect(text.contains("# a body that is a stream is left out"))
        }
    }

    @Test(
        "The cURL line means the request to a shell, whatever characters it holds",
        arguments: [
            Data("it's \"$HOME\" `x` \\ \n!".utf8), Data("@file".utf8), Data([0, 1, 0xFF]), Data(), Data("ü".utf8),
        ])
    func curl(_ body: Data) throws {
        let request = try HTTPRequest(
            method: .post, url: "http://h/a?b=%20'", fields: ["X-Quote": "a'b", "X-Empty": ""], body: .data(body))
        let line = CURLCommand(request).description
        // The shell says what it would have called, byte by byte.
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [
            "-c", "curl() { for a; do printf '%s\\0' \"$a\"; done; [ \"$a\" != @- ] || cat; }\n\(line)",
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        let words = output.split(separator: 0, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(
            Array(words.prefix(8)) == [
                "-X", "POST", "--globoff", "http://h/a?b=%20'", "-H", "X-Quote: a'b", "-H", "X-Empty;",
            ])
        #expect(words[8] == "--data-binary")
        let sent = words[9] == "@-" ? Data(output.suffix(body.count)) : Data(words[9].utf8)
        #expect(sent == body)
    }

    @Test("Capture keeps the last exchanges of each URL, and they can be exported as HAR")
    func capture() async throws {
        mock.on(pattern: "/items/*").anyQuery().reply(after: .milliseconds(20)) { (request: HTTPRequest) in
            .item(for: request)
        }
        mock.on(.post, "/things").reply(status: 400, body: Data([0xFF]))
        let capture = Capture(perURL: 2)
        try await with([capture]) { [mock] client, _ in
            for _ in 0..<3 { _ = try await client.run(GetItem(n: 1)) }
            _ = try await client.run(Call("/items/2", as: Item.self) { $0.query = ["q": "a b", "token": "S3CRET"] })
            _ = try await failure { try await client.run(Send(body: .text("hi"))) }
            #expect(capture.exchanges(of: "http://mock/items/1").map(\.number).count == 2)
            let posted = try #require(capture.exchanges(of: "http://mock/things").first)
            #expect(posted.status == 400)
            #expect(posted.requestBody == Data("hi".utf8))
            #expect(posted.error?.hasPrefix("unacceptableStatus") == true)
            #expect(capture.exchanges.count == 4)
            #expect(capture.exchanges(of: "http://mock/items/2?q=a%20b&token=other").count == 1)

            let har = capture.har()
            #expect(!String(decoding: har, as: UTF8.self).contains("S3CRET"))
            let file = FileManager.default.temporaryDirectory.appendingPathComponent("capture-\(Numbering.next()).har")
            try har.write(to: file)
            defer { try? FileManager.default.removeItem(at: file) }
            // It can be played back, so it is what it says.
            let replayed = Client(baseURL: "http://mock", transport: try Cassette(file: file))
            #expect(try await replayed.run(GetItem(n: 1)) == Item(n: 1))
            _ = mock
        }
        capture.clear()
        #expect(capture.exchanges.isEmpty)
    }

    @Test("Counts and latencies fit what happened, in all and per host")
    func metrics() async throws {
        mock.on(pattern: "/items/*").reply(status: 503, times: 1, after: .milliseconds(10))
            .reply(after: .milliseconds(100)) { (request: HTTPRequest) in .item(for: request) }
        let metrics = Metrics()
        try await with([metrics]) { client, _ in
            _ = try await client.run(Batch((0..<9).map(GetItem.init), maxConcurrency: 3))
            _ = try await failure { try await client.run(Call("/none", as: Item.self)) }
            let snapshot = metrics.snapshot
            #expect(snapshot.runsStarted == 2 && snapshot.runsEnded == 2 && snapshot.runsFailed == 1)
            #expect(snapshot.total.started == 11 && snapshot.total.succeeded == 9 && snapshot.total.failed == 2)
            #expect(snapshot.total.inFlight == 0 && snapshot.total.maxInFlight == 3)
            #expect(snapshot.retries == 1)
            #expect(snapshot.total.statuses == [200: 9, 503: 1])
            #expect(snapshot.total.failures == [.unacceptableStatus: 1, .unmatchedRequest: 1])
            #expect(Array(snapshot.hosts.keys) == ["mock"])
            let median = try #require(snapshot.latency.percentile(0.5))
            #expect(median >= .milliseconds(100) && median <= .milliseconds(107))
            #expect(snapshot.latency.percentile(0) == .zero)
            #expect(snapshot.latency.max == .milliseconds(100))
        }
        metrics.reset()
        #expect(metrics.snapshot.total.started == 0)
        #expect(metrics.snapshot.latency.percentile(0.5) == nil)
    }

    @Test(
        "A percentile is never below the true one, and at most a sixteenth above it", arguments: [1, 2, 3] as [UInt64])
    func percentiles(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var histogram = LatencyHistogram()
        var values: [Int64] = []
        for _ in 0..<1_000 {
            let value = Int64(generator.next() >> (generator.next() % 40 + 24))
            values.append(value)
            histogram.add(.microseconds(value))
        }
        values.sort()
        for share in [0.01, 0.5, 0.9, 0.99, 1] {
            let exact = values[max(0, Int((share * 1_000).rounded(.up)) - 1)]
            let told = try #require(histogram.percentile(share)).clampedNanoseconds / 1_000
            #expect(told >= exact && Double(told) <= Double(exact) * 17 / 16 + 1)
        }
    }
}
