import Baton
import BatonTesting
import Testing

@Suite("Orchestration: polling and pages")
struct RepeatingTests {
    /// Page n of a list whose last page is `last`; page `loop` names page 2 as the next one.
    private static func list(last: Int = 5, loop: Int? = nil) -> ScriptedTransport {
        ScriptedTransport { request, _ in
            let n = request.number ?? 0
            let next = n == loop ? 2 : n == last ? nil : n + 1
            let text = next.map { ", \"next\": \($0)" } ?? ""
            return .reply(.status(200, "{\"items\": [\(n), \(n)]\(text)}"), after: .seconds(1))
        }
    }

    private static func pages(_ maxPages: Int = .max) -> Pages<GetPage> {
        Pages(GetPage(n: 1), maxPages: maxPages) { page in page.next.map(GetPage.init) }
    }

    @Test("A plan is repeated at its interval until its output is what is wanted")
    func repeated() async throws {
        let transport = ScriptedTransport { _, n in .reply(.item(n), after: .seconds(1)) }
        try await withVirtualTime(transport: transport) { client, clock in
            let item = try await client.run(GetItem(n: 0).repeated(every: .seconds(2), until: { $0.n == 4 }))
            #expect(item == Item(n: 4))
            #expect(transport.times == [.seconds(0), .seconds(3), .seconds(6), .seconds(9)])
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test("After as many repetitions as are allowed it fails, and does not wait once more", arguments: [1, 3])
    func count(limit: Int) async throws {
        let transport = ScriptedTransport { _, n in .reply(.item(n)) }
        try await withVirtualTime(transport: transport) { client, clock in
            let plan = GetItem(n: 0).repeated(every: .seconds(2), atMost: limit, until: { _ in false })
            try await fails(.limitReached) { try await client.run(plan) }
            #expect(clock.elapsed == .seconds(2 * (limit - 1)))
            #expect(transport.sent.count == limit)
        }
    }

    @Test("A deadline bounds polling, and a cancel ends its wait at once")
    func bounded() async throws {
        let transport = ScriptedTransport { _, n in .reply(.item(n)) }
        try await withVirtualTime(transport: transport) { client, clock in
            let plan = GetItem(n: 0).repeated(every: .seconds(2), until: { _ in false })
            try await fails(.deadlineExceeded) { try await client.run(plan.deadline(.seconds(7))) }
            #expect(clock.elapsed == .seconds(7))
            #expect(transport.sent.count == 4)
            let run = client.start(plan)
            try await clock.sleep(for: .seconds(1))
            run.cancel()
            try await fails(.cancelled) { try await run.value }
            #expect(clock.elapsed == .seconds(8))
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test("Pages are read until one names no next one")
    func pages() async throws {
        try await withVirtualTime(transport: Self.list()) { client, _ in
            let pages = try await client.run(Self.pages())
            #expect(pages.map(\.items) == (1...5).map { [$0, $0] })
        }
    }

    @Test("A cap on pages and one on items stop it", arguments: [(0, 0), (1, 1), (3, 3), (9, 5)])
    func caps(cap: Int, read: Int) async throws {
        let transport = Self.list()
        try await withVirtualTime(transport: transport) { client, _ in
            check(try await client.run(Self.pages(cap)).count == read)
            #expect(transport.sent.count == read)
            let byItems = Pages(GetPage(n: 1), maxItems: 2 * max(1, read) - 1, size: \.items.count) { page in
                page.next.map(GetPage.init)
            }
            check(try await client.run(byItems).count == max(1, read))
        }
    }

    @Test("A cursor that was handed out before is refused, and not asked for again")
    func repeatedCursor() async throws {
        let transport = Self.list(last: 9, loop: 4)
        try await withVirtualTime(transport: transport) { client, _ in
            try await fails(.repeatedCursor) { try await client.run(Self.pages()) }
            #expect(transport.numbers == [1, 2, 3, 4])
        }
    }

    @Test("Pages can be a step of a chain, and two runs of one value are independent, also at the same time")
    func inChain() async throws {
        let transport = Self.list(last: 3)
        try await withVirtualTime(transport: transport, seed: 4) { client, _ in
            let pages = Self.pages()
            let plan = GetPage(n: 3).then { _ in pages }.map(\.count)
            let both = try await client.run(zip(plan, plan))
            #expect(both.0 == 3 && both.1 == 3)
            check(try await client.run(plan) == 3)
        }
    }

    @Test("Streamed, a page is asked for when it is wanted, and leaving the loop asks for no more")
    func streamed() async throws {
        let transport = Self.list()
        try await withVirtualTime(transport: transport) { client, clock in
            let stream = client.stream(Self.pages(4))
            var read = 0
            for try await page in stream {
                read += 1
                #expect(page.items.first == read)
                try await clock.sleep(for: .seconds(10))
                #expect(transport.sent.count == read)
                if read == 2 { break }
            }
            await clock.run()
            #expect(transport.sent.count == 2)
            var all = 0
            for try await _ in stream { all += 1 }
            #expect(all == 4)
        }
    }

    @Test("Streamed, a repeated cursor and a failure end the loop with an error, and nothing comes after it")
    func streamedFailure() async throws {
        let transport = Self.list(last: 9, loop: 3)
        try await withVirtualTime(transport: transport) { client, _ in
            var iterator = client.stream(Self.pages()).makeAsyncIterator()
            for _ in 1...3 { _ = try await iterator.next() }
            try await fails(.repeatedCursor) { try await iterator.next() }
            check(try await iterator.next() == nil)
        }
    }
}
