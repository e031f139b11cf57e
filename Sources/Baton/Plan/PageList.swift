/// A list on a screen: it begins anew when it is pulled, and grows by a page when its end comes into sight.
///
/// ```swift
/// let orders = PageList(Pages(from: 1, size: 20, until: .shortPage) { page in
///     Call("/orders", as: [Order].self) { $0.query = page.query() }
/// })
/// client.start(orders.refresh, in: scope) { result in … }     // pulled
/// client.start(orders.more, in: scope) { result in … }        // scrolled to the end
/// ```
/// Both yield all pages that the list has by then, so that nothing is shown twice. A plan that fails or is cancelled
/// leaves the list as it was, and can be run again. The list may be used from anywhere.
public final class PageList<P: Plan>: Sendable {
    private struct State {
        var pages: [P.Output] = []
        var items = 0
        /// The requests of the pages.
        var asked: Set<String> = []
        /// Nil before the first page and after the last one.
        var following: P?
        /// Counts refreshes: what was begun before the newest one is not added any more.
        var generation: UInt64 = 0
        var isLoading = false
    }

    /// One page that is being read.
    private struct Ticket: Sendable {
        var plan: P
        var generation: UInt64
        /// What the list has before it.
        var pages: Int
        var items: Int
        var asked: Set<String>
        let request = LockBox<String?>(nil)
    }

    private let source: Pages<P>
    private let state = LockBox(State())

    /// A list that has no page yet.
    public init(_ pages: Pages<P>) {
        source = pages
    }

    /// The pages so far, in order.
    public var pages: [P.Output] { state.withLock { $0.pages } }

    /// Whether a page is being read.
    public var isLoading: Bool { state.withLock { $0.isLoading } }

    /// Whether there may be another page. True before the first one.
    public var hasMore: Bool { state.withLock { $0.pages.isEmpty || $0.following != nil } }

    /// Reads the first page, which takes the place of what the list has. What `more` had under way is dropped.
    public var refresh: Chain<[P.Output]> {
        Chain<Void>.value(()).then { [self] in read(begin(isRefresh: true)) }
    }

    /// Reads the page after those that the list has. After the last one, and while another one is being read, it sends
    /// nothing and yields what there is.
    public var more: Chain<[P.Output]> {
        Chain<Void>.value(()).then { [self] in read(begin(isRefresh: false)) }
    }

    /// Nil where there is nothing to read.
    private func begin(isRefresh: Bool) -> Ticket? {
        state.withLock { state in
            if !isRefresh, state.isLoading { return nil }
            if isRefresh || state.pages.isEmpty {
                guard source.maxPages > 0 else { return nil }
                state.generation += 1
                state.isLoading = true
                return Ticket(plan: source.first, generation: state.generation, pages: 0, items: 0, asked: [])
            }
            guard let plan = state.following else { return nil }
            state.isLoading = true
            return Ticket(
                plan: plan, generation: state.generation, pages: state.pages.count, items: state.items,
                asked: state.asked)
        }
    }

    private func read(_ ticket: Ticket?) -> Chain<[P.Output]> {
        guard let ticket else { return .value(pages) }
        let page = PageOnce(plan: ticket.plan) { request in
            let key = request.pageKey
            ticket.request.withLock { $0 = key }
            return !ticket.asked.contains(key)
        }
        // A failure ends the loading at once, also where somebody recovers it; a cancel is no failure, but it is undone.
        return Chain<Void>.value(()).undo { [self] in
            end(ticket)
            return Chain<Void>.value(())
        }
        .then { Chain<P.Output>(node: _PlanNode(content: .plan(page))) }
        .map { [self] page in try add(page, ticket) }
        .recover { [self] error -> Chain<[P.Output]> in
            end(ticket)
            throw error
        }
    }

    private func add(_ page: P.Output, _ ticket: Ticket) throws -> [P.Output] {
        let items = ticket.items + source.items(in: page)
        let following = try source.following(page, pages: ticket.pages + 1, items: items)
        let key = ticket.request.withLock { $0 }
        let (pages, old) = state.withLock { state in
            guard state.generation == ticket.generation else { return (state.pages, [P.Output]()) }
            let old = ticket.pages == 0 ? state.pages : []
            state.pages = (ticket.pages == 0 ? [] : state.pages) + [page]
            state.items = items
            state.asked = ticket.asked.union(key.map { [$0] } ?? [])
            state.following = following
            state.isLoading = false
            return (state.pages, old)
        }
        // Released outside the lock.
        withExtendedLifetime(old) {}
        return pages
    }

    private func end(_ ticket: Ticket) {
        state.withLock { state in
            if state.generation == ticket.generation { state.isLoading = false }
        }
    }
}
