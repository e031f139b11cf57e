import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("Streamed responses")
struct StreamTests {
    private func collect<Element: Sendable>(
        _ response: ResponseStream<Element>, over mock: MockTransport, retry: RetryPolicy = .none
    ) async throws -> [Element] {
        try await withVirtualTime(transport: mock, seed: 1, configure: { $0.retry = retry }) { client, _ in
            var elements: [Element] = []
            for try await element in client.stream(response) { elements.append(element) }
            return elements
        }
    }

    private func mock(
        _ pieces: [String], type: String? = nil, status: Int = 200, failing: BatonError.Code? = nil
    ) -> MockTransport {
        let mock = MockTransport()
        var fields = HTTPFields()
        fields[.contentType] = type
        mock.on(.get, "/file").reply(
            status: status, fields: fields, chunks: pieces.map { Data($0.utf8) }, every: .seconds(1), failing: failing)
        return mock
    }

    @Test("Bytes come as they are, whether in pieces or as one")
    func bytes() async throws {
        let pieces = try await collect(GetFile().bytes, over: mock(["one", "two", "three"]))
        #expect(pieces.map { String(decoding: $0, as: UTF8.self) } == ["one", "two", "three"])
        let whole = MockTransport()
        whole.on(.get, "/file").reply(status: 200, body: Data("all".utf8))
        let one = try await collect(GetFile().bytes, over: whole)
        #expect(one == [Data("all".utf8)])
    }

    @Test("Lines end with LF, CR LF or CR, wherever the pieces are cut", arguments: 1...9)
    func lines(size: Int) async throws {
        let text = Array("a\r\nb\rc\n\né😀ü\r\r\nlast".utf8)
        let pieces = stride(from: 0, to: text.count, by: size).map { Data(text[$0..<min($0 + size, text.count)]) }
        let mock = MockTransport()
        mock.on(.get, "/file").reply(status: 200, chunks: pieces)
        let lines = try await collect(GetFile().lines, over: mock)
        #expect(lines == ["a", "b", "c", "", "é😀ü", "", "last"])
    }

    @Test("A line that is too long fails, whether it ends or not", arguments: ["12345678901\n1", "12345678901"])
    func longLine(text: String) async throws {
        try await fails(.responseTooLarge) {
            try await collect(GetFile().lines(maxLength: 10), over: mock(["1234567890\n", text]))
        }
    }

    @Test("JSON lines are decoded, and an error names its line")
    func jsonLines() async throws {
        let items = try await collect(
            GetFile().jsonLines(of: Item.self), over: mock(["{\"n\":1}\n\n{\"n\"", ":2}\r\n{\"n\":3}"]))
        #expect(items.map(\.n) == [1, 2, 3])
        let error = try await failure {
            try await collect(GetFile().jsonLines(of: Item.self), over: mock(["{\"n\":1}\n\n{\"m\":2}\n"]))
        }
        #expect(error.code == .decodingFailed && error.message.contains("line 3"))
    }

    @Test("A refused response throws with its body, and is tried again as the policy says")
    func refused() async throws {
        let mock = MockTransport()
        mock.on(.get, "/file").reply(status: 503, body: Data("busy".utf8)).then.reply(
            status: 200, chunks: [Data("x".utf8)])
        let error = try await failure { try await collect(GetFile().lines, over: mock) }
        #expect(error.code == .unacceptableStatus && error.response?.body == Data("busy".utf8))
        mock.on(.get, "/other").reply(status: 503).then.reply(status: 200, chunks: [Data("x".utf8)])
        let lines = try await collect(GetFile(path: "/other").lines, over: mock, retry: .quick)
        #expect(lines == ["x"])
    }

    @Test("A failure after the first bytes comes after them, and is not tried again")
    func breaksOff() async throws {
        let mock = mock(["one\n", "tw"], failing: .connectionLost)
        try await withVirtualTime(transport: mock, seed: 1, configure: { $0.retry = .quick }) { client, _ in
            var lines: [String] = []
            try await fails(.connectionLost) {
                for try await line in client.stream(GetFile().lines) { lines.append(line) }
            }
            #expect(lines == ["one"])
        }
        #expect(mock.calls.count == 1)
    }

    @Test("Leaving the loop ends the exchange and gives the slot back", arguments: [true, false])
    func leaving(cancelsTask: Bool) async throws {
        let mock = MockTransport()
        mock.on(.get, "/file").reply(
            status: 200, chunks: (0..<1_000).map { Data("\($0)\n".utf8) }, every: .seconds(1))
        try await withVirtualTime(transport: mock, seed: 1) { client, clock in
            if cancelsTask {
                let task = client.engine.scheduler.startTask("a reader") {
                    do { for try await _ in client.stream(GetFile().lines) {} } catch {}
                }
                try await clock.sleep(for: .seconds(5))
                check(client.counts.inFlight == 1)
                task.cancel()
                try await clock.sleep(for: .seconds(1))
            } else {
                for try await line in client.stream(GetFile().lines) where line == "4" { break }
            }
            await clock.settle()
            check(client.counts.inFlight == 0)
            check(clock.elapsed < .seconds(8))
        }
    }

    @Test("A slow reader holds the server up, and its slowness is no timeout")
    func backpressure() async throws {
        let mock = MockTransport()
        let pieces = (0..<20).map { _ in Data(count: 40_000) }
        mock.on(.get, "/file").reply(status: 200, chunks: pieces)
        try await withVirtualTime(transport: mock, seed: 1) { client, clock in
            var count = 0
            for try await piece in client.stream(GetFile().bytes) {
                count += piece.count
                try await clock.sleep(for: .seconds(70))
                // Two pieces wait, the next ones have not come.
                check(client.counts.inFlight == (count < 760_000 ? 1 : 0))
            }
            #expect(count == 800_000)
        }
    }

    @Test("A server that falls silent is a timeout")
    func silence() async throws {
        let mock = MockTransport()
        mock.on(.get, "/file").reply(status: 200, chunks: [Data("a".utf8), Data("b".utf8)], every: .seconds(61))
        try await fails(.timedOut) { try await collect(GetFile().bytes, over: mock) }
    }

    @Test("A stream begins again with each loop, and not before")
    func loops() async throws {
        let mock = mock(["a\n", "b\n"])
        try await withVirtualTime(transport: mock, seed: 1) { client, _ in
            let lines = client.stream(GetFile().lines)
            check(mock.calls.isEmpty)
            for _ in 0..<2 {
                var read: [String] = []
                for try await line in lines { read.append(line) }
                check(read == ["a", "b"])
            }
        }
        #expect(mock.calls.count == 2)
    }
}
