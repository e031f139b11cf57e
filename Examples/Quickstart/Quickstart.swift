import Baton
import BatonTesting
import Foundation

/// Signs in, reads a profile, fetches its orders as a batch, and prints the report.
@main
enum Quickstart {
    static func main() async {
        do {
            let options = try Options(CommandLine.arguments.dropFirst())
            if options.showsHelp { return print(Options.usage) }
            print(try await run(options))
        } catch {
            FileHandle.standardError.write(Data("quickstart: \(error)\n".utf8))
            exit(error is Options.Mistake ? 2 : 1)
        }
    }

    /// Two steps that depend on each other, and a batch that depends on both.
    static func orders(of user: String, atOnce limit: Int) -> Chain<(GetProfile.Output, Report<GetOrder.Output>)> {
        SignIn(user: user, password: "lovelace")
            .then { session in
                GetProfile(token: session.token)
                    .thenKeeping { profile in
                        Batch(profile.orderIDs.map { GetOrder(id: $0, token: session.token) }, maxConcurrency: limit)
                            .reconnect(tryBusyAgain)
                    }
            }
    }

    /// Is asked when every order has landed and some have failed: those that were unavailable are sent again.
    @Sendable
    static func tryBusyAgain(after round: Round) -> Reconnection {
        let busy = round.failures.filter { $0.error.response?.status == 503 }.map(\.index)
        return round.number < 3 ? .retry(busy, after: .milliseconds(100)) : .accept
    }

    static func run(_ options: Options) async throws -> Table {
        let timeline = Timeline()
        let table: Table
        if options.carrier == .mock {
            // Without a network there is nothing to wait for, so time is virtual too, and each run is the same.
            table = try await withVirtualTime(
                transport: Shop.mock(), baseURL: "http://shop.example",
                configure: { ($0.observers, $0.retry) = ([timeline], .none) }
            ) { client, _ in try await run(options, with: client) }
        } else {
            let shop = options.baseURL == nil ? try Shop.serve() : nil
            defer { shop?.stop() }
            let client = Client(
                baseURL: options.baseURL ?? shop?.baseURL, transport: try options.makeTransport(), retry: .none,
                observers: [timeline])
            table = try await run(options, with: client)
        }
        if let file = options.timeline { try timeline.write(to: URL(fileURLWithPath: file)) }
        return table
    }

    private static func run(_ options: Options, with client: Client) async throws -> Table {
        let run = client.start(orders(of: "ada", atOnce: options.concurrency))
        await ConsoleProgress("orders").follow(run)
        let (profile, report) = try await run.value
        return Table(requests: profile.orderIDs.map { "GET /orders/\($0)" }, report: report)
    }
}

extension Options {
    func makeTransport() throws -> (any Transport)? {
        switch carrier {
        case nil, .mock: return nil
        case .urlsession: return URLSessionTransport()
        case .curl:
            #if os(Linux)
                return try CurlTransport()
            #else
                throw Mistake(description: "--transport curl is for Linux; here it is urlsession or mock")
            #endif
        }
    }
}
