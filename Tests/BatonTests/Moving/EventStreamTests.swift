import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("Server-sent events")
struct EventStreamTests {
    private static func parse(_ text: String, size: Int = .max) throws -> [ServerSentEvent] {
        var parser = EventParser(maxLength: 1 << 20, reconnecting: .always)
        let bytes = Array(text.utf8)
        var events: [ServerSentEvent] = []
        for start in stride(from: 0, to: bytes.count, by: min(size, bytes.count + 1)) {
            let end = size == .max ? bytes.count : min(start + size, bytes.count)
            events += try parser.parse(Data(bytes[start..<end]))
        }
        return events + parser.finish()
    }

    @Test(
        "Streams are read as the standard says",
        arguments: [
            ("data: a\n\n", [ServerSentEvent(data: "a")]),
            ("\u{FEFF}data: a\n\n", [ServerSentEvent(data: "a")]),
            ("data:a\r\rdata: b\r\n\r\n", [ServerSentEvent(data: "a"), ServerSentEvent(data: "b")]),
            ("data: YHOO\ndata: +2\ndata:  10\n\n", [ServerSentEvent(data: "YHOO\n+2\n 10")]),
            (
                ": note\n\ndata: one\nid: 1\n\ndata:two\nid\n\ndata:  three\n\n",
                [
                    ServerSentEvent(data: "one", id: "1"), ServerSentEvent(data: "two"),
                    ServerSentEvent(data: " three"),
                ]
            ),
            ("data\n\ndata\ndata\n\ndata:", [ServerSentEvent(data: ""), ServerSentEvent(data: "\n")]),
            (
                "event: add\ndata: 7\n\nevent: x\n\ndata: 8\n\n",
                [
                    ServerSentEvent(event: "add", data: "7"), ServerSentEvent(data: "8"),
                ]
            ),
            (
                "id: 1\ndata: a\n\nid: b\u{0}c\ndata: d\n\n",
                [
                    ServerSentEvent(data: "a", id: "1"), ServerSentEvent(data: "d", id: "1"),
                ]
            ),
            ("data: unfinished", []), ("data: unfinished\n", []), ("nonsense\nDATA: no\n\n", []),
        ] as [(String, [ServerSentEvent])])
    func standard(text: String, events: [ServerSentEvent]) throws {
        for size in [1, 2, 3, 7, .max] { #expect(try Self.parse(text, size: size) == events) }
    }

    private func mock(
        _ replies: [(status: Int, text: String, isBroken: Bool)], type: String? = "text/event-stream; charset=utf-8"
    )
        -> MockTransport
    {
        let mock = MockTransport()
        var fields = HTTPFields()
        fields[.contentType] = type
        let stub = mock.on(.get, "/file")
        for reply in replies {
            stub.reply(
                status: reply.status, fields: reply.status == 204 ? [:] : fields,
                chunks: reply.text.isEmpty ? [] : [Data(reply.text.utf8)],
                failing: reply.isBroken ? .connectionLost : nil, times: 1)
        }
        return mock
    }

    @Test("A stream goes on after its connection has ended: after the wait, with the latest identifier, until 204")
    func reconnects() async throws {
        let mock = mock([
            (200, "retry: 5000\nid: 7\ndata: a\n\ndata: lost", false), (200, "data: b\n\n", true), (204, "", false),
        ])
        try await withVirtualTime(transport: mock, seed: 1, configure: { $0.retry = .none }) { client, clock in
            var data: [String] = []
            for try await event in client.stream(GetFile().serverSentEvents) { data.append(event.data) }
            check(data == ["a", "b"])
            check(clock.elapsed == .seconds(10))
        }
        #expect(mock.calls.map { $0.fields["Last-Event-ID"] } == [nil, "7", "7"])
        #expect(mock.calls.allSatisfy { $0.fields[.accept] == "text/event-stream" })
    }

    @Test("A stream that is not to go on ends with its response")
    func ends() async throws {
        let mock = MockTransport()
        mock.on(.post, "/chat").reply(
            status: 200, fields: ["Content-Type": "text/event-stream"], chunks: [Data("data: a\n\n".utf8)])
        try await withVirtualTime(transport: mock, seed: 1) { client, _ in
            var count = 0
            for try await _ in client.stream(Send(path: "/chat").serverSentEvents) { count += 1 }
            check(count == 1)
        }
        #expect(mock.calls.count == 1)
    }

    @Test("After a failure only, a regular end is the end")
    func afterFailure() async throws {
        let mock = mock([(200, "data: a\n\n", true), (200, "data: b\n\n", false)])
        try await withVirtualTime(transport: mock, seed: 1, configure: { $0.retry = .none }) { client, clock in
            var data: [String] = []
            for try await event in client.stream(GetFile().serverSentEvents(reconnecting: .afterFailure)) {
                data.append(event.data)
            }
            check(data == ["a", "b"])
            check(clock.elapsed == .seconds(3))
        }
    }

    @Test("Another content type is an error", arguments: ["text/html", nil])
    func wrongType(type: String?) async throws {
        let mock = mock([(200, "data: a\n\n", false)], type: type)
        try await fails(.invalidResponse) {
            try await withVirtualTime(transport: mock, seed: 1) { client, _ in
                for try await _ in client.stream(GetFile().serverSentEvents) {}
            }
        }
        #expect(mock.calls.count == 1)
    }

    @Test("A connection that cannot be made again ends the loop with its error")
    func givesUp() async throws {
        let mock = mock([(200, "data: a\n\n", false), (500, "", false)])
        try await fails(.unacceptableStatus) {
            try await withVirtualTime(transport: mock, seed: 1, configure: { $0.retry = .none }) { client, _ in
                for try await _ in client.stream(GetFile().serverSentEvents) {}
            }
        }
    }

    @Test("An event that is too long is an error")
    func tooLong() throws {
        var parser = EventParser(maxLength: 10, reconnecting: .never)
        #expect(throws: BatonError.self) { try parser.parse(Data("data: 12\ndata: 34567890\n".utf8)) }
    }
}
