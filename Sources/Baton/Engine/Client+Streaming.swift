extension Client {
    /// Runs a batch and yields each item as it ends, without keeping it.
    ///
    /// ```swift
    /// for try await (index, outcome) in client.stream(Batch(hugeSequence, maxConcurrency: 64)) { … }
    /// ```
    /// The run begins when the loop does, and ends with it: leaving the loop early cancels what is under way. A reader that
    /// is slow holds the batch up, because at most as many items as may run at once are kept for it. A failed item is an
    /// outcome; the loop throws when the batch is cancelled or does not meet its failure policy.
    public func stream<Item>(_ batch: Batch<Item>, order: StreamOrder = .completion) -> BatchStream<Item> {
        BatchStream(client: self, batch: batch, order: order)
    }

    /// Reads pages one after the other, each when it is asked for.
    public func stream<P: Plan>(_ pages: Pages<P>) -> PageStream<P> {
        PageStream(client: self, pages: pages)
    }
}

/// The items of a batch as they end. Each loop over it is a run of its own.
public struct BatchStream<Item: Sendable>: AsyncSequence, Sendable {
    public typealias Element = (index: Int, outcome: Outcome<Item>)

    let client: Client
    let batch: Batch<Item>
    let order: StreamOrder

    public func makeAsyncIterator() -> Iterator {
        Iterator(self)
    }

    /// Reads the items of one run, which ends with it.
    public struct Iterator: AsyncIteratorProtocol {
        private let run: StreamRun<Item>

        fileprivate init(_ stream: BatchStream) {
            run = StreamRun(stream)
        }

        public mutating func next() async throws -> Element? { try await run.next() }
    }
}

/// One run that is read; it is cancelled when nobody reads it any more.
private final class StreamRun<Item: Sendable>: Sendable {
    private let results: StreamResults
    private let core: RunCore
    private let client: Client

    init(_ stream: BatchStream<Item>) {
        client = stream.client
        let results = StreamResults(
            start: client.engine.scheduler.now, order: stream.order,
            concurrency: stream.batch.definition.maxConcurrency,
            accepts: { Erased.value($0, as: Item.self) != nil })
        self.results = results
        var description = stream.batch.definition
        description.makeResults = { _ in results }
        core = client.launch(Chain<Void>(node: _PlanNode(content: .batch(description)))) { result in
            results.finish(result.map { _ in })
        }
    }

    deinit { core.cancel() }

    func next() async throws(BatonError) -> BatchStream<Item>.Element? {
        if Task.isCancelled { core.cancel() }
        while true {
            switch results.take() {
            case .item(let item): return (item.index, results.outcome(of: item, as: Item.self))
            case .end(let result):
                try result.get()
                return nil
            case .wait:
                await withTaskCancellationHandler {
                    await results.news(client.engine.scheduler)
                } onCancel: {
                    core.cancel()
                }
            }
        }
    }
}

/// The pages of a list, one after the other. Each loop over it reads from the first one.
public struct PageStream<P: Plan>: AsyncSequence, Sendable {
    public typealias Element = P.Output

    let client: Client
    let pages: Pages<P>

    public func makeAsyncIterator() -> Iterator {
        Iterator(client: client, pages: pages)
    }

    /// Reads pages, each when it is asked for.
    public struct Iterator: AsyncIteratorProtocol {
        private let client: Client
        private let pages: Pages<P>
        private let cursor = PageCursor<Void>()
        private var following: P?
        private var isFirst = true
        private var isOver = false

        fileprivate init(client: Client, pages: Pages<P>) {
            self.client = client
            self.pages = pages
        }

        public mutating func next() async throws -> P.Output? {
            if isOver { return nil }
            guard let plan = isFirst ? pages.first : following, pages.maxPages > 0 else { return nil }
            isFirst = false
            // After an error there is nothing more.
            isOver = true
            let page = try await client.run(PageOnce(plan: plan, isNew: cursor.isNew))
            let count = cursor.add((), size: pages.items(in: page))
            following = try pages.following(page, pages: count, items: cursor.items)
            isOver = following == nil
            return page
        }
    }
}
