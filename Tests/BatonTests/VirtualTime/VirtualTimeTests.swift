import Baton
import BatonTesting
import Dispatch
import Testing

@Suite("Virtual time")
struct VirtualTimeTests {
    @Test("Awaited time skips by itself")
    func skips() async throws {
        let transport = ScriptedTransport { request, n in
            .reply(n < 3 ? .status(500) : .item(for: request), after: .seconds(1))
        }
        try await withVirtualTime(
            transport: transport, seed: 1,
            configure: { $0.retry = RetryPolicy(backoff: .constant(.seconds(24 * 3_600))) }
        ) { client, clock in
            _ = try await client.run(GetItem(n: 1))
            #expect(clock.elapsed == .seconds(2 * 24 * 3_600 + 3))
        }
        #expect(transport.sent.count == 3)
    }

    @Test("An attempt without a reply ends after the timeout")
    func timeout() async throws {
        let transport = ScriptedTransport { _, _ in .silence }
        try await withVirtualTime(transport: transport, configure: { $0.retry = .none }) { client, clock in
            let error = try await failure { try await client.run(GetItem(n: 1)) }
            #expect(error.code == .timedOut)
            #expect(clock.elapsed == .seconds(60))
        }
    }

    @Test("A test that waits for what nothing will bring about ends with an explanation")
    func standstill() async throws {
        let error = try await failure {
            try await withVirtualTime(transport: HeldTransport(), time: .manual) { client, _ in
                _ = try await client.run(GetItem(n: 1))
            }
        }
        #expect(error.code == .virtualTimeStopped)
    }

    @Test("Interceptors and async closures wait on virtual time")
    func asyncWaits() async throws {
        let wait = ClosureInterceptor { request, context, next in
            try await context.sleep(for: .seconds(10))
            return try await next(request)
        }
        let transport = ScriptedTransport { request, _ in .reply(.item(for: request), after: .seconds(1)) }
        try await withVirtualTime(transport: transport, configure: { $0.interceptors = [wait] }) { client, clock in
            _ = try await client.run(
                GetItem(n: 1).then { item in
                    try await clock.sleep(for: .seconds(5))
                    return GetItem(n: item.n)
                })
            #expect(clock.elapsed == .seconds(27))
        }
    }

    @Test("One seed is one interleaving", arguments: [0, 7, 1_000] as [UInt64])
    func seeds(seed: UInt64) async throws {
        @Sendable func interleaving() async throws -> UInt64 {
            try await withVirtualTime(transport: ScriptedTransport(), seed: seed) { client, clock in
                let report = try await client.run(Batch((0..<10).map(GetItem.init), maxConcurrency: 3))
                #expect(report.allSucceeded)
                return clock.interleaving
            }
        }
        #expect(try await interleaving() == interleaving())
    }

    @Test("A completion comes on the main actor, or on the queue that was named, on virtual time too")
    func completions() async throws {
        let queue = DispatchQueue(label: "test.named")
        let told = Record<String>()
        try await withVirtualTime(transport: ScriptedTransport { _, n in .reply(.item(n)) }) { client, clock in
            client.start(GetItem(n: 1)) { _ in
                MainActor.preconditionIsolated()
                told.add("main")
            }
            client.start(GetItem(n: 1), on: queue) { _ in
                dispatchPrecondition(condition: .onQueue(queue))
                told.add("named")
            }
            await clock.run()
        }
        #expect(Set(told.all) == ["main", "named"])
    }
}
