import Baton
import BatonTesting
import Dispatch
import Testing

/// Plans that are long or deep, on threads whose stack is small.
@Suite("Long and deep plans")
struct LongPlanTests {
    /// Runs a plan on one thread with a stack of 512 KB, from the first step to the release of the last object.
    private func runOnSmallStack<P: Plan>(
        _ transport: any Transport = InlineTransport(), _ make: @escaping @Sendable () -> P
    ) async -> Result<P.Output, BatonError>? {
        let result = LockBox<Result<P.Output, BatonError>?>(nil)
        await Threads.onSmallStack {
            let scheduler = HandScheduler()
            var configuration = Client.Configuration()
            configuration.baseURL = "http://h"
            configuration.transport = transport
            let client = Client(configuration: configuration, scheduler: scheduler)
            client.start(make(), on: .global()) { value in result.withLock { $0 = value } }
            scheduler.drain()
        }
        return result.withLock { $0 }
    }

    private static let steps = Scale.count(1_000_000, everyday: 50_000)

    @Test("Z04: a chain of a million steps is built in a loop, run and released (50,000 steps by default)")
    func steps() async throws {
        let result = await runOnSmallStack {
            var chain = Chain.value(0)
            for step in 0..<Self.steps {
                chain = step % 2 == 0 ? chain.map { $0 + 1 } : chain.then { Chain.value($0 + 1) }
            }
            return chain
        }
        #expect(try result?.get() == Self.steps)
    }

    @Test("Z04: building a chain is linear, also when older forms of it are kept")
    func building() {
        // The thread's own time, because other tests run beside this one.
        func build(_ count: Int) -> UInt64 {
            let start = ThreadTime.now
            var chain = Chain.value(0)
            for _ in 0..<count { chain = chain.map { $0 } }
            return ThreadTime.now - start
        }
        _ = build(1_000)
        let (short, long) = (build(5_000), build(40_000))
        #expect(long < short * 40)
    }

    @Test("Z04: two chains built on one beginning do not see each other's steps")
    func forks() async throws {
        let client = Client(baseURL: "http://h", transport: InlineTransport())
        let beginning = Chain.value(1).map { $0 + 1 }
        let (first, second) = (beginning.map { $0 * 10 }, beginning.map { $0 * 100 })
        let third = first.map { $0 + 1 }
        #expect(try await client.run(first) == 20)
        #expect(try await client.run(second) == 200)
        #expect(try await client.run(third) == 21)
        #expect(try await client.run(beginning) == 2)
    }

    @Test("N53: 100,000 requests in a row, answered inline, need no more stack than one (3,000 by default)")
    func requests() async throws {
        let count = Scale.count(100_000, everyday: 3_000)
        let result = await runOnSmallStack {
            var chain = GetItem(n: 0).chain
            for _ in 1..<count { chain = chain.then { GetItem(n: $0.n + 1) } }
            return chain
        }
        #expect(try result?.get() == Item(n: count - 1))
    }

    @Test("N53: a cancel at step 50,000 stops there (5,000 by default)")
    func cancelHalfway() async throws {
        let half = Scale.count(50_000, everyday: 5_000)
        let calls = LockBox(0)
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        let (box, isThere) = (LockBox<Run<Int>?>(nil), Gate())
        var chain = Chain.value(0).map { value in
            isThere.blocks()
            return value
        }
        for step in 1...(2 * half) {
            chain = chain.then { value in
                calls.withLock { $0 += 1 }
                if step == half { box.withLock { $0 }?.cancel() }
                return Chain.value(value + 1)
            }
        }
        let run = client.start(chain)
        box.withLock { $0 = run }
        isThere.open()
        let error = try await failure { try await run.value }
        box.withLock { $0 = nil }
        #expect(error.isCancelled)
        #expect(calls.withLock { $0 } == half)
    }

    @Sendable private static func nest(_ levels: Int) -> Chain<Int> {
        levels == 0 ? .value(0) : Chain.value(levels).then { _ in nest(levels - 1) }.map { $0 + 1 }
    }

    @Test("Invariant 8: 10,000 levels of chains within chains run on 512 KB")
    func nesting() async throws {
        let result = await runOnSmallStack { Self.nest(10_000) }
        #expect(try result?.get() == 10_000)
    }

    @Test("Invariant 8: a recursion through the last step needs no memory for its levels")
    func endlessRecursion() async throws {
        @Sendable func count(_ rest: Int, _ sum: Int) -> Chain<Int> {
            rest == 0 ? .value(sum) : Chain.value(rest).then { _ in count(rest - 1, sum + 1) }
        }
        let result = await runOnSmallStack { count(20_000, 0) }
        #expect(try result?.get() == 20_000)
    }

    @Test("Invariant 8: 10,000 plans held within each other's closures are run and released on 512 KB")
    func capturedNesting() async throws {
        let result = await runOnSmallStack {
            var chain = Chain.value(0)
            for _ in 0..<10_000 {
                let inner = chain
                chain = Chain.value(0).then { _ in inner }.map { $0 + 1 }
            }
            return chain
        }
        #expect(try result?.get() == 10_000)
    }

    @Test("Invariant 8: plans held within each other are released on 512 KB without ever being run")
    func releaseOnly() async {
        await Threads.onSmallStack {
            var chain = Chain.value(0)
            for _ in 0..<20_000 {
                let inner = chain
                chain = Chain.value(0).then { _ in inner }
            }
        }
    }

    @Test("Z04: batches within batches, 2,000 levels deep, at a limit of 1")
    func batchNesting() async throws {
        let result = await runOnSmallStack {
            var chain = GetItem(n: 7).map(\.n)
            for _ in 0..<2_000 {
                let inner = chain
                chain = Batch([inner], maxConcurrency: 1).map { report in try report[0].get() + 1 }
            }
            return chain
        }
        #expect(try result?.get() == 2_007)
    }

    @Test("Z04: a batch of batches of batches, at every limit", arguments: [1, 2, 64])
    func batchOfBatches(limit: Int) async throws {
        let client = Client(baseURL: "http://h", transport: QueueTransport()) { $0.maxConcurrency = limit }
        let plan = Batch(
            (0..<3).map { a in
                Batch(
                    (0..<3).map { b in Batch((0..<3).map { c in GetItem(n: a * 9 + b * 3 + c) }, maxConcurrency: 1) },
                    maxConcurrency: 2)
            }, maxConcurrency: 3)
        let report = try await client.run(plan)
        let numbers = report.successes.flatMap { $0.value.successes.flatMap { $0.value.successes.map(\.value.n) } }
        #expect(numbers == Array(0..<27))
    }

    @Test("Invariant 8: 5,000 items refused by an adapter, one after the other, need no more stack than one")
    func refusedItems() async throws {
        struct Refusal: Error {}
        let result = LockBox<Result<Report<Item>, BatonError>?>(nil)
        await Threads.onSmallStack {
            let scheduler = HandScheduler()
            var configuration = Client.Configuration()
            configuration.baseURL = "http://h"
            configuration.transport = InlineTransport()
            configuration.interceptors = [ClosureAdapter { _, _ in throw Refusal() }]
            let client = Client(configuration: configuration, scheduler: scheduler)
            client.start(Batch((0..<5_000).map(GetItem.init)), on: .global()) { value in result.withLock { $0 = value }
            }
            scheduler.drain()
        }
        #expect(try result.withLock { $0 }?.get().counts.failed == 5_000)
    }
}
