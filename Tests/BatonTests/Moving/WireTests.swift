import BatonTesting
import Foundation
import Testing

@testable import Baton

/// The transports that talk to servers.
enum WireTransport: CaseIterable, Sendable {
    #if os(Linux)
        case curl
    #endif
    case urlSession

    func make() throws -> any Transport {
        switch self {
        #if os(Linux)
            case .curl:
                var configuration = CurlTransport.Configuration()
                configuration.proxy = .none
                return try CurlTransport(configuration: configuration)
        #endif
        case .urlSession: return URLSessionTransport()
        }
    }
}

@Suite("Moving bodies over the wire", .timeLimit(.minutes(2)))
struct WireTests {
    private static let length: Int64 = 3_000_000

    private func bench(
        _ transport: WireTransport, retry: RetryPolicy = .none
    ) throws -> (LoopbackServer, Client, any Transport) {
        let (server, transport) = (try LoopbackServer(), try transport.make())
        return (server, Client(baseURL: server.baseURL, transport: transport, retry: retry), transport)
    }

    @Test("A download arrives whole", arguments: WireTransport.allCases)
    func download(kind: WireTransport) async throws {
        let (server, client, transport) = try bench(kind)
        let folder = try Folder()
        server.on(.get, "/file") { .ranged($0.fields, length: Self.length) }
        let file = try await client.run(GetFile().download(to: folder.file("x")))
        #expect(file.byteCount == Self.length)
        #expect(try Data(contentsOf: file.url) == LoopbackServer.pattern(0..<Self.length))
        #expect(folder.names == ["x"])
        transport.shutdown()
    }

    @Test("A download whose connection breaks asks for the rest", arguments: WireTransport.allCases)
    func resumed(kind: WireTransport) async throws {
        let (server, client, transport) = try bench(kind, retry: .quick)
        let folder = try Folder()
        server.on(.get, "/file") { .ranged($0.fields, length: Self.length, breaksAt: 2_000_000) }
        let file = try await client.run(GetFile().download(to: folder.file("x")))
        #expect(file.resumedFrom > 0 && file.byteCount == Self.length)
        #expect(try Data(contentsOf: file.url) == LoopbackServer.pattern(0..<Self.length))
        #expect(server.requests.count == 2)
        transport.shutdown()
    }

    @Test(
        "A part that the server does not have any more is asked for whole, in the same attempt",
        arguments: WireTransport.allCases)
    func outOfRange(kind: WireTransport) async throws {
        let (server, client, transport) = try bench(kind, retry: .quick)
        let folder = try Folder()
        server.on(
            .get, "/file",
            [
                .pattern(length: Self.length, fields: ["ETag": "\"t\""]).broken(.close, at: .bodyByte(1_000_000)),
                .status(416, fields: ["Content-Range": "bytes */7"]), .text("shorter"),
            ])
        let file = try await client.run(GetFile().download(to: folder.file("x")))
        #expect(file.byteCount == 7 && file.resumedFrom == 0)
        #expect(server.requests.map { $0.fields.contains(.range) } == [false, true, false])
        transport.shutdown()
    }

    @Test(
        "Lines come while the response is under way, and leaving the loop closes the connection",
        arguments: WireTransport.allCases)
    func lines(kind: WireTransport) async throws {
        let (server, client, transport) = try bench(kind)
        let gate = LoopbackServer.Gate()
        server.on(.get, "/file", .chunks(["one\ntwo\nth", "ree\n"]).held(by: gate, at: .bodyByte(10)))
        var read: [String] = []
        for try await line in client.stream(GetFile().lines) {
            read.append(line)
            if line == "two" { break }
        }
        #expect(read == ["one", "two"])
        await server.wait { $0.openConnections == 0 }
        gate.release()
        transport.shutdown()
    }

    #if os(Linux)
        @Test("A reader that does not read holds a server up over curl")
        func backpressure() async throws {
            let (server, client, transport) = try bench(.curl)
            let length: Int64 = 60_000_000
            server.on(.get, "/file", .pattern(length: length))
            server.on(.get, "/other", .status(204))
            var count: Int64 = 0
            for try await piece in client.stream(GetFile().bytes) {
                if count == 0 {
                    // The transport and the server are at work in the meantime, each on its one thread, and have every
                    // occasion to go on with the file too. What the sockets and we hold is far less than the whole.
                    for _ in 0..<500 { _ = try await client.run(Call<EmptyResponse>("/other")) }
                    #expect(server.activity.bytesSent < length / 2)
                }
                count += Int64(piece.count)
            }
            #expect(count == length)
            transport.shutdown()
        }
    #endif

    @Test("An upload of a file tells its progress", arguments: WireTransport.allCases)
    func upload(kind: WireTransport) async throws {
        let (server, client, transport) = try bench(kind)
        server.on(.put, "/up", .status(204), body: .discarded)
        let file = try TemporaryFile(LoopbackServer.pattern(0..<Self.length), name: "up")
        let run = client.start(
            Send(method: .put, path: "/up", body: .file(file.url)).chain.delayed(by: .milliseconds(1)))
        var parts: [TransferProgress] = []
        for await progress in run.progress { if let part = progress.upload { parts.append(part) } }
        _ = try await run.value
        #expect(parts.last?.bytes == Self.length && parts.last?.fraction == 1)
        #expect(zip(parts, parts.dropFirst()).allSatisfy { $0.bytes < $1.bytes })
        #expect(server.requests.last?.bodyChecksum == LoopbackServer.checksum(of: file.contents))
        transport.shutdown()
    }

    @Test("A piece of a stream that is larger than any buffer arrives whole", arguments: WireTransport.allCases)
    func largePiece(kind: WireTransport) async throws {
        let (server, client, transport) = try bench(kind)
        server.on(.put, "/up", .status(204), body: .discarded)
        let piece = LoopbackServer.pattern(0..<Self.length)
        let body = HTTPBodyStream(length: Self.length, isReplayable: true) { OnePiece(piece) }
        _ = try await client.run(Send(method: .put, path: "/up", body: .stream(body)))
        #expect(server.requests.last?.bodyChecksum == LoopbackServer.checksum(of: piece))
        transport.shutdown()
    }
}

/// Gives all that it has at once, however little is asked for.
private final class OnePiece: HTTPBodyReader {
    private let rest: LockBox<Data?>

    init(_ piece: Data) { rest = LockBox(piece) }

    func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
        rest.withLock { rest in
            defer { rest = nil }
            return rest.map { .bytes($0) } ?? .end
        }
    }

    func close() {}
}
