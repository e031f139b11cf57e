import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("Bodies that are sent again")
struct ReplayTests {
    enum Kind: CaseIterable, Sendable { case data, file, reader, sequence, multipart, readerOnce, sequenceOnce }

    private static let bytes = LoopbackServer.pattern(0..<200_000)

    private func body(_ kind: Kind, _ file: TemporaryFile) throws -> HTTPBody {
        let bytes = Self.bytes
        let halves = [bytes.prefix(70_000), bytes.dropFirst(70_000)].map { Data($0) }
        return switch kind {
        case .data: .data(bytes)
        case .file: .file(file.url)
        case .reader: .stream(HTTPBodyStream(length: 200_000, isReplayable: true) { PatternReader(200_000) })
        case .sequence: .stream(HTTPBodyStream(length: 200_000) { AsyncPieces(halves) })
        case .multipart: .multipart([.text("title", "x"), .file("file", file.url)])
        case .readerOnce: .stream(HTTPBodyStream(length: 200_000, isReplayable: false) { PatternReader(200_000) })
        case .sequenceOnce: .stream(HTTPBodyStream(from: AsyncPieces(halves), length: nil))
        }
    }

    struct AsyncPieces: AsyncSequence, Sendable {
        typealias Element = Data
        let pieces: [Data]
        init(_ pieces: [Data]) { self.pieces = pieces }
        struct AsyncIterator: AsyncIteratorProtocol {
            var pieces: [Data]
            mutating func next() async -> Data? { pieces.isEmpty ? nil : pieces.removeFirst() }
        }
        func makeAsyncIterator() -> AsyncIterator { AsyncIterator(pieces: pieces) }
    }

    private func isOnce(_ kind: Kind) -> Bool { kind == .readerOnce || kind == .sequenceOnce }

    private func judge(_ kind: Kind, _ bodies: [Data], _ result: Result<EmptyResponse, BatonError>) {
        if isOnce(kind) {
            #expect(bodies.count == 1)
            guard case .failure(let error) = result else { return #expect(Bool(false), "it was sent again") }
            #expect(error.code == .unacceptableStatus && error.attempts == 1)
        } else {
            #expect(bodies.count == 2 && bodies.first == bodies.last)
            if case .failure(let error) = result { Issue.record("\(error)") }
        }
        if kind != .multipart { #expect(bodies.allSatisfy { $0 == Self.bytes }) }
        #expect(bodies.allSatisfy { $0.count >= 200_000 })
    }

    @Test(
        "T30 The same bytes go out again, or the request does not: over the wire", arguments: WireTransport.allCases,
        Kind.allCases)
    func wire(transport: WireTransport, kind: Kind) async throws {
        let (server, transport) = (try LoopbackServer(), try transport.make())
        server.on(.put, "/up", [.status(503), .status(204)])
        let file = try TemporaryFile(Self.bytes, name: "up")
        let client = Client(baseURL: server.baseURL, transport: transport, retry: .quick)
        let request = Send(method: .put, path: "/up", body: try body(kind, file))
        judge(kind, [], await client.start(request).outcome, server: server)
        transport.shutdown()
    }

    private func judge(
        _ kind: Kind, _ none: [Data], _ result: Result<EmptyResponse, BatonError>, server: LoopbackServer
    ) {
        judge(kind, server.requests.map(\.body), result)
    }

    @Test("T30 S61 The same bytes go out again, and the mock has them all", arguments: Kind.allCases)
    func mock(kind: Kind) async throws {
        let mock = MockTransport()
        mock.on(.put, "/up").reply(status: 503).then.reply(status: 204)
        let file = try TemporaryFile(Self.bytes, name: "up")
        let request = Send(method: .put, path: "/up", body: try body(kind, file))
        // Bodies from a sequence are read by tasks of their own, which virtual time does not drive.
        let client = Client(baseURL: "http://mock", transport: mock, retry: .quick)
        let result = await client.start(request).outcome
        judge(kind, mock.calls.map(\.body), result)
    }

    @Test("S61 200 requests at once are counted exactly, and each mock has its own")
    func counts() async throws {
        let (first, second) = (MockTransport(), MockTransport())
        first.on(.get, "/file").reply(status: 200)
        second.on(.get, "/file").reply(status: 404)
        let client = Client(baseURL: "http://mock", transport: first)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { _ = try? await client.run(GetFile()) } }
        }
        #expect(first.calls.count == 200 && second.calls.isEmpty)
    }

    @Test("S61 A reply that is delayed is cancelled at once")
    func cancelled() async throws {
        let mock = MockTransport()
        mock.on(.get, "/file").reply(status: 200, after: .seconds(5))
        try await withVirtualTime(transport: mock, seed: 1) { client, clock in
            let run = client.start(GetFile())
            await clock.settle()
            run.cancel()
            let outcome = await run.outcome
            if case .failure(let error) = outcome { #expect(error.isCancelled) } else { Issue.record("it ended well") }
            #expect(clock.elapsed == .zero)
        }
    }
}

#if os(Linux)
    @Suite("Temporary files of uploads", .timeLimit(.minutes(1)))
    struct TemporaryFileTests {
        @Test(
            "M21 No temporary file is left, whatever becomes of the upload; and without a place for one nothing is sent"
        )
        func leftovers() async {
            await #expect(processExitsWith: .success) {
                let (folder, temporary) = (try Folder(), try Folder())
                let source = folder.file("source")
                try LoopbackServer.pattern(0..<12_000_000).write(to: source)
                setenv("TMPDIR", temporary.url.path, 1)
                precondition(FileManager.default.temporaryDirectory.path.hasPrefix(temporary.url.path))
                let server = try LoopbackServer(recording: .count)
                server.on(.put, "/200", .status(200), body: .discarded)
                server.on(.put, "/500", .status(500), body: .discarded)
                server.on(.put, "/again", [.status(503), .status(200)], body: .discarded)
                server.on(.put, "/slow", .stall, body: .discarded)
                let transport = URLSessionTransport()
                let client = Client(baseURL: server.baseURL, transport: transport, retry: .quick)
                func upload(_ path: String) -> Send {
                    Send(method: .put, path: path, body: .multipart([.text("t", "x"), .file("f", source)]))
                }
                _ = try await client.run(upload("/200"))
                _ = try await client.run(upload("/again"))
                let refused = await client.start(upload("/500")).outcome
                precondition(refused.error?.code == .unacceptableStatus)
                let slow = client.start(upload("/slow"))
                await server.wait { $0.requests >= 7 }
                slow.cancel()
                _ = await slow.outcome
                let isClean = await temporary.settles([])
                precondition(isClean, "left: \(temporary.names)")

                let sent = server.activity.requests
                let missing = Send(method: .put, path: "/200", body: .file(folder.file("nothing")))
                let noSource = await client.start(missing).outcome
                precondition(noSource.error != nil)
                setenv("TMPDIR", folder.file("nowhere").path, 1)
                let noPlace = await client.start(upload("/200")).outcome
                precondition(noPlace.error?.code == .transportFailed)
                precondition(server.activity.requests == sent)
                transport.shutdown()
            }
        }
    }

    extension Result where Failure == BatonError {
        fileprivate var error: BatonError? {
            if case .failure(let error) = self { error } else { nil }
        }
    }
#endif
