@testable import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Loading and notices") struct LoadingIndicatorTests {
    private let mock = MockTransport()
    private let presenter = RecordingPresenter()

    private func with(
        _ observers: [any EventObserver],
        _ body: @escaping @Sendable (Client, VirtualClock) async throws -> Void
    ) async throws {
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.observers = observers
                $0.retry = RetryPolicy(backoff: .none)
            }, body)
    }

    @Test("What ends before the delay is never shown; what is shown stays for its minimum")
    func delays() async throws {
        mock.on(pattern: "/items/*").reply(after: .milliseconds(200)) { (request: HTTPRequest) in .item(for: request) }
        mock.on(.post, "/things").reply(status: 204, after: .milliseconds(400))
        let indicator = LoadingIndicator(presenter)
        try await with([indicator]) { [presenter] client, clock in
            _ = try await client.run(GetItem(n: 1))
            await clock.settle()
            #expect(presenter.calls == [])
            _ = try await client.run(Send())
            await clock.settle()
            #expect(presenter.calls == [.showLoading(nil)])
            try await clock.sleep(for: .milliseconds(390))
            #expect(presenter.calls == [.showLoading(nil)])
            try await clock.sleep(for: .milliseconds(20))
            #expect(presenter.calls == [.showLoading(nil), .hideLoading(nil)])
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test("Runs at one place are counted, places are apart, and hidden runs are not shown")
    func places() async throws {
        mock.on(pattern: "/items/*").reply(after: .seconds(1)) { (request: HTTPRequest) in .item(for: request) }
        let indicator = LoadingIndicator(presenter, delay: .zero, minimum: .zero)
        try await with([indicator]) { [presenter] client, clock in
            let list = Presentation(in: "list")
            let first = client.start(GetItem(n: 1).presentation(list))
            try await clock.sleep(for: .milliseconds(500))
            let second = client.start(GetItem(n: 2).presentation(list))
            let hidden = client.start(
                Call("/items/3", as: Item.self) { $0.options.presentation = .init(loading: .hidden) })
            let elsewhere = client.start(GetItem(n: 4))
            _ = try await (first.value, second.value, hidden.value, elsewhere.value)
            await clock.settle()
            let places = presenter.calls
            #expect(places.filter { $0 == .showLoading("list") }.count == 1)
            #expect(places.filter { $0 == .showLoading(nil) }.count == 1)
            #expect(places.count == 4)
            #expect(presenter.isPaired)
            #expect(indicator.count == 0)
        }
    }

    @Test(
        "Failures are told once, in the words of the table, at the place of the run; hidden and cancelled ones are not")
    func notices() async throws {
        mock.on(.get, "/500").reply(status: 500)
        mock.on(.get, "/business").reply(status: 400, json: #"{"code": 7}"#)
        mock.on(.get, "/offline").fail(.timedOut)
        mock.on(.get, "/empty").reply(json: "[]")
        mock.on(.get, "/rule").reply(status: 418)
        var texts = NoticeTexts()
        texts.businessCodes[7] = "Seven."
        texts.empty = "Nothing here."
        texts.rule = { $0.response?.status == 418 ? "Tea?" : nil }
        try await with([Notices(presenter, texts)]) { [presenter] client, clock in
            for path in ["/500", "/business", "/offline", "/rule"] {
                _ = try await failure {
                    try await client.run(Call(path, as: Data.self) { $0.options.presentation = .init(in: path) })
                }
            }
            _ = try await client.run(Call("/empty", as: [Int].self))
            _ = try await failure {
                try await client.run(Call("/500", as: Data.self) { $0.options.presentation = .init(errors: .hidden) })
            }
            await clock.settle()
            #expect(
                presenter.notices == [
                    Notice(
                        .failure, "The server has a problem.", place: "/500", code: .unacceptableStatus, status: 500),
                    Notice(.failure, "Seven.", place: "/business", code: .unacceptableStatus, status: 400),
                    Notice(.failure, "That took too long.", place: "/offline", code: .timedOut),
                    Notice(.failure, "Tea?", place: "/rule", code: .unacceptableStatus, status: 418),
                    Notice(.empty, "Nothing here.", place: nil),
                ])
        }
    }

    @Test("Each way through the states of a place shows and hides in turns", arguments: 0..<200 as Range<UInt64>)
    func states(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        var state = LoadingState(delay: .milliseconds(3), minimum: .milliseconds(5))
        var (isShown, isWaiting, open, time) = (false, false, 0, 0)
        for _ in 0..<200 {
            time += Int(generator.next() % 4)
            let now = Instant(nanoseconds: Int64(time) * 1_000_000)
            let action: LoadingState.Action
            switch generator.next() % 3 {
            case 0:
                open += 1
                action = state.begin(at: now)
            case 1 where open > 0:
                open -= 1
                action = state.end(at: now)
            case 2 where isWaiting:
                isWaiting = false
                action = state.look(at: now)
            default: continue
            }
            switch action {
            case .show:
                #expect(!isShown && open > 0)
                isShown = true
            case .hide:
                #expect(isShown && open == 0)
                isShown = false
            case .wait: isWaiting = true
            case .forget: isWaiting = false
            case .nothing: break
            }
            #expect(state.count == open)
        }
    }
}
