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
        return [
            hooks, Cache(.cacheElseNetwork), HostList("http://backup"), Modify(), TraceContext(),
            WaitForNetwork(network, upTo: .seconds(5)),
            Authentication(store) { _, client in try await client.run(Refresh()) }, BodyTransform(),
            Signing { _ in ["X-Signature": "1"] }, pair,
        ]
    }

    private func serve(_ way: WayOut) {
        mock.on { $0.origin.host == "backup" }.fail(.cannotConnect)
        mock.on(Refresh.self).reply(status: way == .refreshRefused ? 401 : 200, json: #"{"accessToken": "T2"}"#)
        let stub = mock.on { $0.path == "/items/1" && $0.origin.host == "mock" }
        switch way {
        case .serverError: stub.reply(status: 500)
        case .retriedTwice: stub.reply(status: 503, times: 2).reply(json: #"{"n": 1}"#)
        case .decodeError: stub.reply(json: "nonsense")
        case .timedOut: stub.reply(status: 200, after: .seconds(1_000))
        case .cancelledInFlight, .cancelledQueued, .cancelledInWait:
            stub.reply(status: way == .cancelledInWait ? 503 : 200, json: #"{"n": 1}"#, after: .seconds(10))
        case .refreshed, .refreshRefused:
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
            RequestLogger(.trace, to: LogSink { _, _ in }), capture, metrics, Notices(presenter),
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
            try await clock.sleep(for: .seconds(2))
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
        case .cancelledInFlight, .cancelledInWait:
            let run = client.start(GetItem(n: 1))
            try await clock.sleep(for: .seconds(way == .cancelledInWait ? 15 : 5))
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

    private func check(_ way: WayOut, _ completions: [Bool]) {
        let succeeds: [WayOut: [Bool]] = [
            .success: [true], .retriedTwice: [true], .cacheHit: [true, true], .refreshed: [true],
            .clientReleased: [true], .cancelledQueued: [false, true],
        ]
        #expect(completions == succeeds[way] ?? [false])
        let counts = metrics.snapshot
        #expect(counts.runsStarted == counts.runsEnded)
        #expect(counts.runsFailed + counts.runsCancelled == counts.runsStarted - successes(way))
        #expect(counts.openRuns == 0)
        #expect(counts.total.inFlight == 0)
        #expect(counts.total.started == counts.total.succeeded + counts.total.failed)
        #expect(counts.total.started == mock.calls.count)
        #expect(capture.exchanges.count == counts.total.started)
        #expect(mock.inFlight == 0)
        // Loading: the runs of refreshes are shown with the others.
        #expect(presenter.isPaired)
        #expect(presenter.calls.contains(.showLoading(nil)))
        // Notices: one for each run that failed, none for others.
        #expect(presenter.notices.count == counts.runsFailed)
        // Interceptors: what was passed on has come back.
        let all = story.all
        #expect(all.filter { $0 == "attempt begins" }.count == all.filter { $0 == "attempt ends" }.count)
        let cancelled = completions.filter { !$0 }.count - counts.runsFailed
        #expect(all.filter { $0 == "begin" }.count >= all.filter { $0 == "end" }.count)
        #expect(all.filter { $0 == "begin" }.count - all.filter { $0 == "end" }.count <= max(0, cancelled) + 1)
    }

    /// The runs that succeeded, those of refreshes included.
    private func successes(_ way: WayOut) -> Int {
        switch way {
        case .success, .retriedTwice, .clientReleased, .cancelledQueued: 1
        case .cacheHit, .refreshed: 2
        default: 0
        }
    }
}
