import Baton
import BatonTesting
import Foundation

/// What the stories' apps have to do with: a shop with people, orders and a list of them.
enum Shop {
    struct Session: Codable, Response, Equatable { let token: String }
    struct Profile: Codable, Response, Equatable { let name: String, orderIDs: [Int] }
    struct Order: Codable, Response, Equatable { let id: Int }

    struct SignIn: Request {
        typealias Output = Session
        let user, password: String
        var method: HTTPMethod { .post }
        var path: String { "/sign-in" }
        var body: HTTPBody { .json(["user": user, "password": password]) }
    }

    struct GetProfile: Request {
        typealias Output = Profile
        let token: String
        var path: String { "/profile" }
        var fields: HTTPFields { ["Authorization": "Bearer \(token)"] }
    }

    struct GetOrder: Request {
        typealias Output = Order
        let id: Int
        var options = RequestOptions()
        var path: String { "/orders/\(id)" }

        init(id: Int) { self.id = id }
    }

    /// Everything is there at once; order 404 is not, and 500 to 599 fail with their number.
    static func open() -> MockTransport {
        let mock = MockTransport()
        mock.on(SignIn.self).reply(Session(token: "t"))
        mock.on(.get, "/profile").reply(Profile(name: "Ada", orderIDs: [7, 8, 9]))
        mock.on(.get, pattern: "/orders/*").anyQuery().reply { request in
            let number = request.number ?? 0
            if number == 404 || (500..<600).contains(number) { return .status(number, #"{"code": 77}"#) }
            return .status(200, "{\"id\": \(number)}")
        }
        mock.on(.get, "/orders").anyQuery().reply([Order(id: 7), Order(id: 8)])
        return mock
    }
}

/// A suite of stories in one shop each.
protocol ShopStory {
    var mock: MockTransport { get }
}

extension ShopStory {
    /// A story, with a client of the shop and under virtual time.
    func run(
        _ configure: (inout Client.Configuration) -> Void = { _ in },
        _ body: @escaping @Sendable (Client, VirtualClock) async throws -> Void
    ) async throws {
        try await withVirtualTime(transport: mock, configure: configure, body)
    }
}
