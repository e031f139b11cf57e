import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Audit", .timeLimit(.minutes(2)))
struct AuditTests {
    private typealias Fault = RogueTransport.Fault

    @Test("Z05 Duplicate and late ends are dropped, and reported against the transport", arguments: Fault.allCases)
    private func rogue(fault: Fault) async throws {
        let audit = Audit()
        let transport = RogueTransport(fault)
        let call = Call("/x", as: EmptyResponse.self)
        try await withVirtualTime(
            transport: transport, audit: audit, configure: { $0.retry = .none }
        ) { client, clock in
            switch fault {
            case .none, .twiceInsideSend, .twiceLater, .goesOn:
                _ = try await client.run(call)
            case .twiceAfterTimeout:
                let error = await client.error(of: call)
                #expect(error?.code == .timedOut)
            case .twiceAfterCancel, .lateAfterCancel, .deafToCancel:
                let run = client.start(call)
                try await clock.sleep(for: .seconds(1))
                run.cancel()
                await #expect(throws: BatonError.self) { _ = try await run.value }
                try await clock.sleep(for: .seconds(3))
            }
        }
        let run = "an exchange of run "
        let expected: [String] =
            switch fault {
            case .none: []
            case .goesOn: ["the transport went on with \(run)"]
            case .twiceInsideSend, .twiceLater, .twiceAfterCancel, .twiceAfterTimeout:
                ["the transport completed \(run)"]
            case .deafToCancel: ["the transport did not end \(run)"]
            case .lateAfterCancel: ["the transport did not end \(run)", "the transport was late with \(run)"]
            }
        let violations = audit.violations
        #expect(violations.count == expected.count, "\(violations)")
        #expect(zip(violations, expected).allSatisfy { $0.hasPrefix($1) }, "\(violations)")
    }

    @Test("A slot that the queue believes to be taken, and that no request holds, is found out")
    func lostSlot() async throws {
        final class Stranger: Job {
            func run(_ signal: Signal) {}
        }
        let audit = Audit()
        let mock = MockTransport()
        mock.on(.get, "/x").reply(status: 200, after: .seconds(1))
        try await withVirtualTime(transport: mock, audit: audit) { client, _ in
            _ = try await client.run(Call("/x", as: EmptyResponse.self))
            var host: HostID?
            _ = client.engine.queue.admit(
                Stranger(), kind: 0, token: 0, origin: try HTTPOrigin(base: "http://mock"), host: &host, run: 0,
                priority: .normal, isRetry: false)
        }
        #expect(audit.violations == ["the queue counts 1 slots as taken where requests hold 0"])
    }

    @Test("A run whose reply never comes has never completed")
    func neverCompleted() async throws {
        let audit = Audit()
        let mock = MockTransport()
        _ = mock.on(.get, "/x").hold()
        try await withVirtualTime(transport: mock, time: .manual, audit: audit) { client, clock in
            client.start(Call("/x", as: EmptyResponse.self))
            await clock.settle()
        }
        #expect(audit.violations.contains { $0.hasSuffix("never completed") })
        #expect(audit.violations.contains("1 slots did not come back"))
    }

    @Test("A timer that a scheduler does not take back outlives its run")
    func brokenScheduler() async throws {
        let scheduler = ForgetfulScheduler()
        let mock = MockTransport()
        mock.on(.get, "/x").reply(status: 200)
        let client = Client(
            configuration: {
                var configuration = Client.Configuration()
                configuration.baseURL = "http://mock"
                configuration.transport = mock
                return configuration
            }(), scheduler: scheduler)
        let audit = Audit(client)
        _ = try await client.run(Call("/x", as: EmptyResponse.self))
        await #expect(throws: Audit.Failure.self) { try await audit.verify(within: .milliseconds(50)) }
        #expect(audit.violations.contains { $0.hasPrefix("a timer of run") })
        scheduler.forget()
        try await audit.verify(within: .seconds(5))
    }

    @Test("A client on real time passes, whatever its runs did")
    func realTime() async throws {
        let mock = MockTransport()
        mock.on(.get, pattern: "/ok/*").reply(status: 200)
        mock.on(.get, "/bad").reply(status: 500)
        _ = mock.on(.get, "/held").hold()
        let client = Client(mock, attempts: 2)
        let audit = Audit(client)
        let report = try await client.run(
            Batch((0..<100).map { Call("/ok/\($0)", as: EmptyResponse.self) }, maxConcurrency: 7))
        #expect(report.successes.count == 100)
        _ = await client.error(of: Call("/bad", as: EmptyResponse.self))
        let held = client.start(Call("/held", as: EmptyResponse.self))
        await mock.waitForRequests(103)
        held.cancel()
        await #expect(throws: BatonError.self) { _ = try await held.value }
        try await audit.verify(within: .seconds(5))
        #expect(audit.counts == (runs: 3, items: 100, exchanges: 103))
    }
}

/// The live scheduler, but no timer is ever taken back.
private final class ForgetfulScheduler: TimerKeeper {
    private let live = LiveScheduler.shared
    private let kept = LockBox<[(TimerHandle, any Job)]>([])

    func forget() {
        for (handle, _) in kept.withLock({ kept in
            defer { kept = [] }
            return kept
        }) { live.cancel(handle) }
    }

    var timedJobs: [any Job] { kept.withLock { $0.map(\.1) } }
    var now: Instant { live.now }
    var date: Date { live.date }
    func random() -> UInt64 { live.random() }
    func post(_ job: any Job, _ signal: Signal) { live.post(job, signal) }
    func execute(_ job: any Job, _ signal: Signal) { live.execute(job, signal) }
    func handOver() { live.handOver() }
    func deliver(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) { live.deliver(on: queue, body) }
    func startTask(_ name: String, _ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
        live.startTask(name, body)
    }
    func beginWait() {}
    func endWait() {}
    func schedule(_ job: any Job, _ signal: Signal, at instant: Instant) -> TimerHandle {
        let handle = live.schedule(job, signal, at: instant)
        kept.withLock { $0.append((handle, job)) }
        return handle
    }
    func cancel(_ timer: TimerHandle) {}
}
