import Baton
import BatonTesting
import Dispatch
import Testing

/// Every form in which the design says a caller writes: each compiles, runs and yields what it should.
@Suite("Call sites")
struct CallSites {
    // MARK: What the callers have

    struct Session: Codable, Response, Equatable {
        let token: String
        var isAdmin = false
        var isActive = true
        var cached: Page?
    }
    struct Profile: Codable, Response, Equatable { let name: String, orderIDs: [Int] }
    struct Order: Codable, Response, Equatable { let id: Int }
    struct Page: Codable, Response, Equatable {
        let title: String
        var next: String?
    }
    struct User: Codable, Response, Equatable { let name: String }
    struct Status: Codable, Response, Equatable { let done: Bool }

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
        var path: String { "/orders/\(id)" }
    }
    struct GetHome: Request {
        enum Kind: String, Sendable { case admin, user }
        typealias Output = Page
        let kind: Kind
        init(_ kind: Kind) { self.kind = kind }
        var path: String { "/home/\(kind.rawValue)" }
    }
    struct AdminHome: Request {
        typealias Output = Page
        var path: String { "/home/admin" }
    }
    struct Home: Request {
        typealias Output = Page
        var path: String { "/home/user" }
    }
    struct ListPages: Request {
        typealias Output = Page
        var cursor: String?
        var path: String { "/pages" }
        var query: QueryParameters { cursor.map { ["cursor": .init(stringLiteral: $0)] } ?? [:] }
    }
    struct GetStatus: Request {
        typealias Output = Status
        var path: String { "/status" }
    }
    /// A plan of one's own.
    struct OpenShop: Plan {
        let user: String
        var chain: Chain<Profile> {
            SignIn(user: user, password: "…").then { session in GetProfile(token: session.token) }
        }
    }

    let mock = MockTransport()
    let client: Client

    init() {
        client = Client(baseURL: "https://api.example.com", transport: mock, retry: .none)
        mock.on(SignIn.self).reply(Session(token: "t"))
        mock.on(.get, "/profile").reply(status: 200, json: #"{"name": "Ada", "orderIDs": [7, 8, 9]}"#)
        for id in 7...9 { mock.on(.get, "/orders/\(id)").reply(status: 200, json: #"{"id": \#(id)}"#) }
        mock.on(.get, "/home/admin").reply(Page(title: "admin"))
        mock.on(.get, "/home/user").reply(Page(title: "user"))
        mock.on(.get, "/users").query(["page": 2]).reply(status: 200, json: #"[{"name": "Ada"}]"#)
        mock.on(.get, "/pages").reply(Page(title: "1", next: "b"))
        mock.on(.get, "/pages").query(["cursor": "b"]).reply(Page(title: "2"))
    }

    // MARK: Requests

    @Test("One request, with a type of its own or without")
    func requests() async throws {
        let session = try await client.run(SignIn(user: "ada", password: "…"))
        let users = try await client.run(Call("/users", as: [User].self) { $0.query = ["page": 2] })
        #expect(session.token == "t")
        #expect(users == [User(name: "Ada")])
    }

    // MARK: Chains

    @Test("A chain whose last step is a batch")
    func chainAndBatch() async throws {
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
        #expect(report.values == [Order(id: 7), Order(id: 8), Order(id: 9)])
    }

    private var signIn: SignIn { SignIn(user: "ada", password: "…") }

    @Test("A branch between requests of one type")
    func branch() async throws {
        let page = try await client.run(
            signIn.then { s in if s.isAdmin { return GetHome(.admin) } else { return GetHome(.user) } })
        #expect(page.title == "user")
    }

    @Test("A branch between requests of different types")
    func branchOfTypes() async throws {
        let page = try await client.run(
            signIn.then { s -> any Plan<Page> in if s.isAdmin { return AdminHome() } else { return Home() } })
        #expect(page.title == "user")
    }

    @Test("A branch between different types, after something that was awaited")
    func asyncBranchOfTypes() async throws {
        let page = try await client.run(
            signIn.then { s -> any Plan<Page> in
                await Task.yield()
                if s.isAdmin { return AdminHome() } else { return Home() }
            })
        #expect(page.title == "user")
    }

    @Test("A value that is there already takes the place of a request")
    func value() async throws {
        let page = try await client.run(
            signIn.then { s in s.cached.map { .value($0) } ?? GetHome(.user).chain })
        #expect(page.title == "user")
    }

    @Test("nil ends the chain")
    func optional() async throws {
        let profile = try await client.run(
            signIn.then { s -> GetProfile? in
                guard s.isAdmin else { return nil }
                return GetProfile(token: s.token)
            })
        #expect(profile == nil)
        let other = try await client.run(
            signIn.then { s -> GetProfile? in
                guard s.isActive else { return nil }
                return GetProfile(token: s.token)
            })
        #expect(other?.name == "Ada")
    }

    @Test("A closure may await")
    func asyncDerive() async throws {
        let disk = Record<String>()
        @Sendable func save(_ session: Session) async throws { disk.add(session.token) }
        let profile = try await client.run(
            signIn.then { s in
                try await save(s)
                return GetProfile(token: s.token)
            })
        #expect(profile.name == "Ada")
        #expect(disk.all == ["t"])
    }

    @Test("An earlier value is kept, at once or after something that was awaited")
    func keeping() async throws {
        let (session, profile) = try await client.run(
            signIn.thenKeeping { session in GetProfile(token: session.token) })
        #expect(session.token == "t")
        #expect(profile.name == "Ada")
        let (_, later) = try await client.run(
            signIn.thenKeeping { session in
                await Task.yield()
                return GetProfile(token: session.token)
            })
        #expect(later == profile)
    }

    @Test("Independent parts at the same time")
    func parts() async throws {
        let (profile, page, order) = try await client.run(zip(GetProfile(token: "t"), Home(), GetOrder(id: 7)))
        #expect(profile.name == "Ada")
        #expect(page.title == "user")
        #expect(order.id == 7)
    }

    @Test("Pages, and polling")
    func pagesAndPolling() async throws {
        let pages = try await client.run(Pages(ListPages()) { page in page.next.map { ListPages(cursor: $0) } })
        #expect(pages.map(\.title) == ["1", "2"])
        mock.on(.get, "/status").reply(Status(done: false)).then.reply(Status(done: true))
        let status = try await client.run(GetStatus().repeated(every: .milliseconds(1), until: { $0.done }))
        #expect(status.done)
    }

    @Test("A plan of one's own, a changed output, an optional plan")
    func composition() async throws {
        #expect(try await client.run(OpenShop(user: "ada")).name == "Ada")
        #expect(try await client.run(OpenShop(user: "ada").map(\.orderIDs.count)) == 3)
        let maybe: GetOrder? = GetOrder(id: 7)
        #expect(try await client.run(maybe) == Order(id: 7))
        #expect(try await client.run(GetOrder?.none) == nil)
        let report = try await client.run(Batch([OpenShop(user: "ada"), OpenShop(user: "bob")]))
        #expect(report.allSucceeded)
    }

    @Test("A reconnect callback may await")
    func asyncReconnect() async throws {
        mock.on(.get, "/orders/1").reply(status: 503).then.reply(status: 200, json: #"{"id": 1}"#)
        let told = Record<Int>()
        let report = try await client.run(
            Batch([1, 7].map(GetOrder.init))
                .reconnect { round async in
                    await Task.yield()
                    return .retry(round.failures.map(\.index))
                }
                .onEach { index, _ in told.add(index) })
        #expect(report[0].value == Order(id: 1))
        #expect(report[0].attempts == 2)
        #expect(told.all.sorted() == [0, 1])
        #expect(report.successes.count == 2)
        #expect(report.failures.isEmpty)
    }

    // MARK: Without async and await

    @MainActor
    final class Screen {
        var label = ""
    }

    @Test("A completion on the main actor")
    @MainActor
    func onMainActor() async {
        let (screen, done) = (Screen(), Gate())
        client.start(OpenShop(user: "ada")) { result in
            screen.label = (try? result.get().name) ?? ""
            done.open()
        }
        #expect(await done.opens())
        #expect(screen.label == "Ada")
    }

    @Test("A completion on the queue that is named")
    func onQueue() async {
        let (queue, names, done) = (DispatchQueue(label: "test.named"), Record<String>(), Gate())
        client.start(OpenShop(user: "ada"), on: queue) { result in
            dispatchPrecondition(condition: .onQueue(queue))
            names.add((try? result.get().name) ?? "")
            done.open()
        }
        #expect(await done.opens())
        #expect(names.all == ["Ada"])
    }

    @Test("A run that stops when its scope is released")
    func inScope() async {
        let (done, cancelled) = (Gate(), Record<Bool>())
        let transport = HeldTransport()
        let client = Client(baseURL: "http://h", transport: transport)
        var scope: CancellationScope? = CancellationScope()
        client.start(GetItem(n: 1), on: .global(), in: scope) { result in
            if case .failure(let error) = result { cancelled.add(error.isCancelled) }
            done.open()
        }
        await transport.hasSent(1)
        scope = nil
        #expect(await done.opens())
        #expect(cancelled.all == [true])
        #expect(scope == nil)
    }

    // MARK: A handle

    @Test("A handle: progress, value, cancel")
    func handle() async throws {
        let run = client.start(Batch([7, 8, 9].map(GetOrder.init)))
        var last: Double?
        for await progress in run.progress { last = progress.fraction }
        let done = try await run.value
        #expect(done.count == 3)
        #expect(last == nil || last == 1)
        run.cancel()
        #expect(try await run.value.count == 3)
    }

    // MARK: Results as they come

    @Test("A stream of a batch over a long sequence, and of pages")
    func streams() async throws {
        var seen: [Int] = []
        for try await (index, outcome) in client.stream(Batch(Made(30) { GetOrder(id: 7 + $0 % 3) }, maxConcurrency: 4))
        {
            #expect(outcome.isSuccess)
            seen.append(index)
        }
        #expect(seen.sorted() == Array(0..<30))
        var titles: [String] = []
        let pages = Pages(ListPages()) { page in page.next.map { ListPages(cursor: $0) } }
        for try await page in client.stream(pages) { titles.append(page.title) }
        #expect(titles == ["1", "2"])
    }

    // MARK: Errors

    @Test("Direct functions throw one type")
    func errors() async {
        mock.on(.get, "/orders/404").reply(status: 404, json: #"{"name": "none"}"#)
        do throws(BatonError) {
            _ = try await client.run(GetOrder(id: 404))
            Issue.record("nothing was thrown")
        } catch {
            #expect(error.response?.status == 404)
            #expect(error.decode(User.self)?.name == "none")
            #expect(!error.isCancelled)
        }
    }

    // MARK: Under test

    @Test("The same code under test: no network, no waiting")
    func underTest() async throws {
        let mock = MockTransport()
        mock.on(SignIn.self).reply(Session(token: "t"))
        mock.on(.get, "/profile").reply(Profile(name: "Ada", orderIDs: [7]))
        mock.on(.get, "/orders/7").fail(.connectionLost).then.reply(status: 200, json: #"{"id": 7}"#)
        let plan = OpenShop(user: "ada").then { profile in Batch(profile.orderIDs.map(GetOrder.init)) }
        try await withVirtualTime(transport: mock, seed: 7) { client, clock in
            let report = try await client.run(plan)
            #expect(report[0].value == Order(id: 7))
            #expect(report[0].attempts == 2)
            #expect(clock.pendingTimers == 0)
        }
    }
}
