import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("Redirects of bodies that move", .timeLimit(.minutes(2)))
struct RedirectedBodiesTests {
    private static let length: Int64 = 1_500_000

    /// Two hosts: `first` redirects `/file` to `second`.
    private struct Bench {
        let first: LoopbackServer
        let second: LoopbackServer
        let transport: any Transport
        let client: Client
        let folder: Folder

        init(
            _ kind: WireTransport, status: Int = 302, retry: RetryPolicy = .none,
            configure: (inout Client.Configuration) -> Void = { _ in }
        ) throws {
            (first, second, transport) = (try LoopbackServer(), try LoopbackServer(), try kind.make())
            client = Client(baseURL: first.baseURL, transport: transport, retry: retry, configure: configure)
            folder = try Folder()
            // A body of its own, which must not end up in the file.
            let redirect = LoopbackServer.Reply.text("elsewhere", status: status, fields: [.location: "/hop"])
            first.onAnyMethod("/file", redirect)
            first.onAnyMethod(
                "/hop", .text("further", status: status, fields: [.location: "\(second.baseURL)/there"]))
        }

        func end() {
            transport.shutdown()
            first.stop()
            second.stop()
        }
    }

    @Test("A download follows redirects, and its file holds the last response only", arguments: WireTransport.allCases)
    func download(kind: WireTransport) async throws {
        let bench = try Bench(kind)
        bench.second.on(.get, "/there") { .ranged($0.fields, length: Self.length) }
        let file = try await bench.client.run(
            Call("/file", as: Data.self) { $0.fields[.authorization] = "secret" }
                .download(to: bench.folder.file("x")))
        #expect(file.byteCount == Self.length && file.head.status == 200)
        #expect(try Data(contentsOf: file.url) == LoopbackServer.pattern(0..<Self.length))
        #expect(bench.folder.names == ["x"])
        #expect(bench.first.requests.map(\.path) == ["/file", "/hop"])
        // The secret stays at the host that it was for.
        #expect(bench.first.requests.map { $0.fields[.authorization] } == ["secret", "secret"])
        #expect(bench.second.requests.map { $0.fields[.authorization] } == [nil])
        bench.end()
    }

    @Test(
        "A download that breaks behind a redirect asks for the rest, by way of the redirect",
        arguments: WireTransport.allCases)
    func resumed(kind: WireTransport) async throws {
        let bench = try Bench(kind, retry: .quick)
        bench.second.on(.get, "/there") { .ranged($0.fields, length: Self.length, breaksAt: 1_000_000) }
        let file = try await bench.client.run(GetFile().download(to: bench.folder.file("x")))
        #expect(file.resumedFrom > 0 && file.byteCount == Self.length)
        #expect(try Data(contentsOf: file.url) == LoopbackServer.pattern(0..<Self.length))
        #expect(bench.first.requests.count == 4)
        #expect(bench.second.requests.map { $0.fields.contains(.range) } == [false, true])
        bench.end()
    }

    @Test("A part that is gone is asked for whole at the place of the redirect", arguments: WireTransport.allCases)
    func outOfRange(kind: WireTransport) async throws {
        let bench = try Bench(kind, retry: .quick)
        bench.second.on(
            .get, "/there",
            [
                .pattern(length: Self.length, fields: ["ETag": "\"t\""]).broken(.close, at: .bodyByte(1_000_000)),
                .status(416, fields: ["Content-Range": "bytes */7"]), .text("shorter"),
            ])
        let file = try await bench.client.run(GetFile().download(to: bench.folder.file("x")))
        #expect(file.byteCount == 7 && file.resumedFrom == 0)
        #expect(try String(contentsOf: file.url, encoding: .utf8) == "shorter")
        #expect(bench.second.requests.map { $0.fields.contains(.range) } == [false, true, false])
        bench.end()
    }

    @Test(
        "A redirect that is not followed fails the download with what it said, and leaves no file",
        arguments: WireTransport.allCases)
    func unfollowed(kind: WireTransport) async throws {
        let bench = try Bench(kind) { $0.redirects = .unfollowed }
        let error = try await failure {
            try await bench.client.run(GetFile().download(to: bench.folder.file("x")))
        }
        #expect(error.code == .unacceptableStatus && error.response?.status == 302)
        #expect(error.response?.body == Data("elsewhere".utf8))
        #expect(await bench.folder.settles([]))
        #expect(bench.second.requests.isEmpty)
        bench.end()
    }

    @Test("A download that is redirected in a circle ends at the limit", arguments: WireTransport.allCases)
    func circle(kind: WireTransport) async throws {
        let bench = try Bench(kind) { $0.redirects = Redirects(limit: 3) }
        bench.second.on(.get, "/there", .redirect(to: "\(bench.first.baseURL)/file"))
        let error = try await failure {
            try await bench.client.run(GetFile().download(to: bench.folder.file("x")))
        }
        #expect(error.code == .tooManyRedirects && error.attempts == 1)
        #expect(await bench.folder.settles([]))
        bench.end()
    }

    @Test("A refusal behind a redirect is no file: its body is in the error", arguments: WireTransport.allCases)
    func refused(kind: WireTransport) async throws {
        let bench = try Bench(kind)
        bench.second.on(.get, "/there", .text("no such", status: 404))
        let error = try await failure {
            try await bench.client.run(GetFile().download(to: bench.folder.file("x")))
        }
        #expect(error.code == .unacceptableStatus && error.response?.body == Data("no such".utf8))
        #expect(await bench.folder.settles([]))
        bench.end()
    }

