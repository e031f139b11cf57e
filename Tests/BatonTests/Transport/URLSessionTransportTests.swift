import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("URLSessionTransport", .timeLimit(.minutes(3)))
struct URLSessionTransportTests {
    @Test("A redirect without a Location, or with one that is no URL, is a response all the same")
    func redirectWithoutLocation() async throws {
        let (transport, server) = (URLSessionTransport(), try LoopbackServer())
        server.on(
            .get, "/r", [.status(302, body: "b"), .status(307, fields: [.location: "//user:p@h:-1/"], body: "b")])
        for status in [302, 307] {
            let record = try await transport.exchange(.get, server.baseURL + "/r")
            #expect(record.isComplete && record.head?.status == status)
        }
    }

    @Test("Fields of a response come in the order of their names")
    func fieldOrder() async throws {
        let (transport, server) = (URLSessionTransport(), try LoopbackServer())
        server.on(.get, "/f", .status(200, fields: ["C": "3", "A": "1", "B": "2"]))
        let head = try await transport.exchange(.get, server.baseURL + "/f").head
        #expect(head?.fields.map(\.name.rawName) == ["A", "B", "C", "Content-Length"])
    }

    @Test("No more connections to a host are open than the configuration allows")
    func connectionLimit() async throws {
        let transport = URLSessionTransport(.init(maxConnectionsPerHost: 3))
        let server = try LoopbackServer()
        server.on(.get, "/c", .text("x"))
        let started = try (0..<60).map { _ in try transport.start(.get, server.baseURL + "/c") }
        for (recorder, _) in started { #expect(await recorder.ended().isComplete) }
        #expect(server.activity.connections <= 3)
    }

    @Test("GET and HEAD with a body are refused before anything is sent", arguments: [HTTPMethod.get, .head])
    func bodyWhereNoneMayBe(method: HTTPMethod) async throws {
        let (transport, server) = (URLSessionTransport(), try LoopbackServer())
        let record = try await transport.exchange(method, server.baseURL + "/x", body: .text("x"))
        #expect(record.error?.code == .invalidRequest)
        #expect(server.activity.connections == 0)
    }

    @Test("What would break the head of a request is refused before anything is sent")
    func invalidHead() async throws {
        let (transport, server) = (URLSessionTransport(), try LoopbackServer())
        let origin = try HTTPOrigin(base: server.baseURL)
        let requests = [
            HTTPRequest(method: "GET / HTTP/1.1\r\nX-Evil: 1", origin: origin, target: "/"),
            HTTPRequest(origin: origin, target: "no-slash"),
            HTTPRequest(origin: origin, target: "/", fields: ["X": "v\r\nX-Evil: 1"]),
            HTTPRequest(origin: origin, target: "/", fields: ["X Y": "v"]),
        ]
        for request in requests {
            let recorder = ExchangeRecorder()
            _ = transport.send(request, to: TransportReceiver(recorder))
            #expect(await recorder.ended().error?.code == .invalidRequest)
        }
        #expect(server.activity.connections == 0)
    }

    @Test("What is under way when the transport is released still ends")
    func released() async throws {
        let server = try LoopbackServer()
        let gate = server.hold(.post, "/g", .text("x"))
        let reader = PatternReader(100_000, waits: true)
        let started = try {
            let transport = URLSessionTransport()
            let stream = HTTPBodyStream(isReplayable: false) { reader }
            return try [
                transport.start(.post, server.baseURL + "/g"),
                transport.start(.post, server.baseURL + "/g", body: .stream(stream)),
            ]
        }()
        await server.waitForRequests(2)
        gate.release()
        for (recorder, _) in started { #expect(await recorder.ended().isComplete) }
    }

    @Test("Nothing keeps the receiver of an exchange that is over, or was cancelled")
    func releasesReceivers() async throws {
        let (transport, server) = (URLSessionTransport(), try LoopbackServer())
        server.on(.get, "/x", .text("x"))
        server.on(.get, "/stall", .stall)
        weak var receiver: ExchangeRecorder?
        for path in ["/x", "/stall"] {
            try await {
                let (recorder, transmission) = try transport.start(.get, server.baseURL + path)
                if path == "/stall" { transmission.cancel() }
                await recorder.ended()
                receiver = recorder
            }()
            // The next exchange is told on the same queue, so what the last one left there is gone.
            for _ in 0..<3 { _ = try await transport.exchange(.get, server.baseURL + "/x") }
            #expect(receiver == nil)
        }
    }

    @Test("A body is sent again, whole, when the server closed the connection that was kept open")
    func staleConnection() async throws {
        let (transport, server) = (URLSessionTransport(), try LoopbackServer(recording: .count))
        let sizes = LockBox<[Int64]>([])
        // Says nothing about closing, and closes as soon as the reply is out.
        server.on(.post, "/s", body: .discarded) { request in
            sizes.withLock { $0.append(request.bodyLength) }
            return .raw("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        }
        let stream = HTTPBodyStream(isReplayable: false) { PatternReader(100_000) }
        for round in 0..<200 {
            let body = round % 2 == 0 ? HTTPBody.data(Data(count: 100_000)) : .stream(stream)
            let record = try await transport.exchange(.post, server.baseURL + "/s", body: body)
            #expect(record.isComplete || record.error?.code == .connectionLost)
        }
        #expect(sizes.withLock { $0.allSatisfy { $0 == 100_000 } })
    }
}
