import Baton
import BatonTesting
import Foundation

/// A mail service whose first session ends after four requests, and whose inbox is busy the first time.
final class MailService: Sendable {
    private let server: LoopbackServer
    private let uses = Counter()

    var baseURL: String { server.baseURL }

    init() throws {
        server = try LoopbackServer()
        server.on(.post, "/sign-in", .json(#"{"accessToken": "first", "refreshToken": "more"}"#))
        server.on(.post, "/refresh") { request in
            guard String(decoding: request.body, as: UTF8.self).contains("more") else { return .status(401) }
            return .json(#"{"accessToken": "second", "refreshToken": "even more"}"#)
        }
        let inbox = Counter()
        server.on(.get, "/inbox") { [uses] request in
            guard Self.isSignedIn(request, uses) else { return .status(401) }
            inbox.increment()
            return inbox.count == 1 ? .status(503) : .json(#"{"messages": [1, 2, 3, 4, 5, 6, 7, 8]}"#)
        }
        server.on(.get, "/messages/*") { [uses] request in
            guard Self.isSignedIn(request, uses) else { return .status(401) }
            return .json(#"{"subject": "About \#(request.path.dropFirst(10))"}"#).delayed(by: .milliseconds(20))
        }
    }

    func stop() { server.stop() }

    /// The first token is good for four requests.
    private static func isSignedIn(_ request: LoopbackServer.ReceivedRequest, _ uses: Counter) -> Bool {
        switch request.fields[.authorization] {
        case "Bearer second": return true
        case "Bearer first":
            uses.increment()
            return uses.count <= 4
        default: return false
        }
    }
}
