import Baton
import BatonTesting

/// The shop that the quickstart talks to: an account, a profile and twelve orders. It answers over HTTP from a server
/// inside this process, or from memory.
enum Shop {
    /// What a path answers, in order; the last answer stays.
    struct Route: Sendable {
        let method: HTTPMethod
        let path: String
        let answers: [(status: Int, json: String)]
    }

    static let routes: [Route] = {
        let ids = Array(101...112)
        let account = [
            Route(method: .post, path: "/sign-in", answers: [(200, #"{"token": "t-1"}"#)]),
            Route(method: .get, path: "/profile", answers: [(200, #"{"name": "Ada", "orderIDs": \#(ids)}"#)]),
        ]
        return account + ids.map { Route(method: .get, path: "/orders/\($0)", answers: answers(for: $0)) }
    }()

    /// Two orders are unavailable once, one does not exist.
    private static func answers(for id: Int) -> [(status: Int, json: String)] {
        let order = (200, #"{"id": \#(id), "total": \#(id * 3)}"#)
        return switch id {
        case 104, 109: [(503, #"{"error": "busy"}"#), order]
        case 107: [(404, #"{"error": "no such order"}"#)]
        default: [order]
        }
    }

    /// How long an answer takes: long enough to watch, and not always the same.
    private static func delay(of route: Route) -> Duration {
        .milliseconds(40 + route.path.utf8.reduce(0, { $0 + Int($1) * 7 }) % 40)
    }

    /// The shop on 127.0.0.1.
    static func serve() throws -> LoopbackServer {
        let server = try LoopbackServer()
        for route in routes {
            server.on(
                route.method, route.path,
                route.answers.map { .json($0.json, status: $0.status).delayed(by: delay(of: route)) })
        }
        return server
    }

    /// The shop without a network.
    static func mock() -> MockTransport {
        let mock = MockTransport()
        for route in routes {
            let stub = mock.on(route.method, route.path)
            for answer in route.answers {
                stub.reply(status: answer.status, json: answer.json, after: delay(of: route))
            }
        }
        return mock
    }
}
