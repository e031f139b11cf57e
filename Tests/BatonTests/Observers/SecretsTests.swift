import Baton
import BatonTesting
import Foundation
import Testing

@Suite("Invariant 10: secrets appear in no log, error, cURL line, timeline or recording") struct SecretsTests {
    private struct Leaky: Error, CustomStringConvertible {
        var description: String { "the password is S3CRET" }
    }

    /// A request that carries the secret wherever one can.
    private var request: Call<Data> {
        Call("/account?access_token=S3CRET", method: .post) {
            $0.query = ["api_key": "S3CRET", "page": 2]
            $0.fields = [
                "authorization": "Bearer S3CRET", "Cookie": "sid=S3CRET", "Proxy-Authorization": "Basic S3CRET",
                "x-api-key": "S3CRET", "Referer": "https://u:S3CRET@h/?token=S3CRET",
            ]
            $0.body = .json(["password": "S3CRET", "user": "ada"])
        }
    }

    @Test(
        "Invariant 10 A planted secret is in no output, whatever the level and the way out",
        arguments: [200, 400, 503, 0])
    func planted(_ status: Int) async throws {
        let mock = MockTransport()
        let stub = mock.on(.post, "/account").anyQuery()
        if status == 0 {
            stub.fail(
                BatonError(.transportFailed, "sent Authorization: Bearer S3CRET in vain", underlying: Leaky()))
        } else {
            stub.reply(
                status: status,
                fields: [
                    "Set-Cookie": "sid=S3CRET", "X-Auth-Token": "S3CRET", "Location": "https://u:S3CRET@h/a?key=S3CRET",
                ],
                json: #"{"refresh_token": "S3CRET", "link": "https://h/?token=S3CRET", "code": 7}"#)
        }
        let output = Record<String>()
        let capture = Capture()
        let timeline = Timeline()
        let presenter = RecordingPresenter()
        let metrics = Metrics()
        let observer = RecordingObserver()
        let audit = Audit()
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let tape = folder.appendingPathComponent("tape.har")
        let cassette = try Cassette(file: tape, around: mock)
        let credentials = InMemoryCredentialStore(BearerToken("S3CRET", refreshToken: "S3CRET"))
        let request = request
        try await withVirtualTime(
            transport: cassette, audit: audit,
            configure: {
                $0.interceptors = [
                    Cache(), Hooks(), TraceContext(),
                    Authentication(credentials) { _, _ in throw Leaky() }, Signing { _ in ["X-Signature": "S3CRET"] },
                ]
                $0.observers = LogLevel.allCases.map { RequestLogger($0, to: LogSink { output.add($1) }) }
                $0.observers += [
                    capture, timeline, metrics, Notices(presenter), LoadingIndicator(presenter), observer,
                ]
                $0.retry = RetryPolicy(attempts: 2, backoff: .none, methods: .all)
            }
        ) { client, clock in
            let run = client.start(request)
            do throws(BatonError) { _ = try await run.value } catch {
                output.add(String(reflecting: error.with(message: "")))
                output.add(error.request ?? "")
                output.add("\(error)")
            }
            await clock.settle()
            output.add("\(run.trace)")
        }
        #expect(output.count > 5)
        for event in observer.events { output.add("\(event)") }
        do { try audit.verify() } catch { output.add("\(error)") }
        // What failed without a response is not on the tape.
        output.add(String(decoding: (try? Data(contentsOf: tape)) ?? Data(), as: UTF8.self))
        output.add(String(decoding: capture.har(), as: UTF8.self))
        output.add("\(capture.exchanges)")
        output.add(timeline.html() + timeline.svg() + timeline.text())
        output.add(String(decoding: timeline.har() + timeline.chromeTrace(), as: UTF8.self))
        output.add("\(presenter.calls)")
        output.add("\(metrics.snapshot)")
        output.add("\(credentials.read() as Any)")
        var dumped = ""
        dump(credentials.read(), to: &dumped)
        output.add(dumped)
        for text in output.all { #expect(!text.contains("S3CRET"), "\(text)") }
        // They were not left out altogether.
        #expect(output.all.contains { $0.contains("REDACTED") && $0.contains("page=2") })
    }

    @Test("Invariant 10 Neither is it in a cURL line, nor in the refusal of a URL with a user")
    func curlAndUser() async throws {
        let http = try HTTPRequest(
            method: .post, url: "https://h/?access_token=S3CRET", fields: ["Authorization": "Bearer S3CRET"],
            body: .data(Data("password=S3CRET&a=1".utf8), contentType: nil))
        var form = http
        form.fields[.contentType] = "application/x-www-form-urlencoded"
        #expect(!CURLCommand(form).description.contains("S3CRET"))
        #expect(CURLCommand(form, redaction: nil).description.contains("S3CRET"))
        let client = Client(transport: MockTransport())
        let error = try await failure { try await client.run(Call("https://u:S3CRET@h/", as: Data.self)) }
        #expect(!"\(error)\(String(reflecting: error))".contains("S3CRET"))
    }
}

extension BatonError {
    /// The same without the message, which is whoever threw it's.
    fileprivate func with(message: String) -> BatonError {
        BatonError(code, message, underlying: underlying, response: response)
    }
}
