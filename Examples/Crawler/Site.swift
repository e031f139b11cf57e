import Baton
import BatonTesting
import Foundation

/// Pages on two hosts that link to each other. One link leads nowhere, and one host asks once to be left alone.
final class Site: Sendable {
    private let servers: [LoopbackServer]
    let start: String

    init(pages: Int) throws {
        let servers = [try LoopbackServer(), try LoopbackServer()]
        self.servers = servers
        let bases = servers.map(\.baseURL)
        start = bases[0] + "/page/0"
        for (number, server) in servers.enumerated() {
            server.on(.get, "/page/*") { request in
                guard let page = Int(request.path.dropFirst(6)), page < pages else { return .status(404) }
                // Each page leads to two more, and the last ones to one that is missing.
                let links = [2 * page + 1, 2 * page + 2].map { min($0, pages) }.map { "\(bases[$0 % 2])/page/\($0)" }
                let list = links.map { "\"\($0)\"" }.joined(separator: ", ")
                return .json(#"{"title": "Page \#(page)", "links": [\#(list)]}"#)
                    .delayed(by: .milliseconds(15 + number * 10))
            }
        }
        servers[1].enqueue(.status(429, fields: [.retryAfter: "1"]))
    }

    func stop() { for server in servers { server.stop() } }

    /// The most connections that one host saw, which is at least the most requests at once.
    var mostAtOnce: Int {
        servers.map { server in Set(server.requests.map(\.connection)).count }.max() ?? 0
    }
}
