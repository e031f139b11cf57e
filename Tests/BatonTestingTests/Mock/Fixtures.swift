import Baton
import BatonTesting
import Foundation

struct SignIn: Request {
    struct Output: Codable, Response, Equatable { let token: String }
    var user = "ada"
    var method: HTTPMethod { .post }
    var path: String { "/sign-in" }
    var body: HTTPBody { .json(["user": user]) }
}

struct Order: Codable, Response, Equatable { let total: Int }

struct GetOrder: Request {
    typealias Output = Order
    let id: Int
    var path: String { "/orders/\(id)" }
}

extension Client {
    /// A client of a mock, that sends everything once.
    convenience init(_ transport: any Transport, base: String = "https://api.example.com", attempts: Int = 1) {
        self.init(baseURL: base, transport: transport, retry: RetryPolicy(attempts: attempts))
    }

    /// The error of a run that has to fail.
    func error<P: Plan>(of plan: P) async -> BatonError? {
        do throws(BatonError) {
            _ = try await run(plan)
            return nil
        } catch {
            return error
        }
    }
}
