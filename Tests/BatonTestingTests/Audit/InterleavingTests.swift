import Baton
import BatonTesting
import Foundation
import Testing

/// Every order in which things may come, drawn by seed; all of it when BATON_FULL=1, a tenth of it otherwise.
@Suite("Audit: interleavings", .timeLimit(.minutes(5)))
struct InterleavingTests {
    private static let isFull = ProcessInfo.processInfo.environment["BATON_FULL"] == "1"

    @Test("Reply, timeout and cancel of one attempt end it once, in every order that the seeds yield")
    func oneAttempt() async throws {
        let seeds: UInt64 = Self.isFull ? 10_000 : 1_000
        var (orders, endings) = (Set<UInt64>(), [String: Int]())
        for seed in 0..<seeds {
            let audit = Audit()
            let mock = MockTransport()
            mock.on(.get, "/x").reply(status: 200, after: .seconds(1))
            let (order, ending) = try await withVirtualTime(
                transport: mock, seed: seed, audit: audit,
                configure: {
                    $0.retry = .none
                    $0.timeout = .seconds(1)
                }
            ) { client, clock in
                let run = client.start(Call("/x", as: EmptyResponse.self))
                // All three are due at the same instant, and so is the work that each of them brings about.
                async let others: [Void] = Self.noise(clock)
                try await clock.sleep(for: .seconds(1))
                run.cancel()
                let ending: String
                do throws(BatonError) {
                    _ = try await run.value
                    ending = "reply"
                } catch {
                    ending = error.code.rawValue
                }
                _ = try await others
                return (clock.interleaving, ending)
            }
            #expect(audit.violations == [], "seed \(seed)")
            orders.insert(order)
            endings[ending, default: 0] += 1
        }
        #expect(Set(endings.keys) == ["reply", "timedOut", "cancelled"], "\(endings)")
        #expect(orders.count >= Int(seeds) / 10, "\(orders.count) distinct orders")
    }

    /// Tasks that wake at the same instant, so that there is more to choose from.
    private static func noise(_ clock: VirtualClock) async throws -> [Void] {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 { group.addTask { try await clock.sleep(for: .seconds(1)) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test("A batch of ten with retries, timeouts and a cancel keeps every rule, in every order that the seeds yield")
    func batchOfTen() async throws {
        let seeds: UInt64 = Self.isFull ? 1_000 : 100
        var (orders, cancelled) = (Set<UInt64>(), 0)
        for seed in 0..<seeds {
            let audit = Audit()
            let mock = MockTransport()
            for index in 0..<10 {
                // Some succeed at once, some at the second attempt, some time out first, and some never succeed.
                let stub = mock.on(.get, "/\(index)")
                switch index % 4 {
                case 0: stub.reply(status: 200, after: .milliseconds(100))
                case 1: stub.reply(status: 503, times: 1).then.reply(status: 200, after: .milliseconds(100))
                case 2: stub.reply(status: 200, times: 1, after: .seconds(1)).then.reply(status: 200)
                default: stub.fail(.connectionLost, after: .milliseconds(100))
                }
            }
            let (order, wasCancelled) = try await withVirtualTime(
                transport: mock, seed: seed, audit: audit,
                configure: {
                    $0.maxConcurrency = 3
                    $0.timeout = .seconds(1)
                    $0.retry = RetryPolicy(attempts: 3, backoff: .constant(.milliseconds(100)))
                }
            ) { client, clock in
                let run = client.start(
                    Batch((0..<10).map { Call("/\($0)", as: EmptyResponse.self) }, maxConcurrency: 4))
                if seed % 2 == 1 {
                    try await clock.sleep(for: .milliseconds(Int(seed % 23) * 100))
                    run.cancel()
                }
                do throws(BatonError) {
                    let report = try await run.value
                    #expect(report.successes.map(\.index) == [0, 1, 2, 4, 5, 6, 8, 9], "seed \(seed)")
                    return (clock.interleaving, false)
                } catch {
                    #expect(error.isCancelled, "seed \(seed): \(error)")
                    return (clock.interleaving, true)
                }
            }
            #expect(audit.violations == [], "seed \(seed)")
            #expect(mock.maxInFlight <= 3)
            orders.insert(order)
            cancelled += wasCancelled ? 1 : 0
        }
        #expect(cancelled > 0 && cancelled <= Int(seeds) / 2)
        #expect(orders.count >= Int(seeds) * 9 / 10, "\(orders.count) distinct orders")
    }
}
