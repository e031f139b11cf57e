import Baton
import BatonTesting
import Foundation
import Testing

/// Every shipped interceptor and observer in one stack, through every way a run can end.
@Suite("Pairs and counts through every way out") struct WaysOutTests {
    enum WayOut: String, CaseIterable, CustomTestStringConvertible {
        case success, serverError, retriedTwice, cancelledInFlight, cancelledQueued, cancelledInWait, cacheHit,
            encodeError
        case decodeError, refreshed, refreshRefused, clientReleased, noNetwork, timedOut, closureThrew
        case cancelledOffline, cancelledInRefresh, deadlinePassed, backup, staleHit

        var testDescription: String { rawValue }
    }

    private struct Refresh: Request {
        typealias Output = BearerToken
        var path: String { "/refresh" }
    }

    private struct Refusal: Error {}

    private let mock = MockTransport()
    private let presenter = RecordingPresenter()
    private let metrics = Metrics()
    private let capture = Capture(perURL: 100)
    private let network = ManualReachability()
    private let store = InMemoryCredentialStore(BearerToken("T1"))
    private let story = Record<String>()
    private let observer = RecordingObserver()

    private var interceptors: [any Interceptor] {
        let story = story
        var hooks = Hooks()
        hooks.placement = .call
        hooks.prepare = { _, _ in
            story.add("begin")
            return .go
        }
        hooks.process = { _, _ in story.add("end") }
        let pair = ClosureInterceptor { request, _, next in
            story.add("attempt begins")
            defer { story.add("attempt ends") }
            return try await next(request)
        }
        let outer = ClosureInterceptor(placement: .call) { request, _, next in
            story.add("call begins")
            defer { story.add("call ends") }
            return try await next(request)
        }
        return [
            outer, hooks, Cache(.cacheElseNetwork), HostList("http://backup"), Modify(), TraceContext(),
            WaitForNetwork(network, upTo: .seconds(5)),
            Authentication(store) { _, client in try await client.run(Refresh()) }, BodyTransform(),
            Signing { _ in ["X-Signature": "1"] }, pair,
        ]
    }

