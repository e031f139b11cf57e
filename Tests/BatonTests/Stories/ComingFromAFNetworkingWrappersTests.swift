import Baton
import BatonTesting
import Foundation
import Testing

private typealias Profile = Shop.Profile
private typealias Order = Shop.Order
private typealias GetProfile = Shop.GetProfile
private typealias GetOrder = Shop.GetOrder

/// A module's requests, each with its model.
private enum Orders {
    struct Get: Request {
        typealias Output = Shop.Order
        let id: Int
        var path: String { "/orders/\(id)" }
    }
    struct Delete: Request {
        typealias Output = EmptyResponse
        let id: Int
        var method: HTTPMethod { .delete }
        var path: String { "/orders/\(id)" }
    }
}

/// An owner of requests.
private final class Screen: Sendable {
    let scope = CancellationScope()

    func load(_ client: Client, _ told: Record<String>) {
        for id in 1...3 {
            client.start(GetOrder(id: id), in: scope) { result in
                if case .failure(let error) = result { told.add("\(error.code)") }
            }
        }
    }
}

/// Each row of the page's tables, run.
@Suite("Coming from wrappers of AFNetworking") struct ComingFromAFNetworkingWrappersTests: ShopStory {
    let mock = Shop.open()
    private let presenter = RecordingPresenter()
    private let told = Record<String>()
    private let store = InMemoryCredentialStore(BearerToken("old", refreshToken: "R"))

    // MARK: Configuration in layers

