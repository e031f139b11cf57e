@testable import Baton
import BatonTesting
import Foundation
import Testing

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("The timeline") struct TimelineTests {
    private let timeline = Timeline()

    /// A sign-in, then a batch of which one item fails once, one for good.
    private func story(_ timeline: Timeline, items: Int = 6) async throws {
        let transport = ScriptedTransport { request, time in
            let number = request.number ?? 0
            if number == 3, time == 1 { return .fail(.connectionLost, after: .milliseconds(30)) }
            if number == 5 { return .reply(.status(404), after: .milliseconds(20)) }
            return .reply(.item(number), after: .milliseconds(100))
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.observers = [timeline]
                $0.retry = RetryPolicy(backoff: .constant(.milliseconds(50)))
            }
        ) { client, _ in
            _ = try await client.run(
                GetItem(n: 1).then { _ in Batch((1...items).map { GetItem(n: $0) }, maxConcurrency: 3) })
        }
    }

    @Test("Text shows runs, batches, attempts and backoffs, without colours")
    func text() async throws {
        try await story(timeline)
        #expect(
            timeline.text(width: 80) == """
                run 1, done, 320 ms              0                              320 ms
                  chain[0] GET /items/1          ████████████                          200
                  chain[1].batch: 6 requests
                    [0] GET /items/1                        █████████████              200
                    [1] GET /items/2                        █████████████              200
                    [2] GET /items/3                        █████-----  ████████████   200 ×2
                    [3] GET /items/4                            ████████████           200
                    [4] GET /items/5                                    ███            ✗ 404
                    [5] GET /items/6                                      ████████████ 200
                """)
    }

    @Test("A request's place in the plan is told with its events")
    func places() async throws {
        let observer = RecordingObserver()
        try await withVirtualTime(transport: ScriptedTransport(), configure: { $0.observers = [observer] }) {
            client, _ in
            _ = try await client.run(GetItem(n: 1))
            _ = try await client.run(
                GetItem(n: 2).then { _ in Batch([GetItem(n: 3).then { GetItem(n: $0.n + 1) }]) })
            _ = try await client.run(zip(GetItem(n: 5), Batch([GetItem(n: 6)])))
        }
        let paths = observer.events.compactMap { event -> String? in
            if case .attemptStarted(let attempt) = event { attempt.path } else { nil }
        }
        #expect(
            paths == [
                "", "chain[0]", "chain[1].batch[0].chain[0]", "chain[1].batch[0].chain[1]", "zip[0]",
                "zip[1].batch[0]",
            ])
    }

    @Test(
        "A place is told also behind interceptors and to copies of a hedge",
        arguments: [InterceptorPlacement.call, .attempt])
    func intercepted(placement: InterceptorPlacement) async throws {
        let observer = RecordingObserver()
        try await withVirtualTime(
            transport: ScriptedTransport(),
            configure: {
                $0.observers = [observer]
                $0.interceptors = [CountingInterceptor(placement)]
            }
        ) { client, _ in
            _ = try await client.run(Batch([GetItem(n: 6)]))
        }
        for case .attemptStarted(let attempt) in observer.events { #expect(attempt.path == "batch[0]") }
    }

    @Test("The page loads nothing, and no text of a server ends its data")
    func page() async throws {
        let timeline = timeline
        let transport = ScriptedTransport { _, _ in
            .reply(HTTPResponse(status: 500, fields: ["X": "</script><b>"]))
        }
        try await withVirtualTime(transport: transport, configure: { $0.observers = [timeline] }) { client, _ in
            _ = try await failure { try await client.run(Call("/</script><script>alert(1)</script>", as: Data.self)) }
        }
        let page = timeline.html(title: "</title><script>alert(2)</script>")
        #expect(page.components(separatedBy: "<script").count == 3)
        for loader in ["src=", "href=", "@import", "fetch(", "XMLHttpRequest", "import(", "eval("] {
            #expect(!page.contains(loader), "\(loader)")
        }
        let data = try #require(page.firstRange(of: #"id="data">"#))
        let json = page[data.upperBound...].prefix { $0 != "<" }
        let value = try JSONValue(data: Data(json.utf8))
        #expect(value["rows"][1]["a"][0]["o"].string == "failed")
        #expect(value["rows"][1]["a"].array?.count == 3)
    }

    @Test("The picture is XML that is well formed, the same each time, and says what is left out")
    func picture() async throws {
        try await story(timeline, items: 30)
        let other = Timeline()
        try await story(other, items: 30)
        let svg = timeline.svg(maxRows: 10)
        #expect(svg == other.svg(maxRows: 10))
        #expect(XMLParser(data: Data(svg.utf8)).parse())
        #expect(svg.contains("… and 21 more requests"))
        #expect(!svg.contains("nan") && !svg.contains("inf"))
        #expect(XMLParser(data: Data(Timeline().svg().utf8)).parse())
    }

    @Test("The archive has a page for each run, and timings that sum to the whole")
    func archive() async throws {
        try await story(timeline)
        let log = try JSONValue(data: timeline.har())["log"]
        #expect(log["version"].string == "1.2")
        #expect(log["pages"].array?.count == 1)
        let entries = try #require(log["entries"].array)
        #expect(entries.count == 8)
        for entry in entries {
            #expect(entry["pageref"].string == "run 1")
            let timings = ["blocked", "dns", "connect", "send", "wait", "receive"].map {
                entry["timings"][$0].double ?? 0
            }
            let sum = timings.filter { $0 > 0 }.reduce(0, +)
            #expect(abs(sum - (entry["time"].double ?? -1)) < 0.001)
        }
    }

    @Test("A trace has a slice for each attempt, and none overlaps another of its thread")
    func trace() async throws {
        try await story(timeline)
        let events = try #require(try JSONValue(data: timeline.chromeTrace())["traceEvents"].array)
        let slices = events.filter { $0["cat"].string == "attempt" }
        #expect(slices.count == 8)
        for a in slices {
            for b in slices where a != b && a["tid"] == b["tid"] {
                let (first, second) = (a["ts"].double ?? 0, b["ts"].double ?? 0)
                #expect(
                    first + (a["dur"].double ?? 0) <= second + 0.001 || second + (b["dur"].double ?? 0) <= first + 0.001
                )
            }
        }
    }

    @Test("Phases of a connection follow each other within their attempt")
    func phases() async throws {
        let timeline = timeline
        let transport = ScriptedTransport { _, _ in
            var response = HTTPResponse(status: 200)
            var metrics = TransportMetrics()
            metrics.nameLookup = .milliseconds(10)
            metrics.connect = .milliseconds(20)
            metrics.wait = .milliseconds(500)
            metrics.remoteAddress = "127.0.0.1:80"
            response.metrics = metrics
            return .reply(response, after: .milliseconds(100))
        }
        try await withVirtualTime(transport: transport, configure: { $0.observers = [timeline] }) { client, _ in
            _ = try await client.run(Call("/", as: Data.self))
        }
        let attempt = try #require(timeline.model.runs.first?.groups.first?.calls.first?.attempts.first)
        #expect(attempt.phases.map(\.name) == ["name look-up", "connect", "wait"])
        #expect(attempt.phases.map(\.start) == [0, 10, 30])
        #expect(attempt.phases.map(\.length) == [10, 20, 70])
    }

    @Test("What it keeps is bounded: the oldest attempts go, and it says how many")
    func bounded() async throws {
        let timeline = Timeline(maxAttempts: 100)
        try await withVirtualTime(transport: ScriptedTransport(), configure: { $0.observers = [timeline] }) {
            client, _ in
            _ = try await client.run(Batch((1...1_000).map { GetItem(n: $0) }))
            for n in 1...200 { _ = try await client.run(GetItem(n: n)) }
        }
        #expect(timeline.attemptCount <= 125)
        #expect(timeline.snapshot.runs.count <= 126)
        #expect(timeline.text().contains("older attempts were dropped"))
        timeline.clear()
        #expect(timeline.text() == "nothing was sent yet")
    }

    @Test("It can be asked while requests are under way, and shows those that were cancelled as such")
    func underWay() async throws {
        let timeline = timeline
        try await withVirtualTime(
            transport: ScriptedTransport { _, _ in .silence }, time: .manual, configure: { $0.observers = [timeline] }
        ) { client, clock in
            let run = client.start(GetItem(n: 1))
            await clock.settle()
            #expect(timeline.text().contains("…"))
            run.cancel()
            await clock.settle()
            #expect(timeline.text().contains("⊘"))
        }
    }

    @Test("A file gets the form that its name asks for", arguments: ["html", "svg", "txt", "har", "json"])
    func writing(ending: String) throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).\(ending)")
        defer { try? FileManager.default.removeItem(at: file) }
        try timeline.write(to: file)
        #expect(try !Data(contentsOf: file).isEmpty)
        #expect(throws: BatonError.self) { try timeline.write(to: file.appendingPathExtension("doc")) }
    }

    @Test("A trace tells waits for a slot, and what became of hosts as a mark")
    func traceOfWaits() async throws {
        let timeline = timeline
        let transport = ScriptedTransport { request, time in
            if request.number == 1, time == 1 {
                return .reply(HTTPResponse(status: 429, fields: [.retryAfter: "2"]), after: .milliseconds(100))
            }
            return .reply(.item(for: request), after: .milliseconds(100))
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.observers = [timeline]
                $0.maxConcurrency = 1
                $0.pacing = ServerPacing()
            }
        ) { client, _ in
            _ = try await client.run(Batch((1...3).map { GetItem(n: $0) }, maxConcurrency: 3))
        }
        let events = try #require(try JSONValue(data: timeline.chromeTrace())["traceEvents"].array)
        #expect(events.contains { $0["cat"].string == "queue" && ($0["dur"].double ?? 0) >= 100_000 })
        let marks = events.filter { $0["ph"].string == "i" }.compactMap { $0["name"].string }
        #expect(marks.contains { $0.contains("left alone for 2") }, "\(marks)")
    }
}
