import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Changing requests and responses") struct ModifyTests {
    private let mock = MockTransport()

    @Test(
        "Closures change what is sent, what is accepted, and what fails",
        arguments: [.call, .attempt] as [InterceptorPlacement])
    func modify(_ placement: InterceptorPlacement) async throws {
        mock.on(pattern: "/items/*").reply { request in
            request.fields["X-A"] == "1" ? .item(for: request) : .status(400)
        }
        mock.on(.get, "/gone").reply(status: 404)
        let modify = Modify(
            at: placement, request: { request, _ in request.fields["X-A"] = "1" },
            response: { response, request, _ in response.body = Data("{\"n\": \((request.number ?? 0) + 1)}".utf8) },
            recover: { error, _, _ in error.response?.status == 404 ? .item(404) : nil })
        try await withVirtualTime(transport: mock, configure: { $0.interceptors = [modify] }) { client, _ in
            #expect(try await client.run(GetItem(n: 1)) == Item(n: 2))
            #expect(try await client.run(Call("/gone", as: Item.self)) == Item(n: 404))
            let error = try await failure { try await client.run(Call("/none", as: Item.self)) }
            #expect(error.code == .unmatchedRequest)
        }
    }

    @Test("B50 Each of ten requests gets its alternate host, because nothing is kept in the interceptor")
    func backupHost() async throws {
        mock.on { $0.origin.host == "a" }.fail(.cannotConnect, after: .milliseconds(10))
        mock.on { $0.origin.host == "b" }.reply(status: 503)
        mock.on { $0.origin.host == "c" }.reply { .item(for: $0) }
        try await withVirtualTime(
            transport: mock, seed: 5, baseURL: "http://a",
            configure: {
                $0.interceptors = [HostList("https://b", "http://c:8080")]
                $0.retry = RetryPolicy(attempts: 2, backoff: .none)
            }
        ) { [mock] client, _ in
            let report = try await client.run(Batch((0..<10).map(GetItem.init), maxConcurrency: 10))
            #expect(report.successes.map(\.value) == (0..<10).map { Item(n: $0) })
            #expect(mock.calls.count == 40)
            #expect(mock.calls.filter { $0.url.hasPrefix("https://b/items/") }.count == 10)
            #expect(mock.calls.filter { $0.url.hasPrefix("http://c:8080/items/") }.count == 10)
        }
    }

    @Test("A request that may have been carried out is not sent to another host unless it is idempotent")
    func backupOfPost() async throws {
        mock.on { $0.origin.host == "a" }.fail(.connectionLost)
        mock.on { $0.origin.host == "b" }.reply(status: 204)
        try await withVirtualTime(
            transport: mock, baseURL: "http://a", configure: { $0.interceptors = [HostList("http://b")] }
        ) { [mock] client, _ in
            let error = try await failure { try await client.run(Send(method: .post)) }
            #expect(error.code == .connectionLost)
            #expect(mock.calls.count == 1)
            _ = try await client.run(Send(method: .post, fields: ["Idempotency-Key": "1"]))
        }
    }

    @Test("Hosts are picked for each attempt; secrets stay at home unless they are shared")
    func hostList() async throws {
        mock.on(pattern: "/**").reply(status: 503)
        func hosts(_ list: HostList) async throws -> [String] {
            mock.reset()
            mock.on { _ in true }.reply(status: 503)
            try await withVirtualTime(
                transport: mock, baseURL: "http://a",
                configure: {
                    $0.interceptors = [list]
                    $0.fields = .bearer("t")
                    $0.retry = RetryPolicy(attempts: 4, backoff: .none)
                }
            ) { client, _ in
                _ = try await failure { try await client.run(Call("/static/x", as: Data.self)) }
            }
            return mock.calls.map {
                "\($0.url.dropFirst(7).first ?? "-")\($0.fields[.authorization] == nil ? "" : "!")"
            }
        }
        #expect(try await hosts(HostList("http://b", "http://c", rule: .nextAttempt)) == ["a!", "b", "c", "a!"])
        let pick = HostList.Rule.pick { request, context in
            request.path.hasPrefix("/static/") && context.attempt == 1 ? -1 : 0
        }
        #expect(try await hosts(HostList("http://b", "http://c", rule: pick)) == ["c", "a!", "a!", "a!"])
        let shared = HostList("http://b", rule: .nextAttempt, credentials: .shared)
        #expect(try await hosts(shared) == ["a!", "b!", "a!", "b!"])
        try await withVirtualTime(
            transport: mock, baseURL: "http://a", configure: { $0.interceptors = [HostList("ftp://b")] }
        ) { client, _ in
            let error = try await failure { try await client.run(Call("/x", as: Data.self)) }
            #expect(error.code == .invalidConfiguration)
        }
    }

    @Test("What is signed is the canonical form of what is sent, on each attempt")
    func signing() async throws {
        let texts = Record<String>()
        let signing = Signing(fields: ["X-B", "Content-Type"]) { request in
            texts.add(request.text)
            return ["X-Signature": "\(request.body.count)-\(Int(request.date.timeIntervalSince1970))"]
        }
        mock.on(.put, "/things").anyQuery().reply(status: 503, times: 1, after: .seconds(5)).reply(status: 204)
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.interceptors = [signing]
                $0.retry = RetryPolicy(backoff: .none)
            }
        ) { [mock] client, clock in
            let start = Int(clock.date.timeIntervalSince1970)
            _ = try await client.run(
                Send(method: .put, path: "/things?b=2&a=1", fields: ["X-B": " x "], body: .text("hey")))
            #expect(texts.all[0] == "PUT\nmock\n/things\na=1&b=2\ncontent-type:text/plain; charset=utf-8\nx-b:x")
            #expect(mock.calls.map { $0.fields["X-Signature"] } == ["3-\(start)", "3-\(start + 5)"])
        }
    }

    @Test("Bodies are transformed on their way out and in, those of failures too, and each attempt from the original")
    func transform() async throws {
        let turn = BodyTransform(
            request: { body, fields in
                fields["X-Turned"] = "1"
                return Data(body.reversed())
            },
            response: { body, fields in
                if fields["X-Broken"] != nil { throw BatonError(.decodingFailed, "said the test") }
                return Data(body.reversed())
            })
        mock.on(.put, "/things").reply { HTTPResponse(status: 200, body: $0.body.bytes ?? Data()) }
        mock.on(.put, "/fails").reply(status: 503, times: 1).reply(status: 400, body: Data("oops".utf8))
        mock.on(.put, "/broken").reply(status: 200, fields: ["X-Broken": "1"], body: Data("x".utf8))
        try await withVirtualTime(transport: mock, configure: { $0.interceptors = [turn] }) { [mock] client, _ in
            func put(_ path: String) -> Call<String> { Call(path, method: .put) { $0.body = .text("abc") } }
            #expect(try await client.run(put("/things")) == "abc")
            #expect(String(decoding: mock.calls[0].body, as: UTF8.self) == "cba")
            let error = try await failure { try await client.run(put("/fails")) }
            #expect(error.response?.body == Data("spoo".utf8))
            #expect(mock.calls[2].body == Data("cba".utf8))
            #expect(try await failure { try await client.run(put("/broken")) }.code == .decodingFailed)
            let stream = Call<String>("/things", method: .put) { $0.body = .stream(.data(Data("abc".utf8))) }
            #expect(try await failure { try await client.run(stream) }.code == .encodingFailed)
        }
    }

    @Test("Each attempt has a parent id of its own in the trace of its run; a trace that is given is kept")
    func tracing() async throws {
        mock.on(pattern: "/items/*").reply(status: 503, times: 2).reply { .item(for: $0) }
        mock.on(.post, "/things").reply(status: 204)
        try await withVirtualTime(
            transport: mock, seed: 1, configure: { $0.interceptors = [TraceContext()] }
        ) { [mock] client, _ in
            _ = try await client.run(GetItem(n: 1).then { _ in GetItem(n: 2) })
            let parents = mock.calls.compactMap { $0.fields["traceparent"] }
            #expect(parents.count == 4)
            #expect(Set(parents).count == 4)
            #expect(Set(parents.map { $0.prefix(35) }).count == 1)
            for parent in parents { #expect(parent.wholeMatch(of: /00-[0-9a-f]{32}-[0-9a-f]{16}-01/) != nil) }
            let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736"
            _ = try await client.run(Send(fields: ["traceparent": "\(trace)-00f067aa0ba902b7-00"]))
            let kept = try #require(mock.calls.last?.fields["traceparent"])
            #expect(kept.hasPrefix(trace) && kept.hasSuffix("-00") && !kept.contains("00f067aa0ba902b7"))
        }
    }
}
