import Baton
import BatonTesting
import Foundation

/// Follows links across two hosts: a batch over a sequence that grows while the batch reads it.
@main
enum Crawler {
    static func main() async throws {
        let site = try Site(pages: 40)
        defer { site.stop() }

        let timeline = Timeline()
        let client = Client(observers: [timeline]) { configuration in
            configuration.maxConcurrencyPerHost = 2
            // A host that answers 429 is left alone for as long as it asks.
            configuration.pacing = ServerPacing()
        }
        let frontier = Frontier(start: site.start)
        var (pages, failures) = (0, 0)
        for try await (_, outcome) in client.stream(Batch(frontier.plans, maxConcurrency: 6)) {
            frontier.visited(outcome.value)
            if outcome.value == nil { failures += 1 } else { pages += 1 }
        }
        print(timeline.text(maxRows: 24))
        print("\(pages) pages read, \(failures) failed, at most \(site.mostAtOnce) at one host at once")
        guard pages == 40, failures == 1, site.mostAtOnce <= 2 else { exit(1) }
    }
}

/// A page and where it leads.
struct Page: Codable, Response {
    let title: String
    let links: [String]
}

/// Which pages are still to be read. It ends when nothing is under way and nothing is left.
final class Frontier: Sendable {
    let plans: AsyncStream<Call<Page>>
    private let input: AsyncStream<Call<Page>>.Continuation
    private let lock = NSLock()
    private nonisolated(unsafe) var seen: Set<String> = []
    private nonisolated(unsafe) var open = 0

    init(start: String) {
        (plans, input) = AsyncStream.makeStream()
        add([start])
    }

    private func add(_ links: [String]) {
        let new = lock.withLock { () -> [String] in
            let new = links.filter { seen.insert($0).inserted }
            open += new.count
            return new
        }
        for link in new { input.yield(Call(link)) }
    }

    /// A page was read, or could not be.
    func visited(_ page: Page?) {
        add(page?.links ?? [])
        let isOver = lock.withLock {
            open -= 1
            return open == 0
        }
        if isOver { input.finish() }
    }
}
