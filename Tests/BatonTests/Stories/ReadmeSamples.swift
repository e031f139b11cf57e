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

    func oneRequest() async throws {
        let client = Client(baseURL: "https://api.example.com")

        let session = try await client.run(SignIn(user: "ada", password: "…"))
        let users = try await client.run(Call("/users", as: [User].self) { $0.query = ["page": 2] })
        _ = (session, users)
    }

    func aChain(_ client: Client) async throws {
        let profile = try await client.run(
            SignIn(user: "ada", password: "…")
                .then { session in GetProfile(token: session.token) }
        )
        _ = profile
    }

    func aBatch(_ client: Client) async throws {
        let report = try await client.run(
            Batch([7, 8, 9].map(GetOrder.init), maxConcurrency: 2)
                .reconnect { round in
                    round.number < 3 ? .retry(round.failures.map(\.index), after: .seconds(1)) : .accept
                }
        )
        for success in report.successes { print(success.index, success.value.total) }
        for failure in report.failures { print(failure.index, failure.error) }
    }

    func orders(of user: String, password: String) -> Chain<Report<GetOrder.Output>> {
        SignIn(user: user, password: password)
            .then { session in GetProfile(token: session.token) }
            .then { profile in Batch(profile.orderIDs.map(GetOrder.init), maxConcurrency: 4) }
    }

    func withACompletion(_ client: Client) {
        let run = client.start(orders(of: "ada", password: "…")) { result in
            switch result {
            case .success(let report): print("\(report.successes.count) of \(report.count) orders")
            case .failure(let error): print(error)
            }
        }
        run.cancel()
    }

    @Test("Ada's order arrives, at the second attempt")
    func adasOrders() async throws {
        let mock = MockTransport()
        mock.on(SignIn.self).reply(SignIn.Output(token: "t"))
        mock.on(.get, "/profile").reply(status: 200, json: #"{"name": "Ada", "orderIDs": [7]}"#)
        mock.on(.get, "/orders/7").fail(.connectionLost).then.reply(status: 200, json: #"{"id": 7, "total": 3}"#)

        let client = Client(baseURL: "https://api.example.com", transport: mock)
        let report = try await client.run(orders(of: "ada", password: "…"))

        #expect(report[0].value?.total == 3)
        #expect(report[0].attempts == 2)
    }
}
