import Baton
import BatonTesting
import Testing

@Suite("Pages by number, and lists of them") struct PageListTests {
    private let mock = MockTransport()

    /// A list of so many items, 3 a page unless it is asked otherwise, a second for each page.
    private func serve(_ total: Int) {
        mock.on { $0.path == "/orders" }.reply(after: .seconds(1)) { (request: HTTPRequest) -> HTTPResponse in
            let pairs = Dictionary(
                uniqueKeysWithValues: (request.query ?? "").split(separator: "&").map { pair in
                    let parts = pair.split(separator: "=")
                    return (String(parts[0]), Int(parts[1]) ?? 0)
                })
            let size = pairs["size"] ?? 3
            let start = pairs["offset"] ?? ((pairs["page"] ?? 1) - 1) * size
            let items = Array(start..<max(start, min(total, start + size)))
            return .status(200, "{\"items\": \(items), \"total\": \(total)}")
        }
    }

    private struct Orders: Codable, Response, Equatable {
        let items: [Int]
        let total: Int
    }

    private static func request(_ page: PageNumber) -> Call<Orders> {
        Call("/orders") { $0.query = page.query() }
    }

    private func pages(_ rule: LastPage<Orders> = .shortPage { $0.items.count }) -> Pages<Call<Orders>> {
        Pages(from: 1, size: 3, until: rule, request: Self.request)
    }

    @Test("Number and size go into each request, until a page is short", arguments: [(7, 3), (6, 3), (2, 1), (0, 1)])
    func shortPage(total: Int, requests: Int) async throws {
        serve(total)
        let plan = pages()
        try await withVirtualTime(transport: mock) { [mock] client, _ in
            let read = try await client.run(plan)
            #expect(read.flatMap(\.items) == Array(0..<total))
            #expect(mock.calls.compactMap(\.query) == (1...requests).map { "page=\($0)&size=3" })
        }
    }

    @Test("With a total, no page is asked for that cannot be there", arguments: [(7, 3), (6, 2), (2, 1), (0, 1)])
    func total(total: Int, requests: Int) async throws {
        serve(total)
        let plan = pages(.total(\.total))
        try await withVirtualTime(transport: mock) { [mock] client, _ in
            let read = try await client.run(plan)
            #expect(read.flatMap(\.items) == Array(0..<total))
            #expect(mock.calls.count == requests)
        }
    }

    @Test("A flag of the server ends the list, pages may be counted from anywhere, and offsets do as well")
    func flagAndOffset() async throws {
        serve(100)
        let plan = Pages(from: 0, size: 5, until: .when { (page: Orders) in page.items.contains(12) }) { page in
            Call("/orders", as: Orders.self) { $0.query = page.query(offset: "offset", size: "size") }
        }
        try await withVirtualTime(transport: mock) { [mock] client, _ in
            let read = try await client.run(plan)
            #expect(read.flatMap(\.items) == Array(0..<15))
            #expect(mock.calls.compactMap(\.query) == [0, 5, 10].map { "offset=\($0)&size=5" })
            let capped = Pages(maxPages: 2, until: .when { (_: Orders) in false }, request: Self.request)
            let count = try await client.run(capped).count
            #expect(count == 2)
            var numbers: [Int] = []
            for try await page in client.stream(capped) { numbers.append(page.items.count) }
            #expect(numbers == [20, 20])
        }
    }

    @Test("A list begins, grows to its end, and begins anew")
    func list() async throws {
        serve(7)
        let list = PageList(pages())
        try await withVirtualTime(transport: mock) { [mock] client, _ in
            #expect(list.hasMore && list.pages.isEmpty)
            var counts: [Int] = []
            for _ in 1...4 { counts.append(try await client.run(list.more).count) }
            #expect(counts == [1, 2, 3, 3])
            #expect(!list.hasMore)
            #expect(mock.calls.count == 3)
            let fresh = try await client.run(list.refresh)
            #expect(fresh.flatMap(\.items) == [0, 1, 2])
            #expect(list.hasMore && !list.isLoading)
            let grown = try await client.run(list.more)
            #expect(grown.flatMap(\.items) == Array(0..<6))
        }
    }

