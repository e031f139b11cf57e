import Baton
import BatonTesting
import Foundation
import Testing

/// A folder that goes with the test.
final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UInt64.random(in: 0 ... .max))")
    var tape: URL { url.appendingPathComponent("tapes/tape.har") }
    var text: String { (try? String(contentsOf: tape, encoding: .utf8)) ?? "" }

    init() {}

    func write(_ text: String) throws {
        try FileManager.default.createDirectory(
            at: tape.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: tape)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
}

@Suite("Recording and replay") struct CassetteTests {
    let folder = Folder()
    let mock = MockTransport()

    init() {
        let count = LockBox(0)
        mock.on { _ in true }.reply { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return HTTPResponse(
                status: 200, fields: ["Content-Type": "application/json"],
                body: Data(#"{"total": \#(number), "token": "S3CRET"}"#.utf8))
        }
    }

    private func order(_ id: Int) -> Call<Order> { Call("/orders/\(id)") }

    @Test("Without a file everything is recorded, and with it everything is replayed")
    func once() async throws {
        let recording = Client(try Cassette(file: folder.tape, around: mock))
        #expect(try await recording.run(order(1)).total == 1)
        #expect(try await recording.run(order(2)).total == 2)

        let cassette = try Cassette(file: folder.tape, around: mock)
        #expect(cassette.unplayed.map(\.target) == ["/orders/1", "/orders/2"])
        let replaying = Client(cassette)
        #expect(try await replaying.run(order(2)).total == 2)
        #expect(try await replaying.run(order(1)).total == 1)
        #expect(cassette.unplayed.isEmpty)
        #expect(mock.calls.count == 2)
        let error = await replaying.error(of: order(3))
        #expect(error?.code == .unmatchedRequest)
        #expect(error?.message.contains("tape.har holds no recording of GET https://api.example.com/orders/3") == true)
        #expect(error?.message.contains("it holds GET https://api.example.com/orders/1") == true)
    }

    @Test("Identical requests are replayed in their order, and one more is an error that says so")
    func identical() async throws {
        let recording = Client(try Cassette(file: folder.tape, around: mock))
        for total in 1...2 { #expect(try await recording.run(order(1)).total == total) }
        let replaying = Client(try Cassette(file: folder.tape, mode: .none))
        for total in 1...2 { #expect(try await replaying.run(order(1)).total == total) }
        let error = await replaying.error(of: order(1))
        #expect(error?.code == .unmatchedRequest)
        #expect(error?.message.contains("once more than it was recorded: tape.har holds it 2 times") == true)
    }

    @Test("Mode none needs a file, and mode all records anew")
    func noneAndAll() async throws {
        #expect(throws: BatonError.self) { try Cassette(file: folder.tape, mode: .none) }
        for total in 1...2 {
            let client = Client(try Cassette(file: folder.tape, mode: .all, around: mock))
            #expect(try await client.run(order(1)).total == total)
        }
        let client = Client(try Cassette(file: folder.tape, mode: .none))
        #expect(try await client.run(order(1)).total == 2)
        #expect(await client.error(of: order(1)) != nil)
    }

    @Test("New episodes replays what there is and records what is new")
    func newEpisodes() async throws {
        let first = Client(try Cassette(file: folder.tape, mode: .newEpisodes, around: mock))
        #expect(try await first.run(order(1)).total == 1)
        let second = Client(try Cassette(file: folder.tape, mode: .newEpisodes, around: mock))
        #expect(try await second.run(order(1)).total == 1)
        #expect(try await second.run(order(2)).total == 2)
        let third = Client(try Cassette(file: folder.tape, mode: .none))
        #expect(try await third.run(order(1)).total == 1)
        #expect(try await third.run(order(2)).total == 2)
        #expect(mock.calls.count == 2)
    }

    @Test("Bodies tell requests apart by default, and a match of one's own decides otherwise")
    func matching() async throws {
        func post(_ text: String) -> Call<Order> {
            Call("/orders", method: .post) { $0.body = .json(["name": text]) }
        }
        let recording = Client(try Cassette(file: folder.tape, around: mock))
        #expect(try await recording.run(post("a")).total == 1)
        #expect(try await recording.run(post("b")).total == 2)
        let replaying = Client(try Cassette(file: folder.tape))
        #expect(try await replaying.run(post("b")).total == 2)
        #expect(await replaying.error(of: post("c"))?.code == .unmatchedRequest)
        let loose = Client(try Cassette(file: folder.tape, match: Cassette.methodAndURL))
        #expect(try await loose.run(post("c")).total == 1)
        let own = Client(try Cassette(file: folder.tape) { $0.body.bytes?.count == $1.body.bytes?.count })
        #expect(try await own.run(post("x")).total == 1)
    }

    @Test("L62 No secret reaches the disk, and a request with another secret is the same one")
    func secrets() async throws {
        func signIn(_ secret: String) -> Call<Order> {
            Call("/sign-in?access_token=\(secret)&page=1", method: .post) {
                $0.fields = ["authorization": "Bearer \(secret)", "Cookie": "sid=\(secret)", "API-Key": secret]
                $0.body = .json(["user": "ada", "password": secret])
            }
        }
        mock.on(.post, "/sign-in").anyQuery().reply(
            status: 200,
            fields: [
                "Set-Cookie": "sid=S3CRET", "Location": "https://u:S3CRET@h/?token=S3CRET",
                "Content-Type": "application/json",
            ], body: Data(#"{"total": 5, "refresh_token": "S3CRET"}"#.utf8))
        let recording = Client(try Cassette(file: folder.tape, around: mock))
        #expect(try await recording.run(signIn("S3CRET")).total == 5)
        #expect(!folder.text.contains("S3CRET"))
        #expect(folder.text.contains("REDACTED") && folder.text.contains("ada"))
        let replaying = Client(try Cassette(file: folder.tape, mode: .none))
        let response = try await replaying.run(
            Call("/sign-in?access_token=other&page=1", method: .post, as: HTTPResponse.self) {
                $0.body = .json(["user": "ada", "password": "other"])
            })
        #expect(String(decoding: response.body, as: UTF8.self) == #"{"total": 5, "refresh_token": "REDACTED"}"#)
        let error = await replaying.error(of: signIn("S3CRET"))
        #expect(error?.description.contains("S3CRET") == false)
    }

    @Test("Bytes that are no text survive, sent and received, and a stream is recorded whole")
    func binary() async throws {
        let bytes = Data((0...255).map { UInt8($0) } + [0xFF, 0xFE])
        mock.on(.post, "/bytes").reply(status: 200, body: bytes)
        func call(_ body: HTTPBody) -> Call<Data> { Call("/bytes", method: .post) { $0.body = body } }
        let recording = Client(try Cassette(file: folder.tape, around: mock))
        #expect(try await recording.run(call(.data(bytes))) == bytes)
        #expect(try await recording.run(call(.stream(stream(of: [Data("ab".utf8), bytes])))) == bytes)
        let replaying = Client(try Cassette(file: folder.tape, mode: .none))
        #expect(try await replaying.run(call(.stream(stream(of: [Data("a".utf8), Data("b".utf8) + bytes])))) == bytes)
        #expect(try await replaying.run(call(.data(bytes))) == bytes)
    }

    @Test("Pieces are passed on as they come while they are recorded, and the receiver can wait")
    func pieces() async throws {
        mock.on(.get, "/pieces").reply(chunks: ["a", "b"].map { Data($0.utf8) })
        let cassette = try Cassette(file: folder.tape, around: mock)
        let probe = Probe()
        probe.setDemand(.wait)
        let transmission = cassette.send(try HTTPRequest(url: "https://h/pieces"), to: probe.receiver)
        #expect(probe.now.chunks.count == 1)
        transmission.resume()
        await probe.chunks(2)
        transmission.resume()
        #expect(try await probe.end().get().body == Data("ab".utf8))
        #expect(try await Client(try Cassette(file: folder.tape), base: "https://h").run(Call("/pieces")) == "ab")
    }

    @Test("A cancelled recording cancels what it wraps, and records nothing")
    func cancelled() async throws {
        mock.on(.get, "/held").hold()
        let cassette = try Cassette(file: folder.tape, around: mock)
        let probe = Probe()
        let transmission = cassette.send(try HTTPRequest(url: "https://h/held"), to: probe.receiver)
        #expect(mock.inFlight == 1)
        transmission.cancel()
        #expect(probe.code == .cancelled && probe.now.ends == 1)
        #expect(mock.inFlight == 0)
        #expect(folder.text.isEmpty)
    }

    @Test("A hundred requests at once are all recorded, in the order in which they were made")
    func parallel() async throws {
        let recording = Client(try Cassette(file: folder.tape, around: mock))
        _ = try await recording.run(Batch((0..<100).map { order($0) }, maxConcurrency: 20))
        let cassette = try Cassette(file: folder.tape, mode: .none)
        #expect(cassette.unplayed.count == 100)
        let report = try await Client(cassette).run(Batch((0..<100).map { order($0) }, maxConcurrency: 20))
        #expect(report.successes.count == 100)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.tape.deletingLastPathComponent().path).count == 1
        )
    }

    @Test("A recording that cannot be written fails its request")
    func unwritable() async throws {
        try folder.write("")
        let client = Client(try Cassette(file: folder.tape.appendingPathComponent("below/a/file.har"), around: mock))
        let error = await client.error(of: order(1))
        #expect(error?.message.contains("could not be written") == true)
    }

    @Test("A cassette without a transport cannot record, and says so")
    func noTransport() async throws {
        let client = Client(try Cassette(file: folder.tape))
        #expect(await client.error(of: order(1))?.code == .invalidConfiguration)
    }

    @Test("A cassette is driven by virtual time when what it wraps is")
    func virtualTime() async throws {
        mock.on(.get, "/slow").reply(status: 200, json: #"{"total": 8}"#, after: .seconds(30))
        let cassette = try Cassette(file: folder.tape, around: mock)
        try await withVirtualTime(transport: cassette) { client, clock in
            let total = try await client.run(Call("/slow", as: Order.self)).total
            #expect(total == 8)
            #expect(clock.elapsed == .seconds(30))
        }
        #expect(folder.text.contains("\"wait\" : 30000"))
        try await withVirtualTime(transport: try Cassette(file: folder.tape)) { client, clock in
            _ = try await client.run(Call("/slow", as: Order.self))
            #expect(clock.elapsed == .zero)
        }
    }
}