    private func serve(_ way: WayOut) {
        let backup = mock.on { $0.origin.host == "backup" }
        if way == .backup { backup.reply { request in .item(for: request) } } else { backup.fail(.cannotConnect) }
        mock.on(Refresh.self).reply(
            status: way == .refreshRefused ? 401 : 200, json: #"{"accessToken": "T2"}"#,
            after: way == .cancelledInRefresh ? .seconds(20) : .zero)
        let stub = mock.on { $0.path == "/items/1" && $0.origin.host == "mock" }
        switch way {
        case .serverError: stub.reply(status: 500)
        case .backup: stub.fail(.cannotConnect)
        case .staleHit: stub.reply(json: #"{"n": 1}"#, times: 1).then.fail(.connectionLost)
        case .retriedTwice: stub.reply(status: 503, times: 2).reply(json: #"{"n": 1}"#)
        case .decodeError: stub.reply(json: "nonsense")
        case .timedOut: stub.reply(status: 200, after: .seconds(1_000))
        case .cancelledInFlight, .cancelledQueued, .cancelledInWait, .deadlinePassed:
            stub.reply(status: way == .cancelledInWait ? 503 : 200, json: #"{"n": 1}"#, after: .seconds(10))
        case .refreshed, .refreshRefused, .cancelledInRefresh:
            stub.reply { request in
                request.fields[.authorization] == "Bearer T2" ? .item(for: request) : .status(401)
            }
        default: stub.reply { request in .item(for: request) }
        }
    }

    @Test("I64 Whatever has begun ends, in pairs, exactly once", arguments: WayOut.allCases, [1, 2, 3] as [UInt64])
    func pairs(_ way: WayOut, _ seed: UInt64) async throws {
        serve(way)
        let observers: [any EventObserver] = [
            RequestLogger(.trace, to: LogSink { _, _ in }), capture, metrics, Timeline(), Notices(presenter), observer,
            LoadingIndicator(presenter, delay: .zero, minimum: .zero),
        ]
        let completions = Record<Bool>()
        let interceptors = interceptors
        try await withVirtualTime(
            transport: mock, seed: seed,
            configure: {
                $0.interceptors = interceptors
                $0.observers = observers
                $0.maxConcurrency = 1
                $0.timeout = .seconds(60)
                $0.retry = RetryPolicy(backoff: .constant(.seconds(30)))
            }
        ) { [self] client, clock in
            try await go(way, client, clock) { completions.add($0) }
            await clock.settle()
            // The refresh that nobody waits for any more, and what the transport has still to end.
            try await clock.sleep(for: .seconds(30))
            await clock.settle()
        }
        check(way, completions.all)
    }

    private func go(
        _ way: WayOut, _ client: Client, _ clock: VirtualClock, _ ended: @escaping @Sendable (Bool) -> Void
    ) async throws {
        @Sendable func end<Value: Sendable>(_ run: Run<Value>) async {
            do {
                _ = try await run.value
                ended(true)
            } catch { ended(false) }
        }
        switch way {
        case .cancelledInFlight, .cancelledInWait, .cancelledOffline, .cancelledInRefresh:
            if way == .cancelledOffline { network.set(isReachable: false) }
            let run = client.start(GetItem(n: 1))
            try await clock.sleep(for: .seconds(way == .cancelledInWait ? 15 : way == .cancelledOffline ? 2 : 5))
            run.cancel()
            await end(run)
        case .cancelledQueued:
            let first = client.start(GetItem(n: 1))
            let second = client.start(Call("/items/1?x", as: Item.self))
            try await clock.sleep(for: .seconds(5))
            second.cancel()
            await end(second)
            await end(first)
        case .cacheHit:
            await end(client.start(GetItem(n: 1)))
            await end(client.start(GetItem(n: 1)))
        case .staleHit:
            var request = Call("/items/1", as: Item.self)
            request.options.cacheMode = .networkElseCache
            await end(client.start(request))
            await end(client.start(request))
        case .deadlinePassed: await end(client.start(GetItem(n: 1).deadline(.seconds(5))))
        case .encodeError: await end(client.start(Send(method: .put, body: .json(Double.nan))))
        case .clientReleased: await end(client.with { _ in }.start(GetItem(n: 1)))
        case .noNetwork:
            network.set(isReachable: false)
            await end(client.start(GetItem(n: 1)))
        case .closureThrew:
            await end(client.start(GetItem(n: 1).then { _ -> GetItem in throw Refusal() }))
        default: await end(client.start(GetItem(n: 1)))
        }
    }

    /// How each run ends, how often the item was asked for at its host, and how many calls the interceptors saw that were
    /// cut off.
    private struct Expected {
        var completions: [Bool]
        var sent: Int
        var cutOff = 0
    }

    private func expected(_ way: WayOut) -> Expected {
        switch way {
        case .success, .clientReleased: Expected(completions: [true], sent: 1)
        case .cacheHit: Expected(completions: [true, true], sent: 1)
        case .staleHit: Expected(completions: [true, true], sent: 4)
        case .retriedTwice, .backup: Expected(completions: [true], sent: 3)
        case .refreshed: Expected(completions: [true], sent: 2)
        case .serverError, .timedOut: Expected(completions: [false], sent: 3)
        case .decodeError, .closureThrew, .refreshRefused: Expected(completions: [false], sent: 1)
        case .encodeError, .noNetwork: Expected(completions: [false], sent: 0)
        case .cancelledOffline: Expected(completions: [false], sent: 0, cutOff: 1)
        case .cancelledQueued: Expected(completions: [false, true], sent: 1, cutOff: 1)
        case .cancelledInFlight, .cancelledInWait, .cancelledInRefresh:
            Expected(completions: [false], sent: 1, cutOff: 1)
        // Past its deadline a call has failed, and the last hook is told so.
        case .deadlinePassed: Expected(completions: [false], sent: 1)
        }
    }

    private func check(_ way: WayOut, _ completions: [Bool]) {
        let expected = expected(way)
        #expect(completions == expected.completions)
        #expect(mock.calls.filter { $0.url == "http://mock/items/1" }.count == expected.sent)
        #expect(mock.inFlight == 0)
        checkObservers()
        // Loading: the runs of refreshes are shown with the others.
        #expect(presenter.isPaired)
        #expect(presenter.calls.contains(.showLoading(nil)))
        // Notices: one for each run that failed, none for others.
        #expect(presenter.notices.count == metrics.snapshot.runsFailed)
        // Interceptors: what was passed on has come back, also where it was cut off.
        let counts = Dictionary(grouping: story.all) { $0 }.mapValues(\.count)
        #expect(counts["call begins"] == counts["call ends"])
        #expect(counts["attempt begins"] == counts["attempt ends"])
        // The last hook is not called for what is cancelled, and once for everything else.
        #expect(counts["begin", default: 0] - counts["end", default: 0] == expected.cutOff)
        #expect(counts["begin", default: 0] == counts["call begins", default: 0])
        let cache = metrics.snapshot.cache
        #expect(cache.hits == (way == .cacheHit || way == .staleHit ? 1 : 0))
        #expect(cache.hits + cache.misses <= counts["call begins", default: 0])
    }

    /// What observers were told has a beginning and one end, in this order.
    private func checkObservers() {
        let counts = metrics.snapshot
        #expect(counts.runsStarted == counts.runsEnded)
        #expect(counts.openRuns == 0)
        #expect(counts.total.inFlight == 0)
        #expect(counts.total.started == counts.total.succeeded + counts.total.failed)
        #expect(counts.total.started == mock.calls.count)
        #expect(capture.exchanges.count == counts.total.started)
        #expect(counts.queueWait.count <= counts.queued)
        var runs: [UInt64: [String]] = [:]
        var attempts: [String: [String]] = [:]
        for event in observer.events {
            switch event {
            case .runStarted(let run): runs[run.run, default: []].append("started")
            case .runEnded(let run, _): runs[run.run, default: []].append("ended")
            case .attemptStarted(let attempt):
                #expect(runs[attempt.run] == ["started"])
                attempts["\(attempt.call).\(attempt.attempt) \(attempt.request.origin)", default: []].append("started")
            case .attemptEnded(let attempt, _):
                #expect(runs[attempt.run] == ["started"])
                attempts["\(attempt.call).\(attempt.attempt) \(attempt.request.origin)", default: []].append("ended")
            case .cache(let event): #expect(runs[event.run] == ["started"])
            default: break
            }
        }
        #expect(runs.values.allSatisfy { $0 == ["started", "ended"] })
        #expect(attempts.values.allSatisfy { $0 == ["started", "ended"] }, "\(attempts)")
    }
}
