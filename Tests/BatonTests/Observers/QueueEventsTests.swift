import Baton
import BatonTesting
import Testing

@Suite("Events of the queue") struct QueueEventsTests {
    @Test("Who finds a slot is told nothing of; who waits is told when it begins and how long it took")
    func waits() async throws {
        let mock = MockTransport()
        mock.on(pattern: "/items/*").reply(after: .seconds(2)) { (request: HTTPRequest) in .item(for: request) }
        let (observer, metrics, log) = (RecordingObserver(), Metrics(), Record<String>())
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.maxConcurrency = 1
                $0.observers = [observer, metrics, RequestLogger(.debug, to: LogSink { log.add($1) })]
            }
        ) { client, clock in
            let runs = (1...3).map { client.start(GetItem(n: $0)) }
            try await clock.sleep(for: .seconds(1))
            runs[2].cancel()
            for run in runs.prefix(2) { _ = try await run.value }
            await clock.settle()
        }
        let story = observer.story
        #expect(story.filter { $0.contains("/items/1") } == ["attempt 1 /items/1", "attempt 1 /items/1: 200"])
        #expect(
            story.filter { $0.contains("/items/2") } == [
                "attempt 1 /items/2 queued", "attempt 1 /items/2 admitted after 2.0 seconds", "attempt 1 /items/2",
                "attempt 1 /items/2: 200",
            ])
        #expect(story.filter { $0.contains("/items/3") } == ["attempt 1 /items/3 queued"])
        #expect(metrics.snapshot.queued == 2)
        #expect(metrics.snapshot.queueWait.count == 1)
        #expect(metrics.snapshot.queueWait.max == .seconds(2))
        #expect(log.all.contains { $0.hasSuffix("GET http://mock/items/2 got its slot after 2.0 s") })
    }

    @Test(
        "Each attempt that began is told to end, once and before its run, whenever a cancel comes",
        arguments: [200, 404, 302])
    func ends(status: Int) async {
        for _ in 0..<Scale.count(3_000, everyday: 150) {
            let observer = RecordingObserver()
            let transport = QueueTransport { _ in HTTPResponse(status: status, fields: [.location: "/items/2"]) }
            let client = Client(
                baseURL: "http://h", transport: transport, retry: .none, observers: [observer])
            let run = client.start(Send(method: .get, path: "/items/1"))
            let canceller = Task.detached {
                await Task.yield()
                run.cancel()
            }
            _ = await (run.outcome, canceller.value)
            let story = observer.story
            let (begun, over) = (
                story.filter { $0 == "attempt 1 /items/1" },
                story.filter { $0.hasPrefix("attempt 1 ") && $0.contains(": ") }
            )
            #expect(begun.count <= 1 && over.count == begun.count, "\(story)")
            #expect(story.last?.hasPrefix("run ended") == true, "\(story)")
        }
    }

    @Test("An attempt that ran out of time where a redirect led is told to end once, whatever comes of its next one")
    func endsOfHops() async throws {
        let observer = RecordingObserver()
        let transport = ScriptedTransport { request, _ in
            request.number == 1
                ? .reply(HTTPResponse(status: 302, fields: [.location: "/items/2"])) : .silence
        }
        try await withVirtualTime(
            transport: transport,
            configure: {
                $0.timeout = .seconds(5)
                $0.retry = RetryPolicy(backoff: .constant(.seconds(10)))
                $0.observers = [observer]
            }
        ) { client, clock in
            let run = client.start(GetItem(n: 1))
            try await clock.sleep(for: .seconds(8))
            run.cancel()
            _ = await run.outcome
        }
        let ends = observer.story.filter { $0.hasPrefix("attempt 1 ") && $0.contains(": ") }
        #expect(ends == ["attempt 1 /items/2: timedOut"], "\(observer.story)")
    }

    @Test(
        "A request is told of in its order, at every limit and in every interleaving",
        arguments: [1, 2, 5, 9] as [UInt64])
    func order(seed: UInt64) async throws {
        let mock = MockTransport()
        mock.on(pattern: "/items/*").reply(status: 503, times: 10).reply { request in .item(for: request) }
        let observer = RecordingObserver()
        try await withVirtualTime(
            transport: mock, seed: seed,
            configure: {
                $0.maxConcurrency = 3
                $0.maxConcurrencyPerHost = 2
                $0.observers = [observer]
            }
        ) { client, clock in
            _ = try await client.run(Batch((0..<30).map(GetItem.init), maxConcurrency: 10))
            await clock.settle()
        }
        checkOrder(observer)
    }

    @Test("So it is on real threads, where requests are cancelled right as they begin")
    func threads() async throws {
        let observer = RecordingObserver()
        let mock = MockTransport()
        mock.on(pattern: "/items/*").reply(after: .microseconds(50)) { (request: HTTPRequest) in .item(for: request) }
        let client = Client(baseURL: "http://mock", transport: mock, observers: [observer]) { $0.maxConcurrency = 2 }
        for _ in 0..<100 {
            let run = client.start(Batch((0..<6).map(GetItem.init), maxConcurrency: 4))
            await Task.yield()
            run.cancel()
            _ = await run.outcome
        }
        checkOrder(observer)
    }

    /// Each attempt is queued at most once, admitted only after that, started once and ended once, in this order.
    private func checkOrder(_ observer: RecordingObserver) {
        var stages: [String: [Int]] = [:]
        for event in observer.events {
            let (attempt, stage): (AttemptEvent, Int)
            switch event {
            case .attemptQueued(let event): (attempt, stage) = (event, 0)
            case .attemptAdmitted(let event, _): (attempt, stage) = (event, 1)
            case .attemptStarted(let event): (attempt, stage) = (event, 2)
            case .attemptEnded(let event, _): (attempt, stage) = (event, 3)
            default: continue
            }
            stages["\(attempt.call).\(attempt.attempt)", default: []].append(stage)
        }
        #expect(!stages.isEmpty)
        for (name, order) in stages {
            #expect([[0, 1, 2, 3], [2, 3], [0]].contains(order), "attempt \(name) was told of as \(order)")
        }
    }
}