    @Test(
        "A POST that is downloaded becomes a GET at 303, and stays one with its body at 307",
        arguments: WireTransport.allCases, [303, 307])
    func posted(kind: WireTransport, status: Int) async throws {
        let bench = try Bench(kind, status: status)
        bench.second.onAnyMethod("/there", .text("made"))
        let call = Call("/file", method: .post, as: Data.self) { $0.body = .text("order") }
        let file = try await bench.client.run(call.download(to: bench.folder.file("x")))
        #expect(try String(contentsOf: file.url, encoding: .utf8) == "made")
        let last = try #require(bench.second.requests.last)
        #expect(last.method == (status == 303 ? .get : .post))
        #expect(String(decoding: last.body, as: UTF8.self) == (status == 303 ? "" : "order"))
        bench.end()
    }

    @Test("An upload of a file is sent again where a 307 leads it", arguments: WireTransport.allCases)
    func upload(kind: WireTransport) async throws {
        let bench = try Bench(kind, status: 307)
        bench.second.on(.put, "/there", .status(204), body: .discarded)
        let file = try TemporaryFile(LoopbackServer.pattern(0..<Self.length), name: "up")
        _ = try await bench.client.run(Send(method: .put, path: "/file", body: .file(file.url)))
        let last = try #require(bench.second.requests.last)
        #expect(last.bodyLength == Self.length)
        #expect(last.bodyChecksum == LoopbackServer.checksum(of: file.contents))
        bench.end()
    }

    @Test("Lines and bytes come from where the redirect leads, as they come", arguments: WireTransport.allCases)
    func lines(kind: WireTransport) async throws {
        let bench = try Bench(kind)
        let gate = LoopbackServer.Gate()
        bench.second.on(.get, "/there", .chunks(["one\ntwo\n", "three\n"]).held(by: gate, at: .bodyByte(8)))
        var read: [String] = []
        for try await line in bench.client.stream(GetFile().lines) {
            read.append(line)
            // The response is still under way: the rest is held until two lines were read.
            if line == "two" { gate.release() }
        }
        #expect(read == ["one", "two", "three"])
        var bytes = Data()
        for try await piece in bench.client.stream(GetFile().bytes) { bytes += piece }
        #expect(bytes == Data("one\ntwo\nthree\n".utf8))
        bench.end()
    }

    @Test(
        "Events are asked for again by way of the redirect, with the latest identifier",
        arguments: WireTransport.allCases)
    func events(kind: WireTransport) async throws {
        let bench = try Bench(kind)
        let type: HTTPFields = [.contentType: "text/event-stream"]
        bench.second.on(
            .get, "/there",
            [
                .chunks(["retry: 1\nid: 7\ndata: one\n\n"], fields: type), .chunks(["data: two\n\n"], fields: type),
            ])
        var read: [String] = []
        for try await event in bench.client.stream(GetFile().serverSentEvents) {
            read.append(event.data)
            if read.count == 2 { break }
        }
        #expect(read == ["one", "two"])
        #expect(Array(bench.first.requests.prefix(4).map(\.path)) == ["/file", "/hop", "/file", "/hop"])
        #expect(bench.second.requests.prefix(2).map { $0.fields["Last-Event-ID"] } == [nil, "7"])
        #expect(bench.second.requests.first?.fields[.accept] == "text/event-stream")
        bench.end()
    }

    @Test(
        "A stream that is refused behind a redirect throws with the refusal's body", arguments: WireTransport.allCases)
    func refusedStream(kind: WireTransport) async throws {
        let bench = try Bench(kind)
        bench.second.on(.get, "/there", .text("busy", status: 503))
        let error = try await failure {
            for try await _ in bench.client.stream(GetFile().lines) {}
        }
        #expect(error.code == .unacceptableStatus && error.response?.body == Data("busy".utf8))
        bench.end()
    }
}

@Suite("Where a body that moves stands in a plan")
struct MovingPathTests {
    private func path(_ plan: some Plan) async throws -> String {
        let mock = MockTransport()
        mock.on(.get, "/file").reply(status: 404)
        mock.on(.get, "/items/1").reply(Item(n: 1))
        let error = try await failure {
            try await withVirtualTime(transport: mock, seed: 1) { client, _ in _ = try await client.run(plan) }
        }
        #expect(error.response?.status == 404)
        return error.path
    }

    @Test("A download by itself has no place, like any single request; in a chain, the place is its step")
    func download() async throws {
        let folder = try Folder()
        let download = GetFile().download(to: folder.file("x"))
        #expect(try await path(download) == "")
        #expect(try await path(download.retry(.none)) == "")
        #expect(try await path(GetItem(n: 1).then { _ in download }) == "chain[1]")
    }

    @Test("A request whose output is changed has no place of its own either; one that follows has")
    func mapped() async throws {
        #expect(try await path(GetFile().map { $0.count }) == "")
        #expect(try await path(GetFile().map { $0.count }.then { _ in GetItem(n: 1) }) == "chain[0]")
        #expect(try await path(GetItem(n: 1).map { $0.n }.then { _ in GetFile().map { $0.count } }) == "chain[1]")
    }
}
