import Baton
import BatonTesting
import Foundation

/// Signs in, loses the session in the middle of a batch, gets a new one once for everybody, and goes on.
@main
enum LoginChain {
    static func main() async throws {
        let service = try MailService()
        defer { service.stop() }

        // The store is empty until somebody has signed in; the interceptor puts what it holds on each attempt.
        let store = InMemoryCredentialStore<BearerToken>()
        let refreshes = Counter()
        let authentication = Authentication(store) { old, client in
            refreshes.increment()
            return try await client.run(Refresh(token: old.refreshToken ?? ""))
        }
        let client = Client(
            baseURL: service.baseURL, retry: RetryPolicy(backoff: .constant(.milliseconds(20))),
            interceptors: [authentication])

        let plan = SignIn(user: "ada", password: "lovelace")
            .then { token in
                store.write(token)
                return GetInbox()
            }
            .thenKeeping { inbox in Batch(inbox.messages.map(GetMessage.init), maxConcurrency: 4) }

        print(plan, terminator: "\n\n")
        let run = client.start(plan)
        let (inbox, messages) = try await run.value

        for step in run.trace.steps { print("\(step.path): \(step.request), \(step.attempts) attempts") }
        print("\(inbox.messages.count) messages, \(messages.successes.count) read, \(refreshes.count) refresh")
        for message in messages.successes { print("  \(message.index + 1): \(message.value.subject)") }
        guard messages.allSucceeded, refreshes.count == 1 else { exit(1) }
    }
}

struct SignIn: Request {
    typealias Output = BearerToken
    let user, password: String
    var method: HTTPMethod { .post }
    var path: String { "/sign-in" }
    var body: HTTPBody { .json(["user": user, "password": password]) }
}

struct Refresh: Request {
    typealias Output = BearerToken
    let token: String
    var method: HTTPMethod { .post }
    var path: String { "/refresh" }
    var body: HTTPBody { .json(["refreshToken": token]) }
}

struct GetInbox: Request {
    struct Output: Codable, Response { let messages: [Int] }
    var path: String { "/inbox" }
}

struct GetMessage: Request {
    struct Output: Codable, Response { let subject: String }
    let id: Int
    var path: String { "/messages/\(id)" }
}

/// Counts, from any thread.
final class Counter: Sendable {
    private let lock = NSLock()
    private nonisolated(unsafe) var value = 0

    func increment() { lock.withLock { value += 1 } }
    var count: Int { lock.withLock { value } }
}
