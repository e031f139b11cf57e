import Baton

/// Signs in. The token that comes back is what the other requests need.
struct SignIn: Request {
    struct Output: Codable, Response { let token: String }
    let user, password: String
    var method: HTTPMethod { .post }
    var path: String { "/sign-in" }
    var body: HTTPBody { .json(["user": user, "password": password]) }
}

/// Reads who is signed in, and the numbers of their orders.
struct GetProfile: Request {
    struct Output: Codable, Response { let name: String, orderIDs: [Int] }
    let token: String
    var path: String { "/profile" }
    var fields: HTTPFields { [.authorization: "Bearer \(token)"] }
}

/// Reads one order.
struct GetOrder: Request {
    struct Output: Codable, Response { let id, total: Int }
    let id: Int
    let token: String
    var path: String { "/orders/\(id)" }
    var fields: HTTPFields { [.authorization: "Bearer \(token)"] }
}
