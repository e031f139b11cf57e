import Baton
import BatonTesting
import Testing

@Suite("Orchestration: recovering")
struct RecoveringTests {
    private func run<P: Plan>(
        _ plan: P, _ transport: ScriptedTransport = .shop()
    ) async throws -> Result<P.Output, BatonError> where P.Output: Sendable {
        try await withVirtualTime(transport: transport, seed: 3, configure: { $0.retry = .none }) { client, _ in
            do throws(BatonError) {
                return .success(try await client.run(plan))
            } catch {
                return .failure(error)
            }
        }
    }

    @Test("A failure is recovered by the plan that is made of the error")
    func recovers() async throws {
        let seen = Record<Int>()
        let plan = GetItem(n: 404).recover { error in
            seen.add(error.response?.status ?? 0)
            return GetItem(n: 1)
        }
        check(try await run(plan).get() == Item(n: 1))
        #expect(seen.all == [404])
    }

    @Test("What is thrown again stays the error that it was, with its step, and what is thrown anew is the failure")
    func thrownAgain() async throws {
        struct Other: Error {}
        let again = GetItem(n: 1).then { _ in GetItem(n: 404) }.recover { error -> GetItem in throw error }
        let error = try await failure { try await run(again).get() }
        #expect(error.response?.status == 404)
        #expect(error.path == "chain[1]")
        let anew = GetItem(n: 404).recover { _ -> GetItem in throw Other() }
        let other = try await failure { try await run(anew).get() }
        #expect(other.code == .deriveFailed)
        #expect(other.underlying is Other)
    }

    @Test("It covers every step before it, passes over those between, and the chain goes on after it")
    func skips() async throws {
        let called = Record<String>()
        let transport = ScriptedTransport.shop()
        let plan = GetItem(n: 404)
            .then { item in
                called.add("then")
                return GetItem(n: item.n)
            }
            .map { item in
                called.add("map")
                return item
            }
            .recover { _ in GetItem(n: 7) }
            .recover { _ in
                called.add("second")
                return GetItem(n: 8)
            }
            .then { GetItem(n: $0.n + 1) }
        check(try await run(plan, transport).get() == Item(n: 8))
        #expect(called.all.isEmpty)
        #expect(transport.numbers == [404, 7, 8])
    }

    @Test("A failure within nested chains goes to the nearest recovery around it")
    func nested() async throws {
        let plan = GetItem(n: 1)
            .then { _ in
                GetItem(n: 2)
                    .then { _ in GetItem(n: 3).then { _ in GetItem(n: 404) } }
                    .recover { _ in GetItem(n: 10) }
                    .then { GetItem(n: $0.n + 1) }
            }
            .recover { _ in GetItem(n: 20) }
        check(try await run(plan).get() == Item(n: 11))
        let outer = GetItem(n: 1)
            .then { _ in GetItem(n: 2).recover { _ in GetItem(n: 9) }.then { _ in GetItem(n: 404) } }
            .recover { _ in GetItem(n: 20) }
        check(try await run(outer).get() == Item(n: 20))
    }

    @Test("A failure of the recovery is the failure")
    func recoveryFails() async throws {
        let error = try await failure { try await run(GetItem(n: 404).recover { _ in GetItem(n: 500) }).get() }
        #expect(error.response?.status == 500)
    }

    @Test("A cancel is not recovered, wherever it comes", arguments: [Duration.milliseconds(5), .milliseconds(15)])
    func cancel(time: Duration) async throws {
        let called = Record<Int>()
        let transport = ScriptedTransport.shop(after: .milliseconds(10))
        try await withVirtualTime(transport: transport, seed: 1) { client, clock in
            let run = client.start(
                GetItem(n: 1).then { _ in GetItem(n: 2) }.collected().recover { _ in
                    called.add(1)
                    return Chain<Result<Item, BatonError>>.value(.failure(BatonError(.cancelled)))
                }.fallback(to: .success(Item(n: 0))))
            try await clock.sleep(for: time)
            run.cancel()
            try await fails(.cancelled) { try await run.value }
        }
        #expect(called.count == 0)
    }

    @Test("The deadline of the whole is not recovered within it, and that of a part is recovered outside the part")
    func deadline() async throws {
        let transport = ScriptedTransport { _, _ in .silence }
        let inside = GetItem(n: 1).recover { _ in Chain.value(Item(n: 9)) }.deadline(.seconds(1))
        try await fails(.deadlineExceeded) { try await run(inside, transport).get() }
        let outside = GetItem(n: 1).deadline(.seconds(1)).recover { _ in Chain.value(Item(n: 9)) }
        check(try await run(outside, transport).get() == Item(n: 9))
    }

    @Test("fallback yields another plan's output or a value")
    func fallback() async throws {
        check(try await run(GetItem(n: 404).fallback(to: GetItem(n: 5))).get() == Item(n: 5))
        check(try await run(GetItem(n: 404).fallback(to: Item(n: 6))).get() == Item(n: 6))
        check(try await run(GetItem(n: 1).fallback(to: Item(n: 6))).get() == Item(n: 1))
    }

    @Test("collected yields the failure as a value")
    func collected() async throws {
        let bad = try await run(GetItem(n: 404).collected()).get()
        #expect(throws: BatonError.self) { try bad.get() }
        let good = try await run(GetItem(n: 3).collected()).get()
        #expect(try good.get() == Item(n: 3))
    }

    @Test("A closure is a step: async work that is no request, and what it throws fails the chain there")
    func closures() async throws {
        struct Broken: Error {}
        let plan = Chain { 20 }.then { n in Chain { n + 1 } }.then { GetItem(n: $0) }
        check(try await run(plan).get() == Item(n: 21))
        let broken = GetItem(n: 1).then { _ in Chain { () async throws -> Int in throw Broken() } }
        let error = try await failure { try await run(broken).get() }
        #expect(error.underlying is Broken)
        #expect(error.path.hasPrefix("chain[1]"))
    }

    @Test("A failure says which step, and holds the values of those before it")
    func completed() async throws {
        let plan = GetItem(n: 1).then { _ in GetItem(n: 2) }.map { $0.n * 10 }.then { _ in GetItem(n: 404) }
        let error = try await failure { try await run(plan).get() }
        #expect(error.path == "chain[2]")
        #expect(error.completed.count == 2)
        #expect(error.completed.first as? Item == Item(n: 1))
        #expect(error.completed.last as? Int == 20)
        #expect(error.request == "GET http://mock/items/404")
    }

    @Test("thenKeeping yields both values, step after step")
    func keeping() async throws {
        let plan = GetItem(n: 1).thenKeeping { GetItem(n: $0.n + 1) }.thenKeeping { pair in
            GetItem(n: pair.0.n + pair.1.n)
        }
        let ((first, second), third) = try await run(plan).get()
        #expect([first.n, second.n, third.n] == [1, 2, 3])
    }
}
