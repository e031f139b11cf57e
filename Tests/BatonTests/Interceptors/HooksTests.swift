import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Hooks in the old style") struct HooksTests {
    private let mock = MockTransport()

    private func with(
        _ hooks: Hooks, retry: RetryPolicy = RetryPolicy(backoff: .none),
        _ body: @escaping @Sendable (Client, MockTransport) async throws -> Void
    ) async throws {
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.interceptors = [hooks]
                $0.retry = retry
            }
        ) { [mock] client, _ in try await body(client, mock) }
    }

    @Test("They are called in their order, and process comes last in any case")
    func order() async throws {
        mock.on(pattern: "/items/*").reply { .item(for: $0) }
        mock.on(.post, "/things").reply(status: 500)
        let story = Record<String>()
        var hooks = Hooks()
        hooks.prepare = { _, _ in
            story.add("prepare")
            return .go
        }
        hooks.willSend = { _, _ in
            story.add("will send")
            return .go
        }
        hooks.didSucceed = { _, _, _ in
            story.add("did succeed")
            return .done
        }
        hooks.didFail = { _, _, _ in
            story.add("did fail")
            return .fail
        }
        hooks.process = { _, _ in story.add("process") }
        try await with(hooks) { client, _ in
            _ = try await client.run(GetItem(n: 1))
            #expect(story.all == ["prepare", "will send", "did succeed", "process"])
            _ = try await failure { try await client.run(Send()) }
            #expect(story.all.dropFirst(4) == ["prepare", "will send", "did fail", "process"])
        }
    }

    @Test("Y13 What is changed at either moment before sending reaches the server")
    func edits() async throws {
        mock.on(.post, "/things").reply(status: 204)
        var hooks = Hooks()
        hooks.prepare = { request, _ in
            request.fields["X-Prepared"] = "1"
            return .go
        }
        hooks.willSend = { request, _ in
            request.fields["X-Sent"] = "1"
            return .go
        }
        try await with(hooks) { client, mock in
            _ = try await client.run(Send())
            #expect(mock.calls[0].fields["X-Prepared"] == "1")
            #expect(mock.calls[0].fields["X-Sent"] == "1")
        }
    }

    @Test("A hook can end early with a response, stop, answer a failure, and change the result")
    func endings() async throws {
        mock.on(.get, "/fails").reply(status: 500)
        mock.on(pattern: "/items/*").reply { .item(for: $0) }
        var hooks = Hooks()
        hooks.prepare = { request, _ in request.path == "/early" ? .end(.item(1)) : .go }
        hooks.willSend = { request, _ in request.path == "/stop" ? .stop : .go }
        hooks.didFail = { _, _, _ in .answer(.item(2)) }
        hooks.process = { result, _ in
            if case .success(let response) = result, response.body == HTTPResponse.item(9).body {
                result = .failure(BatonError(.invalidResponse, "nine is not allowed"))
            }
        }
        try await with(hooks) { client, mock in
            #expect(try await client.run(Call("/early", as: Item.self)) == Item(n: 1))
            let stopped = try await failure { try await client.run(Call("/stop", as: Item.self)) }
            #expect(stopped.isCancelled)
            #expect(mock.calls.isEmpty)
            #expect(try await client.run(Call("/fails", as: Item.self)) == Item(n: 2))
            #expect(try await failure { try await client.run(GetItem(n: 9)) }.code == .invalidResponse)
        }
    }

    @Test(
        "Y11 A hook that always asks to send again ends at the limit of attempts, with an error that says so",
        arguments: [false, true])
    func forever(_ succeeds: Bool) async throws {
        mock.on(pattern: "/items/*").reply(status: succeeds ? 200 : 400, json: #"{"n": 1}"#)
        var hooks = Hooks()
        hooks.didSucceed = { _, _, _ in .sendAgain }
        hooks.didFail = { _, _, _ in .sendAgain }
        try await with(hooks, retry: RetryPolicy(attempts: 4, backoff: .none)) { client, mock in
            let error = try await failure { try await client.run(GetItem(n: 1)) }
            #expect(error.code == .attemptsExhausted)
            #expect(mock.calls.count == 4)
        }
    }

    @Test("Sending again begins with the original request, and its answer is the result")
    func again() async throws {
        mock.on(pattern: "/items/*").reply(status: 400).then.reply { .item(for: $0) }
        var hooks = Hooks()
        hooks.prepare = { request, _ in
            request.fields.append("1", for: "X-Mark")
            return .go
        }
        hooks.didFail = { _, _, _ in .sendAgain }
        try await with(hooks) { client, mock in
            let item = try await client.run(GetItem(n: 3))
            #expect(item == Item(n: 3))
            #expect(mock.calls.map { $0.fields.values(for: "X-Mark").count } == [1, 1])
        }
    }
}
