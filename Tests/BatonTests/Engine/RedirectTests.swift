import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Redirects") struct RedirectTests {
    private struct Stamp: RequestAdapter {
        let count = Record<Int>()
        func adapt(_ request: inout HTTPRequest, context: AttemptContext) {
            count.add(context.attempt)
            request.fields["Authorization"] = "Bearer t"
        }
    }

    @Test(
        "R24 A foreign origin gets no credentials, and interceptors do not put them back", arguments: Carrier.allCases)
    func foreignOrigin(_ carrier: Carrier) async throws {
        let stamp = Stamp()
        let hosts = try HostPair(
            carrier,
            configure: {
                $0.interceptors = [stamp]
                $0.redirects.secretFields = ["X-Mine"]
            },
            HostPair.table([
                "a/x": .redirect("/same"), "a/same": .redirect("{b}/y"), "b/y": .redirect("{a}/back"),
                "a/back": .status(200, "done"),
            ]))
        let call = Call("/x", as: HTTPResponse.self) {
            $0.fields = ["Cookie": "c=1", "X-Api-Key": "k", "X-Mine": "m", "X-Plain": "p"]
        }
        let response = try await hosts.client.run(call)
        #expect(String(decoding: response.body, as: UTF8.self) == "done")
        #expect(response.url == hosts.a + "/back")
        #expect(hosts.lines == ["GET a/x", "GET a/same", "GET b/y", "GET a/back"])
        let secrets: [HTTPFieldName] = ["Authorization", "Cookie", "X-Api-Key", "X-Mine"]
        #expect(hosts.asked.map { asked in secrets.filter { asked.fields.contains($0) }.count } == [4, 4, 0, 0])
        #expect(hosts.asked.allSatisfy { $0.fields["x-plain"] == "p" })
        #expect(stamp.count.all == [1])
    }

    @Test(
        "Bodies follow the method: gone where it becomes GET, sent again where it stays",
        arguments: Carrier.allCases, [301, 302, 303, 307, 308])
    func bodies(_ carrier: Carrier, status: Int) async throws {
        let hosts = try HostPair(carrier) { asked in
            asked.target == "/x" ? .redirect("/y", status: status) : .status(204)
        }
        for method: HTTPMethod in [.post, .put] {
            _ = try await hosts.client.run(Send(method: method, path: "/x", body: .text("hello")))
            let asked = try #require(hosts.asked.last)
            let becomesGet = status == 303 || (status < 303 && method == .post)
            #expect(asked.method == (becomesGet ? .get : method))
            #expect(asked.text == (becomesGet ? "" : "hello"))
            #expect(asked.fields.contains(.contentType) == !becomesGet)
        }
    }

    @Test("A body that can be sent once fails clearly where it is wanted again", arguments: Carrier.allCases)
    func once(_ carrier: Carrier) async throws {
        let hosts = try HostPair(carrier) { asked in
            asked.target == "/x" ? .redirect("/y", status: 307) : .status(204)
        }
        let error = try await failure {
            try await hosts.client.run(Send(method: .put, path: "/x", body: .stream(.once("abc"))))
        }
        #expect(error.code == .notReplayable && error.response?.status == 307)
        #expect(hosts.lines == ["PUT a/x"])
    }

    @Test("A loop ends at the limit, ten hops by default", arguments: Carrier.allCases)
    func loops(_ carrier: Carrier) async throws {
        let hosts = try HostPair(carrier) { asked in .redirect(asked.host == "a" ? "{b}/x" : "{a}/x", status: 307) }
        let error = try await failure { try await hosts.client.run(Call("/x", as: Data.self)) }
        #expect(error.code == .tooManyRedirects && error.response?.status == 307 && error.attempts == 1)
        #expect(hosts.asked.count == 11)
        let call = Call("/x", as: Data.self) { $0.options.redirects = Redirects(limit: 2) }
        #expect(try await failure { try await hosts.client.run(call) }.code == .tooManyRedirects)
        #expect(hosts.asked.count == 14)
    }

    @Test("Without following, and without a Location, the redirect is the response", arguments: Carrier.allCases)
    func notFollowed(_ carrier: Carrier) async throws {
        let hosts = try HostPair(
            carrier, HostPair.table(["a/x": .redirect("/y"), "a/bare": .redirect(nil, status: 301)]))
        let none = Call("/x", as: HTTPResponse.self) {
            $0.options.redirects = .unfollowed
            $0.options.validation = Validation(statuses: 200..<400)
        }
        #expect(try await hosts.client.run(none).fields[.location] == "/y")
        let refused = try await failure { try await hosts.client.run(Call("/x", as: Data.self).redirects(.unfollowed)) }
        #expect(refused.code == .unacceptableStatus && refused.response?.status == 302)
        let bare = try await failure { try await hosts.client.run(Call("/bare", as: Data.self)) }
        #expect(bare.code == .unacceptableStatus && bare.response?.status == 301)
        #expect(hosts.asked.count == 3)
        let invalid = try HostPair(carrier, HostPair.table(["a/x": .redirect("ftp://h/")]))
        let error = try await failure { try await invalid.client.run(Call("/x", as: Data.self)) }
        #expect(error.code == .redirectRefused && error.response?.status == 302)
    }

    @Test("A handler follows, refuses and changes", arguments: Carrier.allCases)
    func handlers(_ carrier: Carrier) async throws {
        let seen = Record<String>()
        let handler = Redirects { redirect in
            seen.add("\(redirect.number) \(redirect.from.path) \(redirect.request.path)")
            var request = redirect.request
            switch request.path {
            case "/stop": return nil
            case "/throw": throw BatonError(.signInNeeded)
            default: request.fields["X-Hop"] = "\(redirect.number)"
            }
            return request
        }
        let hosts = try HostPair(
            carrier, configure: { $0.redirects = handler },
            HostPair.table([
                "a/1": .redirect("/2"), "a/2": .redirect("{b}/3"), "b/3": .status(200), "a/4": .redirect("/stop"),
                "a/5": .redirect("/throw"),
            ]))
        _ = try await hosts.client.run(Call("/1", as: Data.self))
        #expect(hosts.asked.map { $0.fields["X-Hop"] } == [nil, "1", "2"])
        #expect(seen.all == ["1 /1 /2", "2 /2 /3"])
        #expect(try await failure { try await hosts.client.run(Call("/4", as: Data.self)) }.code == .unacceptableStatus)
        #expect(try await failure { try await hosts.client.run(Call("/5", as: Data.self)) }.code == .signInNeeded)
    }

    @Test("From https to http is refused, unless a handler returns it")
    func downgrade() async throws {
        let mock = MockTransport()
        mock.on { $0.origin.scheme == "https" }.reply(status: 302, fields: [.location: "http://mock/y"])
        mock.on { $0.origin.scheme == "http" }.reply(status: 204)
        try await withVirtualTime(transport: mock, baseURL: "https://mock") { [mock] client, _ in
            let error = try await failure { try await client.run(Call("/x", as: Data.self)) }
            #expect(error.code == .redirectRefused && mock.calls.count == 1)
            let call = Call("/x", as: Data.self) { $0.options.redirects = Redirects { $0.request } }
            _ = try await client.run(call)
            #expect(mock.calls.last?.url == "http://mock/y")
        }
    }

    @Test("Hops cost no attempts and are told as such; a retry begins at the first URL")
    func attempts() async throws {
        let mock = MockTransport()
        mock.on(.get, "/x").reply(status: 302, fields: [.location: "/y"])
        mock.on(.get, "/y").reply(status: 503, times: 1).reply(status: 204)
        let events = RecordingObserver()
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.observers = [events]
                $0.retry = RetryPolicy(attempts: 2, backoff: .none)
            }
        ) { [mock] client, _ in
            _ = try await client.run(Call("/x", as: EmptyResponse.self))
            #expect(mock.calls.map(\.path) == ["/x", "/y", "/x", "/y"])
        }
        #expect(
            events.story.filter { $0.hasPrefix("attempt") } == [
                "attempt 1 /x", "attempt 1 redirected to http://mock/y", "attempt 1 /y: unacceptableStatus",
                "attempt 2 /x", "attempt 2 redirected to http://mock/y", "attempt 2 /y: 204",
            ])
    }

    @Test("The attempt's timeout covers its hops, also while one waits for its slot", arguments: [false, true])
    func timeout(waits: Bool) async throws {
        let mock = MockTransport()
        mock.on { $0.path == "/x" }.reply(status: 302, fields: [.location: "http://other/y"], after: .seconds(40))
        mock.on { $0.path == "/y" }.reply(status: 204, after: .seconds(40))
        mock.on { $0.path == "/full" }.reply(status: 204, after: .seconds(500))
        try await withVirtualTime(
            transport: mock, baseURL: nil,
            configure: {
                $0.retry = .none
                $0.maxConcurrencyPerHost = 1
            }
        ) { [mock] client, clock in
            let blocker = Call("http://other/full", as: EmptyResponse.self) { $0.options.timeout = .seconds(900) }
            let run = waits ? client.start(blocker) : nil
            let error = try await failure { try await client.run(Call("http://mock/x", as: EmptyResponse.self)) }
            #expect(error.code == .timedOut && clock.elapsed == .seconds(60))
            #expect(mock.calls.filter { $0.path == "/y" }.count == (waits ? 0 : 1))
            _ = try await run?.value
            #expect(client.counts.inFlight == 0 && client.counts.waiting == 0)
        }
    }

    @Test(
        "A hop to another host waits for that host's slot, and gives its own back first",
        arguments: [1, 2, 3] as [UInt64])
    func slots(seed: UInt64) async throws {
        let mock = MockTransport()
        mock.on { $0.origin.host == "a" }.reply(after: .milliseconds(10)) { request in
            HTTPResponse(status: 302, fields: [.location: "http://b\(request.target)"])
        }
        mock.on { $0.origin.host == "b" }.reply(after: .milliseconds(10)) { .item(for: $0) }
        let audit = Audit()
        try await withVirtualTime(
            transport: mock, seed: seed, baseURL: "http://a", audit: audit,
            configure: {
                $0.maxConcurrencyPerHost = 2
                $0.maxConcurrency = 3
            }
        ) { [mock] client, _ in
            let report = try await client.run(Batch((0..<40).map(GetItem.init), maxConcurrency: 10))
            #expect(report.values == (0..<40).map { Item(n: $0) })
            #expect(mock.maxInFlight <= 3 && mock.calls.count == 80)
        }
        try audit.verify()
    }

    @Test("A cancel during a hop, or before it, is told once and leaves nothing", arguments: 0..<12)
    func cancels(milliseconds: Int) async throws {
        let mock = MockTransport()
        mock.on { $0.path == "/x" }.reply(status: 302, fields: [.location: "http://b/y"], after: .milliseconds(3))
        mock.on { $0.path == "/y" }.reply(status: 302, fields: [.location: "http://c/z"], after: .milliseconds(3))
        mock.on { $0.path == "/z" }.reply(status: 204, after: .milliseconds(3))
        let (audit, events) = (Audit(), RecordingObserver())
        try await withVirtualTime(
            transport: mock, seed: UInt64(milliseconds), time: .manual, audit: audit,
            configure: { $0.observers = [events] }
        ) { client, clock in
            let run = client.start(Call("/x", as: EmptyResponse.self))
            await clock.advance(by: .milliseconds(milliseconds))
            run.cancel()
            await clock.run()
            _ = try? await run.value
        }
        let begun = events.story.filter { $0 == "attempt 1 /x" }.count
        let ended = events.story.filter { $0.contains(": cancelled") || $0.contains(": 204") }
        #expect(ended.filter { $0.hasPrefix("attempt") }.count == begun)
        try audit.verify()
    }

    @Test("A hedged request's copies follow redirects of their own")
    func hedged() async throws {
        let mock = MockTransport()
        mock.on { $0.path == "/x" }.reply(status: 302, fields: [.location: "/y"])
        mock.on { $0.path == "/y" }.reply(status: 204, times: 1, after: .seconds(5)).reply(status: 204)
        try await withVirtualTime(
            transport: mock, configure: { $0.hedging = Hedging(delay: .after(.seconds(1))) }
        ) { [mock] client, clock in
            _ = try await client.run(Call("/x", as: EmptyResponse.self))
            #expect(clock.elapsed == .seconds(1))
            #expect(mock.calls.map(\.path) == ["/x", "/y", "/x", "/y"])
        }
    }
}