    @Test("Configuration objects in layers: the nearest one holds, field by field")
    func layers() async throws {
        mock.on(.get, pattern: "/orders/*").reply(Order(id: 1), after: .seconds(100))
        try await run {
            $0.timeout = .seconds(15)
            $0.fields = ["request-type": "ios"]
            $0.retry = .none
        } _: { [mock] client, clock in
            func elapsed(_ plan: some Plan) async throws -> Duration {
                let start = clock.elapsed
                do { _ = try await client.run(plan) } catch { #expect(error.code == .timedOut) }
                return clock.elapsed - start
            }
            var request = GetOrder(id: 7)
            let client = try await elapsed(request)
            let plan = try await elapsed(request.timeout(.seconds(20)))
            request.options.timeout = .seconds(5)
            let own = try await elapsed(request.timeout(.seconds(20)))
            #expect([client, plan, own] == [.seconds(15), .seconds(20), .seconds(5)])
            #expect(mock.calls.allSatisfy { $0.fields["request-type"] == "ios" })
        }
    }

    @Test("Load configuration: shown unless a request says otherwise, where it says")
    func load() async throws {
        let presenter = presenter
        try await run {
            $0.observers = [LoadingIndicator(presenter, delay: .zero)]
        } _: { client, clock in
            var request = GetOrder(id: 7)
            request.options.presentation = Presentation(loading: .hidden)
            _ = try await client.run(request)
            await clock.run()
            #expect(presenter.calls.isEmpty)
            request.options.presentation = Presentation(in: "cart")
            _ = try await client.run(request)
            await clock.run()
            #expect(presenter.calls == [.showLoading("cart"), .hideLoading("cart")])
        }
    }

    @Test("Error configuration: a text for the user, unless a request says otherwise")
    func errors() async throws {
        let presenter = presenter
        try await run {
            $0.observers = [Notices(presenter)]
            $0.retry = .none
        } _: { client, clock in
            var request = GetOrder(id: 404)
            _ = await client.start(request).outcome
            request.options.presentation = Presentation(errors: .hidden)
            _ = await client.start(request).outcome
            await clock.run()
            #expect(presenter.notices.map(\.status) == [404])
        }
    }

    @Test("Success rule: of the client, and another one or none of a request")
    func successRule() async throws {
        struct Refused: Error {}
        mock.on(.get, "/orders/7").reply(fields: ["X-Outcome": "refused"], json: #"{"id": 7}"#)
        try await run {
            $0.validation = Validation { response in
                if response.fields["X-Outcome"] == "refused" { throw Refused() }
            }
        } _: { client, _ in
            var request = GetOrder(id: 7)
            let error = try await failure { try await client.run(request) }
            #expect(error.code == .validationFailed && error.underlying is Refused)
            request.options.validation = Validation()
            check(try await client.run(request).id == 7)
        }
    }

    @Test("Automatic cancel: what an owner had under way stops when it goes away")
    func owner() async throws {
        mock.on(.get, pattern: "/orders/*").reply(Order(id: 1), after: .seconds(10))
        try await run { [mock, told] client, clock in
            var screen: Screen? = Screen()
            screen?.load(client, told)
            await clock.settle()
            #expect(mock.inFlight == 3)
            screen = nil
            await clock.settle()
            #expect(told.all == ["cancelled", "cancelled", "cancelled"])
            #expect(clock.elapsed == .zero)
            #expect(screen == nil)
        }
    }

    @Test("Files of a request: multipart where it is wanted, and only there")
    func files() async throws {
        mock.on(.post, pattern: "/**").reply { request in .status(200, request.fields[.contentType] ?? "") }
        try await run { client, _ in
            var call = Call("/photos", method: .post, as: String.self)
            call.body = .json(["title": "Sea"])
            check(try await client.run(call) == "application/json")
            call.body = .multipart([.text("title", "Sea"), .data("photo", Data("…".utf8), filename: "sea.jpg")])
            check(try await client.run(call).hasPrefix("multipart/form-data"))
        }
    }

    #if os(Linux)
        @Test("Pinning options: a fault in them is reported, and none is left without effect")
        func pinning() async throws {
            var curl = CurlTransport.Configuration()
            curl.pinnedPublicKeys = ["no key"]
            let error = try await failure { [curl] in try CurlTransport(configuration: curl) }
            #expect(error.code == .invalidConfiguration)
        }
    #endif

    // MARK: Modules and models

    @Test("A request class for each module, with its model class: a type for each request")
    func modules() async throws {
        mock.on(.delete, "/orders/7").reply(status: 204)
        try await run { client, _ in
            let order = try await client.run(Orders.Get(id: 7))
            #expect(order == Order(id: 7))
            _ = try await client.run(Orders.Delete(id: 7))
        }
    }

    @Test("A list under a key: a type that says so")
    func list() async throws {
        struct OrderList: Codable, Response { let result: [Order] }
        mock.on(.get, "/list").reply(json: #"{"result": [{"id": 1}, {"id": 2}]}"#)
        try await run { client, _ in
            let orders = try await client.run(Call("/list", as: OrderList.self).map(\.result))
            #expect(orders.map(\.id) == [1, 2])
        }
    }

    @Test("Four outcomes: success, a warning, a failure, and a token that has ended; each of them happens")
    func outcomes() async throws {
        let envelope = Envelope(payload: "result", failures: [30_001: .warn("That is sold out."), 100_010: .signIn()])
        let bodies = [
            #"{"code": 0, "result": {"id": 7}}"#, #"{"code": 30001}"#, #"{"code": 5, "message": "No."}"#,
            #"{"code": 100010}"#,
        ]
        for (number, body) in bodies.enumerated() { mock.on(.get, "/outcomes/\(number)").reply(json: body) }
        try await run {
            $0.envelope = envelope
        } _: { [told] client, _ in
            for number in bodies.indices {
                do throws(BatonError) {
                    let order = try await client.run(Call("/outcomes/\(number)", as: Order.self))
                    told.add("order \(order.id)")
                } catch {
                    switch error.business?.action {
                    case .warn: told.add("warn: \(error.business?.message ?? "")")
                    case .signIn: told.add("sign in")
                    default: told.add("failure: \(error.business?.message ?? "\(error)")")
                    }
                }
            }
            #expect(told.all == ["order 7", "warn: That is sold out.", "failure: No.", "sign in"])
        }
    }

    @Test("Activity indicator: hidden on every outcome", arguments: [7, 404, 0])
    func activity(id: Int) async throws {
        mock.on(.get, "/orders/0").reply(json: "nonsense")
        let presenter = presenter
        try await run {
            $0.observers = [LoadingIndicator(presenter, delay: .zero)]
            $0.retry = .none
        } _: { client, clock in
            _ = await client.start(GetOrder(id: id)).outcome
            await clock.run()
            #expect(presenter.calls == [.showLoading(nil), .hideLoading(nil)])
        }
    }

    @Test("Logs of URL and response: an observer, without secrets")
    func logs() async throws {
        let told = told
        try await run {
            $0.observers = [RequestLogger(.trace, to: LogSink { told.add($1) })]
        } _: { client, clock in
            _ = try await client.run(GetProfile(token: "S3CRET"))
            await clock.settle()
            let log = told.all.joined(separator: "\n")
            #expect(log.contains("/profile") && log.contains("Ada") && !log.contains("S3CRET"))
        }
    }

    // MARK: A shared client

    /// The server takes the token `new`, and renews the old one unless it is told not to.
    private func serveTokens(status: Int = 401, renews: Bool = true) {
        mock.on(.get, pattern: "/orders/*").reply { request in
            request.fields[.authorization] == "Bearer new" ? .status(200, #"{"id": 1}"#) : .status(status)
        }
        mock.on(.post, "/refresh").reply(status: renews ? 200 : 401, json: #"{"accessToken": "new"}"#)
    }

    @Test("Token header: on each attempt, from one place")
    func token() async throws {
        let store = store
        store.write(BearerToken("new"))
        serveTokens()
        try await run {
            $0.interceptors = [Authentication(store) { old, _ in old }]
        } _: { client, _ in
            check(try await client.run(GetOrder(id: 7)).id == 1)
        }
    }

    @Test("401, refresh, replay: one refresh, and the callbacks are those of the first request")
    func replay() async throws {
        serveTokens()
        let store = store
        try await run {
            $0.interceptors = [
                Authentication(store) { old, client in
                    try await client.run(
                        Call("/refresh", method: .post, as: BearerToken.self) {
                            $0.body = .form(["token": .string(old.refreshToken ?? "")])
                        })
                }
            ]
        } _: { [mock, told] client, clock in
            for id in 1...5 {
                client.start(GetOrder(id: id)) { result in told.add((try? result.get()) == nil ? "failed" : "there") }
            }
            await clock.run()
            #expect(told.all == Array(repeating: "there", count: 5))
            #expect(mock.calls(.post, "/refresh").count == 1)
        }
    }

    @Test("Code extraction: a number beside the answer, whatever the status")
    func codeExtraction() async throws {
        mock.on(.get, "/orders/1").reply(status: 400, json: #"{"code": "4711", "message": "No."}"#)
        try await run {
            $0.envelope = Envelope()
            $0.retry = .none
        } _: { client, _ in
            let error = try await failure { try await client.run(GetOrder(id: 1)) }
            #expect(error.business?.code.int == 4_711)
            #expect(error.response?.status == 400)
        }
    }

    @Test("402, forced sign-out: the token goes, the app is told once, the caller too")
    func signOut() async throws {
        serveTokens(status: 402)
        let (store, told) = (store, told)
        try await run {
            $0.interceptors = [
                Authentication(store) { options in
                    options.judge = { $0.status == 402 ? .signOut : $0.status == 401 ? .refresh : .accept }
                    options.onSignInNeeded = { _ in told.add("sign in") }
                } refresh: { old, _ in
                    old
                }
            ]
        } _: { client, _ in
            for _ in 1...2 {
                check(try await failure { try await client.run(GetOrder(id: 7)) }.response?.status == 402)
            }
            #expect(told.all == ["sign in"])
            #expect(store.read() == nil)
        }
    }

    // MARK: Requests by block

    @Test("A request filled by a block: the same, as a value")
    func block() async throws {
        mock.on(.post, "/orders").body(json: #"{"item": 3}"#).reply(Order(id: 1))
        try await run { client, _ in
            let order = try await client.run(
                Call("/orders", as: Order.self) {
                    $0.method = .post
                    $0.body = .json(["item": 3])
                })
            #expect(order.id == 1)
        }
    }

    @Test("Nested GET parameters: joined with what the path has")
    func nested() async throws {
        try await run { [mock] client, _ in
            _ = try await client.run(
                Call("/orders?page=1", as: [Order].self) { $0.query = ["info": [1, 2], "who": ["name": "Ada"]] })
            #expect(mock.calls.first?.query == "page=1&info%5B%5D=1&info%5B%5D=2&who%5Bname%5D=Ada")
        }
    }

    @Test("Parameters as an untyped dictionary: accepted, and what cannot be sent is an error")
    func untyped() async throws {
        mock.on(.post, "/orders").body(json: #"{"item": 3, "note": null}"#).reply(Order(id: 1))
        let parameters: [String: Any] = ["item": 3, "note": NSNull()]
        let body = try HTTPBody.json(untyped: parameters)
        #expect(throws: (any Error).self) { try HTTPBody.json(untyped: ["clock": ContinuousClock()]) }
        try await run { client, _ in
            let order = try await client.run(Call("/orders", method: .post, as: Order.self) { $0.body = body })
            #expect(order.id == 1)
        }
    }

    @Test("Default headers, Content-Type and timeout: the client's, unless the request has its own")
    func defaults() async throws {
        mock.on(.post, "/orders").reply(Order(id: 1), after: .seconds(40))
        try await run {
            $0.fields = ["Accept": "application/json", "X-App": "7"]
            $0.timeout = .seconds(30)
        } _: { [mock] client, clock in
            let call = Call("/orders", method: .post, as: Order.self) {
                $0.fields = ["Accept": "*/*", "Content-Type": "application/vnd.shop+json"]
                $0.body = .json(["item": 3])
            }
            check(try await failure { try await client.run(call) }.code == .timedOut)
            let fields = mock.calls.first?.fields ?? [:]
            #expect(fields["Accept"] == "*/*" && fields["X-App"] == "7")
            #expect(fields.values(for: .contentType) == ["application/vnd.shop+json"])
        }
    }

    @Test("Answers and errors as text: outputs and descriptions")
    func text() async throws {
        try await run {
            $0.retry = .none
        } _: { client, _ in
            check(try await client.run(Call("/orders/7", as: String.self)) == #"{"id": 7}"#)
            let error = try await failure { try await client.run(GetOrder(id: 404)) }
            #expect(error.description.hasPrefix("unacceptableStatus: the server answered 404"))
        }
    }
}
