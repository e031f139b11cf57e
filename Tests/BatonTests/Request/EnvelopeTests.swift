import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("Envelopes") struct EnvelopeTests {
    private struct Answer: Codable, Response, Equatable {
        let n: Int
    }

    private static let envelope = Envelope(
        payload: "result",
        failures: [
            100_010: .signIn(), "100011": .refresh(), 500_100: .retry(), 30_001: .warn("That is sold out."),
        ])

    @Test("Codes are equal however they are written, and text with leading zeros is no number")
    func codes() {
        let zero: BusinessCode = 0
        #expect(
            zero == "0" && zero == 0.0 && zero == "0.0" && zero == "-0" && zero != "00" && zero != "" && zero != "a")
        #expect(BusinessCode(.double(1)) == 1 && BusinessCode(.string("1.50")) == 1.5)
        #expect(BusinessCode(.bool(true)) == true && BusinessCode(.null) == nil && BusinessCode(.array([])) == nil)
        #expect(BusinessCode("9223372036854775808") == "9223372036854775808")
    }

    @Test("J18 Every body becomes a value, or an error of a kind that says why", arguments: Carrier.allCases)
    func bodies(_ carrier: Carrier) async throws {
        let bodies: [String: HTTPResponse] = [
            "a/relogin": .json(#"{"code":100010,"message":"relogin"}"#),
            "a/null": .json(#"{"code":"0","message":"ok","result":null}"#),
            "a/array": .json(#"{"code":0,"result":[]}"#), "a/missing": .json(#"{"code":0}"#),
            "a/one": .json(#"{"code":1.0}"#), "a/good": .json(#"{"code":0.0,"result":{"n":3}}"#),
            "a/text": .json(#"{"code":0,"result":"hi"}"#), "a/n": .json("null"), "a/s": .json(#""ok""#),
            "a/i": .json("42"), "a/codeless": .json(#"{"result":{"n":3}}"#),
            "a/400": .json(#"{"code":30001,"message":"gone"}"#, status: 400),
        ]
        let hosts = try HostPair(carrier, configure: { $0.envelope = Self.envelope }, HostPair.table(bodies))
        let client = hosts.client
        func run<Output: Response>(_ path: String, _ type: Output.Type) async throws -> Output {
            try await client.run(Call("/\(path)", as: type))
        }

        let relogin = try await failure { try await run("relogin", Answer.self) }
        #expect(relogin.code == .businessFailure && relogin.response?.status == 200)
        #expect(relogin.business == BusinessFailure(code: "100010", message: "relogin", action: .signIn))
        #expect(try await failure { try await run("one", EmptyResponse.self) }.business?.code == 1)
        let refused = try await failure { try await run("400", Answer.self) }
        #expect(refused.code == .unacceptableStatus && refused.business?.message == "That is sold out.")

        #expect(try await run("good", Answer.self) == Answer(n: 3))
        #expect(try await run("text", String.self) == "hi")
        #expect(try await run("good", HTTPResponse.self).body.count > 20)
        for path in ["null", "missing"] {
            _ = try await run(path, EmptyResponse.self)
            #expect(try await run(path, Answer?.self) == nil)
            let error = try await failure { try await run(path, Answer.self) }
            #expect(error.code == .emptyBody && error.response?.body.isEmpty == false)
        }
        let mismatch = try await failure { try await run("array", Answer.self) }
        #expect(mismatch.code == .decodingFailed)
        #expect(mismatch.response?.body == Data(#"{"code":0,"result":[]}"#.utf8))
        #expect(try await failure { try await run("codeless", Answer.self) }.code == .decodingFailed)

        #expect(try await run("n", Answer?.self) == nil)
        #expect(try await run("i", Int.self) == 42)
        #expect(try await run("s", JSONValue.self) == "ok")
        let fragment = try await failure { try await run("i", Answer.self) }
        #expect(fragment.code == .decodingFailed && fragment.response?.body == Data("42".utf8))
    }

    @Test("What was parsed to judge a response is used to open it, and forgotten with its body")
    func parsedOnce() throws {
        var response = HTTPResponse.json(#"{"code":0,"data":{"n":1}}"#)
        let envelope = Envelope()
        #expect(envelope.refusal(of: response, json: &response.json) == nil)
        #expect(response.json == ["code": 0, "data": ["n": 1]])
        // Another text than the body's shows which of the two is read.
        response.json = ["data": ["n": 2]]
        let opened = envelope.opened(response, for: Answer.self)
        #expect(opened.body == Data(#"{"n":2}"#.utf8) && opened.json == nil)
        #expect(envelope.opened(response, for: HTTPResponse.self).json == nil)
        response.body = Data(#"{"code":0,"data":{"n":3}}"#.utf8)
        #expect(response.json == nil)
        #expect(envelope.opened(response, for: Answer.self).body == Data(#"{"n":3}"#.utf8))
    }

    @Test("J18 A mismatch inside the payload says where it is")
    func place() async throws {
        struct Page: Codable, Response { let items: [Answer] }
        let hosts = try HostPair(
            .mock, configure: { $0.envelope = Envelope(code: "meta.code", payload: "data.page") },
            HostPair.table(["a/p": .json(#"{"meta":{"code":0},"data":{"page":{"items":[{"n":1},{"n":"x"}]}}}"#)]))
        let error = try await failure { try await hosts.client.run(Call("/p", as: Page.self)) }
        #expect(error.message.contains(".items[1].n"))
    }

    @Test("A request can do without its client's envelope, and a batch or chain can have one of its own")
    func optingOut() async throws {
        let hosts = try HostPair(
            .mock, configure: { $0.envelope = Self.envelope },
            HostPair.table([
                "a/plain": .json(#"{"n": 1}"#), "a/good": .json(#"{"code":0,"result":{"n":2}}"#),
                "a/own": .json(#"{"ok":true,"n":3}"#),
            ]))
        let plain = Call("/plain", as: Answer.self) { $0.options.envelope = .bare }
        let own = Call("/own", as: Answer.self) {
            $0.options.envelope = Envelope(code: "ok", payload: nil, success: [true])
        }
        let report = try await hosts.client.run(Batch([plain, Call("/good"), own]))
        #expect(report.values.map { $0?.n } == [1, 2, 3])
        let chain = Call("/own", as: Answer.self).envelope(Envelope(code: "ok", payload: nil, success: [true]))
        #expect(try await hosts.client.run(chain).n == 3)
    }

    @Test("A retry policy sees the business failure, and sends again what its table says")
    func retries() async throws {
        let mock = MockTransport()
        mock.on(.get, "/busy").reply(json: #"{"code":500100}"#, times: 1).reply(json: #"{"code":0,"result":{"n":5}}"#)
        mock.on(.get, "/sold").reply(json: #"{"code":30001,"message":"x"}"#)
        try await withVirtualTime(transport: mock, configure: { $0.envelope = Self.envelope }) { [mock] client, _ in
            #expect(try await client.run(Call("/busy", as: Answer.self)) == Answer(n: 5))
            let error = try await failure { try await client.run(Call("/sold", as: Answer.self)) }
            #expect(error.attempts == 1 && error.business?.action == .warn)
            #expect(mock.calls.count == 3)
        }
    }

    @Test("J18 The credential is renewed, or forgotten, for a code that says so")
    func signingIn() async throws {
        let mock = MockTransport()
        mock.on(.get, "/me").reply { request in
            request.fields[.authorization] == "Bearer new"
                ? .json(#"{"code":0,"result":{"n":1}}"#) : .json(#"{"code":"100011"}"#)
        }
        mock.on(.get, "/out").reply(json: #"{"code":100010,"message":"relogin"}"#)
        let store = InMemoryCredentialStore(BearerToken("old"))
        let asked = Record<Bool>()
        let authentication = Authentication(store) {
            $0.onSignInNeeded = { asked.add($0.business?.message == "relogin") }
        } refresh: { _, _ in
            BearerToken("new")
        }
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.envelope = Self.envelope
                $0.interceptors = [authentication]
            }
        ) { client, _ in
            #expect(try await client.run(Call("/me", as: Answer.self)) == Answer(n: 1))
            #expect(store.read() == BearerToken("new"))
            let error = try await failure { try await client.run(Call("/out", as: Answer.self)) }
            #expect(error.code == .businessFailure)
            #expect(store.read() == nil && asked.all == [true])
        }
    }

    @Test("A notice shows the message of what is to be warned of, and an error's text never holds it")
    func notices() async throws {
        let presenter = RecordingPresenter()
        let mock = MockTransport()
        mock.on(.get, "/sold").reply(json: #"{"code":30001,"message":"secret"}"#)
        try await withVirtualTime(
            transport: mock,
            configure: {
                $0.envelope = Self.envelope
                $0.observers = [Notices(presenter)]
            }
        ) { client, clock in
            let error = try await failure { try await client.run(Call("/sold", as: Answer.self)) }
            #expect(!"\(error) \(String(reflecting: error))".contains("secret"))
            try await clock.sleep(for: .seconds(1))
        }
        #expect(presenter.notices.map(\.message) == ["That is sold out."])
    }
}