    @Test("However often its end comes into sight, a page is asked for once", arguments: [1, 2, 3] as [UInt64])
    func once(seed: UInt64) async throws {
        serve(9)
        let list = PageList(pages())
        try await withVirtualTime(transport: mock, seed: seed) { [mock] client, clock in
            _ = try await client.run(list.refresh)
            let runs = (0..<5).map { _ in client.start(list.more) }
            for run in runs { _ = try await run.value }
            await clock.run()
            #expect(list.pages.flatMap(\.items) == Array(0..<6))
            #expect(mock.calls.count == 2)
        }
    }

    @Test("A refresh drops what was under way, and nothing of before is added to what it found")
    func refreshWins() async throws {
        serve(9)
        let list = PageList(pages())
        try await withVirtualTime(transport: mock) { client, clock in
            _ = try await client.run(list.more)
            let more = client.start(list.more)
            try await clock.sleep(for: .milliseconds(500))
            let refresh = client.start(list.refresh)
            #expect(list.isLoading)
            _ = try await more.value
            #expect(list.pages.flatMap(\.items) == [0, 1, 2])
            let refreshed = try await refresh.value
            #expect(refreshed.flatMap(\.items) == [0, 1, 2])
            let grown = try await client.run(list.more)
            #expect(grown.flatMap(\.items) == Array(0..<6))
        }
    }

    enum Ending: CaseIterable { case failure, recovered, cancel, deadline, refreshFailure }

    @Test("What fails or is cancelled leaves the list as it was, and can be tried again", arguments: Ending.allCases)
    func tryAgain(_ ending: Ending) async throws {
        serve(9)
        let list = PageList(pages())
        try await withVirtualTime(transport: mock, configure: { $0.retry = .none }) { [mock] client, clock in
            _ = try await client.run(list.more)
            mock.on { $0.path == "/orders" }.fail(.connectionLost, times: 1, after: .seconds(1))
            switch ending {
            case .failure: #expect(try await failure { try await client.run(list.more) }.code == .connectionLost)
            case .recovered: _ = try await client.run(list.more.fallback(to: []))
            case .cancel:
                let run = client.start(list.more)
                try await clock.sleep(for: .milliseconds(500))
                run.cancel()
                #expect(try await failure { try await run.value }.isCancelled)
            case .deadline:
                let plan = list.more.deadline(.milliseconds(500))
                #expect(try await failure { try await client.run(plan) }.code == .deadlineExceeded)
            case .refreshFailure:
                #expect(try await failure { try await client.run(list.refresh) }.code == .connectionLost)
            }
            #expect(list.pages.count == 1)
            #expect(!list.isLoading)
            let grown = try await client.run(list.more)
            #expect(grown.flatMap(\.items) == Array(0..<6))
        }
    }

    @Test("A cursor that comes again ends the list with an error, also when it is asked for twice")
    func repeatedCursor() async throws {
        mock.on(pattern: "/pages/*").reply(Page(items: [1], next: 1))
        let list = PageList(Pages(GetPage(n: 1)) { page in page.next.map(GetPage.init) })
        try await withVirtualTime(transport: mock) { client, _ in
            _ = try await client.run(list.more)
            for _ in 1...2 {
                let error = try await failure { try await client.run(list.more) }
                #expect(error.code == .repeatedCursor)
            }
            #expect(list.pages.count == 1)
        }
    }

    @Test("A list that nobody keeps is released after its run")
    func released() async throws {
        serve(9)
        try await withVirtualTime(transport: mock) { [self] client, clock in
            var list: PageList<Call<Orders>>? = PageList(pages())
            weak var weakList: PageList<Call<Orders>>?
            weakList = list
            if let plan = list?.more { _ = try await client.run(plan) }
            list = nil
            await clock.settle()
            #expect(weakList == nil)
        }
    }
}
