import Baton
import BatonTesting
import Testing

@Suite("Orchestration: failure policies")
struct FailurePolicyTests {
    /// Item n takes n seconds; those in `bad` fail with 500.
    private static func transport(bad: Set<Int>) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            let n = request.number ?? 0
            return .reply(bad.contains(n) ? .status(500) : .item(n), after: .seconds(n))
        }
    }

    private struct Ending: Sendable {
        var report: Report<Item>
        var error: BatonError?
        var sent: [Int]
        var elapsed: Duration
    }

    /// Runs items 1 to `count` under a policy.
    private static func run(
        _ policy: FailurePolicy, bad: Set<Int>, count: Int = 6, width: Int = 2, isSized: Bool = true, seed: UInt64 = 1
    ) async throws -> Ending {
        let transport = transport(bad: bad)
        return try await withVirtualTime(
            transport: transport, seed: seed, configure: { $0.retry = .none }
        ) { client, clock in
            let batch =
                isSized
                ? Batch((1...count).map(GetItem.init), maxConcurrency: width)
                : Batch(Made(count) { GetItem(n: $0 + 1) }, maxConcurrency: width)
            do throws(BatonError) {
                let report = try await client.run(batch.failurePolicy(policy))
                return Ending(report: report, error: nil, sent: transport.numbers, elapsed: clock.elapsed)
            } catch {
                let report = try #require(error.report(of: Item.self))
                #expect(error.code == .batchFailed)
                return Ending(report: report, error: error, sent: transport.numbers, elapsed: clock.elapsed)
            }
        }
    }

    @Test("B45: collect all has every outcome, and succeeds whatever they are")
    func collectAll() async throws {
        let ending = try await Self.run(.collectAll, bad: [1], count: 5)
        #expect(ending.error == nil)
        #expect(ending.report.failures.map(\.index) == [0])
        #expect(ending.report.successes.count == 4)
    }

    @Test("B45: fail fast sends nothing more, cancels what runs, and completes when that has ended")
    func failFast() async throws {
        let ending = try await Self.run(.failFast, bad: [1], count: 5)
        #expect(ending.error?.underlying is BatonError)
        #expect(ending.sent == [1, 2])
        #expect(ending.elapsed == .seconds(1))
        let counts = ending.report.counts
        #expect((counts.failed, counts.cancelled, counts.pending, counts.total) == (1, 1, 3, 5))
        #expect(ending.report.count == 5)
        guard case .notStarted = ending.report[4].result else { return #expect(Bool(false), "item 4 was begun") }
    }

    @Test("B45: retrying the failed only sends one item again, and completes once")
    func retryFailed() async throws {
        let transport = ScriptedTransport { request, n in
            request.number == 1 && n == 1 ? .reply(.status(500)) : .reply(.item(for: request))
        }
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, clock in
            let run = client.counting(Batch((1...5).map(GetItem.init), maxConcurrency: 2).retryFailed(.afterOthers))
            let report = try await run.run.value
            await clock.settle()
            #expect(report.allSucceeded)
            #expect(transport.numbers == [1, 2, 3, 4, 5, 1])
            #expect(run.completions.count == 1)
        }
    }

    @Test("Fail fast holds for a sequence of unknown length too", arguments: 0..<10 as Range<UInt64>)
    func failFastUnsized(seed: UInt64) async throws {
        let ending = try await Self.run(.failFast, bad: [2], count: 50, isSized: false, seed: seed)
        #expect(ending.report.failures.map(\.index) == [1])
        #expect(ending.sent.count == 3)
        #expect(ending.report.count == ending.sent.count)
    }

    @Test(
        "So many failures are tolerated, and one more ends it",
        arguments: [(0, false), (1, false), (2, true), (3, true)])
    func tolerate(count: Int, succeeds: Bool) async throws {
        let ending = try await Self.run(.tolerate(count), bad: [1, 3])
        #expect((ending.error == nil) == succeeds)
        if !succeeds { #expect(ending.report.counts.failed == count + 1) }
    }

    @Test(
        "A share of failures is tolerated; of an unknown total it is looked at when the input has ended",
        arguments: [(0.2, false), (0.4, true), (1, true)], [true, false])
    func share(share: (Double, Bool), isSized: Bool) async throws {
        let ending = try await Self.run(.tolerateShare(share.0), bad: [1, 3], isSized: isSized)
        #expect((ending.error == nil) == share.1)
    }

    @Test("The first success cancels the rest, and without one the batch fails")
    func firstSuccess() async throws {
        let ending = try await Self.run(.firstSuccess, bad: [1], width: 3)
        #expect(ending.error == nil)
        #expect(ending.report.successes.map(\.index) == [1])
        #expect(ending.sent == [1, 2, 3, 4])
        #expect(ending.elapsed == .seconds(2))
        let none = try await Self.run(.firstSuccess, bad: Set(1...6), width: 3)
        #expect(none.report.counts.failed == 6)
        #expect(none.error != nil)
    }

    @Test("A quorum cancels the rest when it is reached")
    func quorum() async throws {
        let ending = try await Self.run(.quorum(2), bad: [1], width: 6)
        #expect(ending.error == nil)
        #expect(ending.report.counts.succeeded == 2)
        #expect(ending.elapsed == .seconds(3))
    }

    @Test("A quorum fails as soon as it cannot be reached any more")
    func unreachable() async throws {
        let ending = try await Self.run(.quorum(5), bad: [1, 2], width: 6)
        #expect(ending.error != nil)
        #expect(ending.elapsed == .seconds(2))
        #expect(ending.report.counts.cancelled == 4)
    }

    @Test("A quorum of more than there are items fails before anything is sent")
    func tooFew() async throws {
        let ending = try await Self.run(.quorum(7), bad: [])
        #expect(ending.sent.isEmpty)
        #expect(ending.error != nil)
    }

    @Test("Of an unknown total, a quorum is given up when the end of the input shows that it cannot be reached")
    func unknownTotal() async throws {
        let ending = try await Self.run(.quorum(4), bad: [], count: 3, width: 4, isSized: false)
        #expect(ending.error != nil)
        #expect(ending.elapsed == .zero)
    }

    @Test(
        "Failures that reconnect may still ask for are not final: the policy judges what is left of them",
        arguments: [FailurePolicy.quorum(3), .tolerate(0), .failFast])
    func reconnect(policy: FailurePolicy) async throws {
        let transport = ScriptedTransport { request, n in
            n == 1 && request.number != 3 ? .reply(.status(500)) : .reply(.item(for: request), after: .seconds(1))
        }
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, _ in
            let batch = Batch((1...3).map(GetItem.init)).failurePolicy(policy)
            let report = try await client.run(batch.reconnect { .retry($0.failures.map(\.index)) })
            #expect(report.allSucceeded)
            #expect(transport.sent.count == 5)
        }
    }

    @Test("What reconnect leaves out has failed for good, and the policy judges it before the next round")
    func leftOut() async throws {
        let transport = Self.transport(bad: [1, 2])
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, _ in
            let batch = Batch((1...3).map(GetItem.init)).failurePolicy(.failFast).reconnect { _ in
                .retry([0], after: .seconds(60))
            }
            let error = try await failure { try await client.run(batch) }
            #expect(error.code == .batchFailed)
            #expect(transport.sent.count == 3)
            #expect(error.report(of: Item.self)?.counts.failed == 2)
        }
    }

    @Test(
        "A policy with values that cannot work is refused",
        arguments: [FailurePolicy.tolerate(-1), .tolerateShare(1.5), .quorum(0)])
    func refused(policy: FailurePolicy) async throws {
        try await withVirtualTime(transport: ScriptedTransport()) { client, _ in
            let batch = Batch([GetItem(n: 1)]).failurePolicy(policy)
            try await fails(.invalidConfiguration) { try await client.run(batch) }
        }
    }

    @Test("A policy that has decided does not wait for a sequence that does not go on", arguments: [true, false])
    func silentInput(isFailFast: Bool) async throws {
        let transport = Self.transport(bad: isFailFast ? [1] : [])
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, clock in
            let input = StalledSequence(count: 2, clock: clock)
            let batch = Batch(input, maxConcurrency: 5).failurePolicy(isFailFast ? .failFast : .firstSuccess)
            let result = try await client.run(batch.collected())
            #expect(clock.elapsed == .seconds(1))
            if case .success(let report) = result {
                #expect(!isFailFast)
                #expect(report.counts.succeeded == 1)
            } else {
                #expect(isFailFast)
            }
        }
    }
}

/// Gives items 1 to `count`, and then nothing more, without ending for a very long time.
struct StalledSequence: AsyncSequence, Sendable {
    let count: Int
    let clock: VirtualClock

    struct AsyncIterator: AsyncIteratorProtocol {
        let input: StalledSequence
        var index = 0

        mutating func next() async throws -> GetItem? {
            index += 1
            if index <= input.count { return GetItem(n: index) }
            try await input.clock.sleep(for: .seconds(1_000_000))
            return nil
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(input: self) }
}
