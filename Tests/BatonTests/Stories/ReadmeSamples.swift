import Baton
import BatonTesting
import Testing

/// The samples of the README and of the documentation, line by line, so that they compile; `.ci/samples` compares.
@Suite("The README's samples")
struct ReadmeSamples {
    struct SignIn: Request {
        struct Output: Codable, Response { let token: String }
        let user, password: String
        var method: HTTPMethod { .post }
        var path: String { "/sign-in" }
        var body: HTTPBody { .json(["user": user, "password": password]) }
    }

    struct GetProfile: Request {
        struct Output: Codable, Response { let name: String, orderIDs: [Int] }
        let token: String
        var path: String { "/profile" }
        var fields: HTTPFields { ["Authorization": "Bearer \(token)"] }
    }

    struct GetOrder: Request {
        struct Output: Codable, Response { let id, total: Int }
        let id: Int
        var path: String { "/orders/\(id)" }
    }

    struct User: Codable, Response { let name: String }

    func oneRequest(_ client: Client) async throws {
        struct GetOrder: Request {
            struct Output: Codable, Response { let id, total: Int }
            let id: Int
            var path: String { "/orders/\(id)" }
        }

        let users = try await client.run(Call("/users", as: [User].self) { $0.query = ["page": 2] })
        _ = (users, GetOrder(id: 7))
    }

    func both(_ client: Client) async throws {
        let report = try await client.run(
            SignIn(user: "ada", password: "…")
                .then { session in GetProfile(token: session.token) }
                .then { profile in
                    Batch(profile.orderIDs.map(GetOrder.init), maxConcurrency: 4)
                        .reconnect { round in
                            round.number < 3 ? .retry(round.failures.map(\.index), after: .seconds(1)) : .accept
                        }
                }
        )
        for failure in report.failures { print(failure.index, failure.error) }
    }

    @Test("Ada's order arrives, at the second attempt")
    func adasOrder() async throws {
        let mock = MockTransport()
        mock.on(SignIn.self).reply(SignIn.Output(token: "t"))
        mock.on(.get, "/orders/7").fail(.connectionLost).then.reply(status: 200, json: #"{"id": 7, "total": 3}"#)
        try await withVirtualTime(transport: mock) { client, _ in
            let order = try await client.run(SignIn(user: "ada", password: "…").then { _ in GetOrder(id: 7) })
            #expect(order.total == 3)
        }
    }
}
