import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Authentication") struct AuthenticationTests {
    /// What renews the credential.
    private struct Refresh: Request {
        typealias Output = BearerToken
        let old: BearerToken
        var method: HTTPMethod { .post }
        var path: String { "/refresh" }
        var body: HTTPBody { .json(["token": old.refreshToken ?? ""]) }
    }

    private let store = InMemoryCredentialStore(BearerToken("T1", refreshToken: "R"))
    private let mock = MockTransport()
    private let signIns = Record<BatonError>()

    private func authentication(
        _ configure: (inout Authentication<BearerToken>.Options) -> Void = { _ in }
    ) -> Authentication<BearerToken> {
        let signIns = signIns
        return Authentication(store) { options in
            options.onSignInNeeded = { signIns.add($0) }
            configure(&options)
        } refresh: { old, client in
            try await client.run(Refresh(old: old))
        }
    }

    /// The server takes T2 only, and renews T1 after a while.
    private func serve(refreshAfter delay: Duration = .milliseconds(100)) {
        mock.on(pattern: "/items/*").reply(after: .milliseconds(10)) { (request: HTTPRequest) -> HTTPResponse in
            request.fields[.authorization] == "Bearer T2" ? .item(for: request) : .status(401)
        }
        mock.on(Refresh.self).reply(BearerToken("T2", refreshToken: "R2"), after: delay)
    }

    @Test("A26 Fifty refused requests share one refresh; a late refusal is only sent again; new ones wait for it")
    func singleFlight() async throws {
        serve()
        // Its refusal comes when the refresh is long over.
        mock.on(.get, "/late").reply(after: .seconds(1)) { (request: HTTPRequest) -> HTTPResponse in
            request.fields[.authorization] == "Bearer T2" ? .status(204) : .status(401)
        }
        let interceptor = authentication()
        try await withVirtualTime(
            transport: mock, seed: 3, configure: { $0.interceptors = [interceptor] }
        ) { [mock] client, clock in
            let late = client.start(Call("/late", as: EmptyResponse.self))
            let batch = client.start(Batch((0..<50).map(GetItem.init), maxConcurrency: 50))
            try await clock.sleep(for: .milliseconds(50))
            let during = client.start(GetItem(n: 51))
            #expect(try await batch.value.allSucceeded)
            #expect(try await during.value == Item(n: 51))
            _ = try await late.value
            #expect(mock.calls(.post, "/refresh").count == 1)
            #expect(mock.calls(.get, "/items/51").count == 1)
            #expect(mock.calls(.get, "/items/7").count == 2)
            #expect(mock.calls(.get, "/late").count == 2)
            #expect(mock.calls(.get, "/late")[1].instant > mock.calls(.post, "/refresh")[0].instant)
        }
        #expect(store.read()?.accessToken == "T2")
        #expect(signIns.count == 0)
    }

    @Test("A28 A refresh that is refused fails once for everybody, and the next refusal tries again")
    func refusedRefresh() async throws {
        mock.on(pattern: "/items/*").reply(status: 401)
        mock.on(Refresh.self).reply(status: 401, after: .seconds(1))
        let interceptor = authentication()
        try await withVirtualTime(
            transport: mock, configure: { $0.interceptors = [interceptor] }
        ) { [mock, signIns] client, _ in
            let report = try await client.run(Batch((0..<5).map(GetItem.init)))
            for failure in report.failures {
                #expect(failure.error.code == .refreshFailed)
                #expect(failure.error.response?.status == 401)
            }
            #expect(report.failures.count == 5)
            #expect(mock.calls(.post, "/refresh").count == 1)
            #expect(signIns.count == 1)
            // Without the interceptor, so nothing was put on it.
            #expect(mock.calls(.post, "/refresh")[0].fields.contains(.authorization) == false)
            _ = try await failure { try await client.run(GetItem(n: 9)) }
            #expect(mock.calls(.post, "/refresh").count == 2)
        }
    }

    @Test("A28 A second refusal of a fresh credential is the result, also without retries")
    func secondRefusal() async throws {
        mock.on(pattern: "/items/*").reply(status: 401)
        mock.on(Refresh.self).reply(BearerToken("T2"))
        let interceptor = authentication()
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.interceptors = [interceptor]
                $0.retry = .none
            }
        ) { [mock] client, _ in
            let error = try await failure { try await client.run(GetItem(n: 1)) }
            #expect(error.code == .unacceptableStatus)
            #expect(error.response?.status == 401)
            #expect(error.attempts == 2)
            #expect(mock.calls.map(\.path) == ["/items/1", "/refresh", "/items/1"])
        }
    }

    @Test("A28 Refreshing works with one slot, because nobody holds it while it waits")
    func oneSlot() async throws {
        serve()
        let interceptor = authentication()
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.interceptors = [interceptor]
                $0.maxConcurrency = 1
            }
        ) { [mock] client, _ in
            let report = try await client.run(Batch((0..<4).map(GetItem.init), maxConcurrency: 4))
            #expect(report.allSucceeded)
            #expect(mock.calls(.post, "/refresh").count == 1)
            #expect(mock.maxInFlight == 1)
        }
    }

    @Test("Y15 The caller of a request that was refused gets the answer to its repetition, once")
    func callbacks() async throws {
        serve()
        let client = Client(baseURL: "http://mock", transport: mock, retry: .none, interceptors: [authentication()])
        let counted = client.counting(GetItem(n: 1))
        await counted.ended.opens()
        #expect(try await counted.run.value == Item(n: 1))
        #expect(counted.completions.count == 1)
    }

    @Test("T30 A body that can be sent once is not sent again after a refresh, and the error says so")
    func oneShotBody() async throws {
        mock.on(.put, "/file").reply(status: 401)
        mock.on(Refresh.self).reply(BearerToken("T2"))
        let interceptor = authentication()
        try await withVirtualTime(
            transport: mock, configure: { $0.interceptors = [interceptor] }
        ) { [mock, store] client, _ in
            let body = HTTPBody.stream(.once("a"))
            let error = try await failure { try await client.run(Send(method: .put, path: "/file", body: body)) }
            #expect(error.code == .notReplayable)
            #expect(error.response?.status == 401)
            #expect(mock.calls(.put, "/file").count == 1)
            #expect(store.read()?.accessToken == "T2")
        }
    }

    @Test("A credential is renewed before it ends, once, and nothing is sent with the old one")
    func proactive() async throws {
        serve()
        let interceptor = authentication()
        try await withVirtualTime(
            transport: mock, configure: { $0.interceptors = [interceptor] }
        ) { [mock, store] client, clock in
            store.write(BearerToken("T1", refreshToken: "R", expiry: clock.date.addingTimeInterval(20)))
            let report = try await client.run(Batch((0..<5).map(GetItem.init)))
            #expect(report.allSucceeded)
            #expect(mock.calls.count == 6)
            #expect(mock.calls(.post, "/refresh").count == 1)
        }
    }

    @Test("A code in an accepted response can ask for a refresh, and a status can end the session")
    func rules() async throws {
        mock.on(.get, "/code").reply(json: #"{"code": 4001}"#).then.reply(json: #"{"code": 0}"#)
        mock.on(.get, "/out").reply(status: 402)
        mock.on(Refresh.self).reply(BearerToken("T2"))
        let interceptor = authentication { options in
            options.judge = { response in
                if response.status == 402 { return .signOut }
                return response.body.range(of: Data("4001".utf8)) != nil ? .refresh : .accept
            }
        }
        try await withVirtualTime(
            transport: mock, configure: { $0.interceptors = [interceptor] }
        ) { [mock, store, signIns] client, _ in
            #expect(try await client.run(Call("/code", as: String.self)) == #"{"code": 0}"#)
            #expect(mock.calls(.get, "/code").count == 2)
            let error = try await failure { try await client.run(Call("/out", as: EmptyResponse.self)) }
            #expect(error.response?.status == 402)
            #expect(store.read() == nil)
            #expect(signIns.count == 1)
        }
    }

    @Test("Only so many refreshes begin within the window")
    func window() async throws {
        mock.on(pattern: "/items/*").reply(status: 401)
        mock.on(Refresh.self).reply(BearerToken("T2")).then.reply(BearerToken("T3")).then.reply(BearerToken("T4"))
        let interceptor = authentication { $0.maxRefreshes = 2 }
        try await withVirtualTime(
            transport: mock, configure: { $0.interceptors = [interceptor] }
        ) { client, clock in
            var codes: [BatonError.Code] = []
            for n in 1...3 { codes.append(try await failure { try await client.run(GetItem(n: n)) }.code) }
            #expect(codes == [.unacceptableStatus, .unacceptableStatus, .limitReached])
            try await clock.sleep(for: .seconds(31))
            #expect(try await failure { try await client.run(GetItem(n: 4)) }.code == .unacceptableStatus)
        }
    }

    @Test("A refresh that takes too long fails for all that wait, once, and the next refusal tries again")
    func refreshTimeout() async throws {
        serve(refreshAfter: .seconds(100))
        let interceptor = authentication { $0.refreshTimeout = .seconds(10) }
        try await withVirtualTime(
            transport: mock, configure: { $0.interceptors = [interceptor] }
        ) { [mock, store, signIns] client, clock in
            let report = try await client.run(Batch((0..<5).map(GetItem.init)))
            #expect(report.failures.map(\.error.code) == Array(repeating: .refreshFailed, count: 5))
            let reason = report.failures.first?.error.underlying as? BatonError
            #expect(reason?.code == .timedOut)
            #expect(clock.elapsed < .seconds(11))
            #expect(mock.calls(.post, "/refresh").count == 1)
            #expect(signIns.count == 0)
            await mock.waitUntilIdle()
            #expect(store.read()?.accessToken == "T1")
            mock.on(Refresh.self).reply(BearerToken("T2"), after: .seconds(9))
            let item = try await client.run(GetItem(n: 1))
            #expect(item == Item(n: 1))
            #expect(clock.pendingTimers == 0)
        }
    }

    @Test("A refresh that does not heed its end cannot write what it comes to after it")
    func deafRefresh() async throws {
        serve()
        let store = store
        let interceptor = Authentication(store) {
            $0.refreshTimeout = .seconds(10)
        } refresh: { _, client in
            // Its end reaches it, and it makes a credential up all the same.
            _ = try? await client.run(Call("/slow", as: BearerToken.self))
            return BearerToken("T9")
        }
        _ = mock.on(.get, "/slow").hold()
        try await withVirtualTime(
            transport: mock, configure: { $0.interceptors = [interceptor] }
        ) { client, clock in
            let error = try await failure { try await client.run(GetItem(n: 1)) }
            #expect(error.code == .refreshFailed)
            await clock.settle()
            #expect(store.read()?.accessToken == "T1")
        }
    }

    @Test("Who waits for a refresh and is cancelled ends at once; the refresh goes on for the others")
    func cancelledWaiter() async throws {
        serve(refreshAfter: .seconds(5))
        let interceptor = authentication()
        try await withVirtualTime(
            transport: mock, configure: { $0.interceptors = [interceptor] }
        ) { [mock] client, clock in
            let first = client.start(GetItem(n: 1))
            let second = client.start(GetItem(n: 2))
            try await clock.sleep(for: .seconds(1))
            first.cancel()
            #expect(try await failure { try await first.value }.isCancelled)
            #expect(clock.elapsed < .seconds(2))
            #expect(try await second.value == Item(n: 2))
            #expect(mock.calls(.post, "/refresh").count == 1)
        }
    }
}
