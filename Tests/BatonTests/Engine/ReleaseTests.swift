import Baton
import BatonTesting
import Dispatch
import Testing

/// How a run ends, for tests of what is left after it.
enum Ending: CaseIterable, Sendable {
    case success, failure, cancel, empty
}

@Suite("What is left of a run")
struct ReleaseTests {
    /// A plan whose every closure captures `owner`.
    private static func plan(_ owner: Canary, _ ending: Ending) -> Chain<Int> {
        Chain.value(ending == .empty ? [] : [1, 2, 3])
            .then { numbers in
                withExtendedLifetime(owner) {
                    Batch(
                        Made(numbers.count) { n in
                            withExtendedLifetime(owner) { GetItem(n: n) }
                        }
                    )
                    .onEach { _, _ in withExtendedLifetime(owner) {} }
                    .reconnect { _ in withExtendedLifetime(owner) { .accept } }
                }
            }
            .then { report -> Chain<Int> in
                await Task.yield()
                return try withExtendedLifetime(owner) {
                    if ending == .failure { throw BatonError(.deriveFailed, "said the test") }
                    return .value(report.count)
                }
            }
            .map { count in withExtendedLifetime(owner) { count } }
    }

    @Test(
        "Invariant 12: nothing that a run's closures captured outlives it, on virtual time", arguments: Ending.allCases)
    func onVirtualTime(ending: Ending) async throws {
        let gate = Gate()
        let transport = ScriptedTransport { request, _ in .reply(.item(for: request), after: .seconds(1)) }
        try await withVirtualTime(transport: transport) { client, clock in
            weak var weakRun: RunCore?
            do {
                let run = client.start(Self.plan(Canary(gate), ending))
                weakRun = run.core
                if ending == .cancel {
                    try await clock.sleep(for: .milliseconds(500))
                    run.cancel()
                }
                _ = try? await run.value
            }
            await clock.settle()
            #expect(gate.isOpen)
            #expect(weakRun == nil)
            #expect(client.engine.activeRuns.isEmpty)
        }
    }

    @Test(
        "N54: nothing that a run's closures captured outlives it, on threads; nor does the client",
        arguments: Ending.allCases)
    func onThreads(ending: Ending) async {
        let (owner, observer, transportGone, completed) = (Gate(), Gate(), Gate(), Gate())
        struct Watcher: EventObserver {
            let canary: Canary
            func observe(_ event: Event) {}
        }
        func begin() {
            let canary = Canary(transportGone)
            let client = Client(
                baseURL: "http://h",
                transport: InlineTransport { request in withExtendedLifetime(canary) { .item(for: request) } },
                observers: [Watcher(canary: Canary(observer))])
            let held = Client(
                configuration: {
                    var configuration = client.configuration
                    if ending == .cancel { configuration.transport = SilentTransport() }
                    return configuration
                }())
            let captured = Canary(owner)
            let run = held.start(Self.plan(captured, ending), on: .global()) { _ in
                withExtendedLifetime(captured) { completed.open() }
            }
            if ending == .cancel { run.cancel() }
        }
        begin()
        #expect(await completed.opens())
        #expect(await owner.opens())
        #expect(await observer.opens())
        #expect(await transportGone.opens())
    }

    @Test("Invariant 12: a handle that is kept keeps the result, and no closure", arguments: Ending.allCases)
    func keptHandle(ending: Ending) async {
        let owner = Gate()
        let client = Client(baseURL: "http://h", transport: QueueTransport())
        let run = client.start(Self.plan(Canary(owner), ending))
        if ending == .cancel { run.cancel() }
        let first = try? await run.value
        #expect(await owner.opens())
        let second = try? await run.value
        #expect(second == first)
    }

    @Test("Y12: a batch whose every reference is dropped finishes, answers and goes", arguments: [1, 8])
    func dropped(limit: Int) async {
        let (gone, done) = (Gate(), Gate())
        let transport = HeldTransport()
        let counts = Record<Int>()
        func begin() {
            let canary = Canary(gone)
            Client(baseURL: "http://h", transport: transport) { $0.maxConcurrency = limit }
                .start(Batch((0..<5).map(GetItem.init)), on: .global()) { result in
                    withExtendedLifetime(canary) { counts.add((try? result.get().counts.succeeded) ?? -1) }
                    done.open()
                }
        }
        begin()
        for number in 0..<5 {
            await transport.hasSent(number + 1)
            transport.reply(to: number)
        }
        #expect(await done.opens())
        #expect(await gone.opens())
        #expect(counts.all == [5])
    }

    @Test("B49: 10,000 bodies of 1 MB are built as they are sent, and gone after it (300 by default)")
    func bodies() async throws {
        let count = Scale.count(10_000, everyday: 300)
        let alive = LockBox((now: 0, most: 0))
        final class Token: Sendable {
            let alive: LockBox<(now: Int, most: Int)>
            init(_ alive: LockBox<(now: Int, most: Int)>) {
                self.alive = alive
                alive.withLock { alive in
                    alive.now += 1
                    alive.most = max(alive.most, alive.now)
                }
            }
            deinit { alive.withLock { $0.now -= 1 } }
        }
        struct Upload: Request {
            typealias Output = EmptyResponse
            let number: Int
            let alive: LockBox<(now: Int, most: Int)>
            var method: HTTPMethod { .put }
            var path: String { "/uploads/\(number)" }
            var body: HTTPBody {
                let token = Token(alive)
                return .stream(
                    HTTPBodyStream(length: 1 << 20, isReplayable: true) {
                        withExtendedLifetime(token) {}
                        throw BatonError(.unsupported, "the transport does not read it")
                    })
            }
        }
        let transport = QueueTransport(concurrent: true) { _ in .status(204) }
        let client = Client(baseURL: "http://h", transport: transport) { $0.maxConcurrency = 4 }
        let report = try await client.run(
            Batch((0..<count).map { Upload(number: $0, alive: alive) }, maxConcurrency: 4))
        #expect(report.counts.succeeded == count)
        // Four on their way, and what the threads that ended them have not let go yet.
        #expect(alive.withLock { $0.most } <= 12)
    }

    @Test("Invariant 12: events that an observer keeps do not keep what a request's options captured")
    func keptEvents() async throws {
        struct Keeper: EventObserver {
            let events: Record<Event>
            func observe(_ event: Event) { events.add(event) }
        }
        let (gone, events) = (Gate(), Record<Event>())
        let client = Client(baseURL: "http://h", transport: InlineTransport(), observers: [Keeper(events: events)])
        do {
            let canary = Canary(gone)
            let call = Call("/items/1", as: Item.self) {
                $0.options.retry = RetryPolicy(retryable: { _ in withExtendedLifetime(canary) { nil } })
            }
            #expect(try await client.run(call).n == 1)
        }
        #expect(await gone.opens())
        #expect(events.all.count == 4)
    }
}
