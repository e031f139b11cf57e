/// Pages of a list, each derived from the one before, until there is no next one.
///
/// ```swift
/// Pages(ListOrders()) { page in page.next.map(ListOrders.init(cursor:)) }
///
/// for try await page in client.stream(Pages(ListOrders()) { … }) { … }    // one page at a time
/// ```
/// As a plan it yields every page, in order. It stops when `next` is nil, or after `maxPages`. A page that would be
/// asked for twice, with the same method, URL and body, fails it with `repeatedCursor`: a server that hands out a
/// cursor again would be asked for ever.
public struct Pages<P: Plan>: Plan {
    package let first: P
    package let maxPages: Int
    package let maxItems: Int?
    /// Gets a page and how many were read by then.
    private let next: @Sendable (P.Output, Int) throws -> P?
    private let size: (@Sendable (P.Output) -> Int)?

    /// - Parameters:
    ///   - first: the plan of the first page.
    ///   - maxPages: how many pages are read at most. Default: no limit.
    ///   - next: the plan of the page that follows; nil after the last one.
    public init(_ first: P, maxPages: Int = .max, next: @escaping @Sendable (P.Output) throws -> P?) {
        self.init(first, maxPages, nil, nil) { page, _ in try next(page) }
    }

    /// - Parameters:
    ///   - maxItems: no page is read any more once so many items were read, as `size` counts them in a page.
    public init(
        _ first: P, maxPages: Int = .max, maxItems: Int, size: @escaping @Sendable (P.Output) -> Int,
        next: @escaping @Sendable (P.Output) throws -> P?
    ) {
        self.init(first, maxPages, maxItems, size) { page, _ in try next(page) }
    }

    init(
        _ first: P, _ maxPages: Int, _ maxItems: Int?, _ size: (@Sendable (P.Output) -> Int)?,
        next: @escaping @Sendable (P.Output, Int) throws -> P?
    ) {
        self.first = first
        self.maxPages = maxPages
        self.maxItems = maxItems
        self.size = size
        self.next = next
    }

    public var chain: Chain<[P.Output]> { Chain(node: .plan(PagesWalk(pages: self))) }

    var walk: Chain<[P.Output]> {
        // What was read belongs to a run, so it begins in one.
        Chain<Void>.value(()).then { maxPages < 1 ? .value([]) : read(first, PageCursor<P.Output>()) }
    }

    private func read(_ plan: P, _ cursor: PageCursor<P.Output>) -> Chain<[P.Output]> {
        Chain<P.Output>(node: _PlanNode(content: .plan(PageOnce(plan: plan, isNew: cursor.isNew))))
            .then { page -> Chain<[P.Output]> in
                let count = cursor.add(page, size: items(in: page))
                guard let following = try following(page, pages: count, items: cursor.items)
                else { return .value(cursor.pages) }
                return read(following, cursor)
            }
    }

    /// How many items count for a page; 0 where nobody counts.
    package func items(in page: P.Output) -> Int { size?(page) ?? 0 }

    /// What is read after a page, when so many pages and items were read, that page included; nil after the last.
    package func following(_ page: P.Output, pages: Int, items: Int) throws -> P? {
        guard pages < maxPages, maxItems.map({ items < $0 }) ?? true else { return nil }
        return try next(page, pages)
    }
}

/// One page, unless it was asked for before.
package struct PageOnce<P: Plan>: Plan {
    let plan: P
    let isNew: @Sendable (HTTPRequest) -> Bool

    package init(plan: P, isNew: @escaping @Sendable (HTTPRequest) -> Bool) {
        self.plan = plan
        self.isNew = isNew
    }

    package var chain: Chain<P.Output> { plan.chain }

    package func _node(in context: _PlanContext) throws(BatonError) -> _PlanNode {
        let node = try plan._node(in: context)
        if case .call(let call) = node.content, !isNew(call.request) {
            throw BatonError(
                .repeatedCursor, "the server named a page that was read before: its cursor does not move on")
        }
        return node
    }
}

/// What was read so far by one run, and what was asked for.
package final class PageCursor<Page: Sendable>: Sendable {
    private struct State {
        var pages: [Page] = []
        var items = 0
        var asked: Set<String> = []
    }

    private let state = LockBox(State())

    package init() {}

    /// Adds a page and counts.
    package func add(_ page: Page, size: Int) -> Int {
        state.withLock { state in
            state.pages.append(page)
            state.items += size
            return state.pages.count
        }
    }

    package var pages: [Page] { state.withLock { $0.pages } }
    package var items: Int { state.withLock { $0.items } }

    package func isNew(_ request: HTTPRequest) -> Bool {
        state.withLock { $0.asked.insert(request.pageKey).inserted }
    }
}

extension HTTPRequest {
    /// What tells the requests of pages apart.
    var pageKey: String {
        let body = body.bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
        return "\(method) \(urlString)\n\(body)"
    }
}
