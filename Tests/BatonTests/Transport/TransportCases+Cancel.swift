import BatonTesting
import Foundation
import Testing

@testable import Baton

extension TransportCase {
    static let cancels = [
        TransportCase("Cancelling at once ends the exchange once, as cancelled") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/c", .stall)
            for _ in 0..<50 {
                let (recorder, transmission) = try transport.start(.get, server.baseURL + "/c")
                transmission.cancel()
                transmission.cancel()
                #expect(await recorder.ended().error?.code == .cancelled)
                transmission.cancel()
                #expect(recorder.record.ends == 1)
            }
        },
        TransportCase("Cancelling while the server thinks closes the connection") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/c", .stall)
            let (recorder, transmission) = try transport.start(.get, server.baseURL + "/c")
            await server.waitForRequests(1)
            transmission.cancel()
            #expect(await recorder.ended().error?.code == .cancelled)
            await server.wait { $0.openConnections == 0 }
            #expect(recorder.record.ends == 1 && recorder.record.misplaced == 0)
        },
        TransportCase("Cancelling after the head, or in the middle of the body, ends the body") { transport in
            let server = try LoopbackServer()
            let places: [LoopbackServer.Reply.Place] = [.afterHead, .midBody, .bodyByte(1)]
            for place in places {
                let text = String(repeating: "x", count: 100_000)
                server.on(.get, "/c", .text(text).held(by: LoopbackServer.Gate(), at: place))
                let (recorder, transmission) = try transport.start(.get, server.baseURL + "/c")
                await recorder.wait { $0.head != nil && ($0.body.count > 0 || place == .afterHead) }
                transmission.cancel()
                let record = await recorder.ended()
                #expect(record.error?.code == .cancelled && record.head?.status == 200)
                await server.wait { $0.openConnections == 0 }
                #expect(recorder.record.misplaced == 0)
            }
        },
        TransportCase("Cancelling from inside an event ends the exchange after that event") { transport in
            let server = try LoopbackServer()
            let box = LockBox<(any Transmission)?>(nil)
            for bytes in [0, 1, 100_000] {
                let recorder = ExchangeRecorder()
                let gate = server.hold(.get, "/c", .pattern(length: 5_000_000))
                recorder.react {
                    $0.head != nil && $0.body.count >= bytes
                } _: {
                    box.withLock { $0 }?.cancel()
                }
                let (_, transmission) = try transport.start(.get, server.baseURL + "/c", recorder: recorder)
                box.withLock { $0 = transmission }
                gate.release()
                let record = await recorder.ended()
                #expect(record.error?.code == .cancelled && record.misplaced == 0)
                #expect(record.body.count < 5_000_000)
            }
        },
        TransportCase("Cancelling a large upload stops it") { transport in
            let server = try LoopbackServer(socketBufferBytes: 65_536)
            server.on(.post, "/u", .stall, body: .unread)
            let body = HTTPBody.data(Data(count: 50_000_000))
            let (recorder, transmission) = try transport.start(.post, server.baseURL + "/u", body: body)
            await recorder.wait { !$0.sent.isEmpty }
            transmission.cancel()
            let record = await recorder.ended()
            #expect(record.error?.code == .cancelled && record.sent.last ?? 0 < 50_000_000)
            server.on(.get, "/ok", .text("x"))
            #expect(try await transport.exchange(.get, server.baseURL + "/ok").isComplete)
            #expect(recorder.record.ends == 1 && recorder.record.misplaced == 0)
        },
        TransportCase("Cancelling a stream that has nothing to say closes it") { transport in
            let server = try LoopbackServer()
            let reader = SilentReader()
            let stream = HTTPBodyStream(isReplayable: false) { reader }
            let (recorder, transmission) = try transport.start(.post, server.baseURL + "/u", body: .stream(stream))
            await reader.wasAsked()
            transmission.cancel()
            #expect(await recorder.ended().error?.code == .cancelled)
            await reader.wasClosed()
        },
        TransportCase("Cancelling after the end changes nothing") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/c", .text("x"))
            let (recorder, transmission) = try transport.start(.get, server.baseURL + "/c")
            #expect(await recorder.ended().isComplete)
            transmission.cancel()
            #expect(try await transport.exchange(.get, server.baseURL + "/c").isComplete)
            #expect(recorder.record.isComplete)
        },
        TransportCase("Cancelling one of many leaves the others alone") { transport in
            let server = try LoopbackServer()
            let gate = server.hold(.get, "/c", .text("x"))
            let started = try (0..<40).map { _ in try transport.start(.get, server.baseURL + "/c") }
            await server.waitForRequests(40)
            for (index, item) in started.enumerated() where index % 2 == 0 { item.1.cancel() }
            for (index, item) in started.enumerated() where index % 2 == 0 {
                #expect(await item.0.ended().error?.code == .cancelled)
                _ = index
            }
            gate.release()
            for (index, item) in started.enumerated() where index % 2 == 1 {
                #expect(await item.0.ended().isComplete)
                _ = index
            }
        },
        TransportCase("Shutting down ends what is open once and refuses what comes later") { transport in
            let server = try LoopbackServer()
            server.on(.get, "/c", .stall)
            server.on(.get, "/idle", .text("x"))
            #expect(try await transport.exchange(.get, server.baseURL + "/idle").isComplete)
            let started = try (0..<100).map { _ in try transport.start(.get, server.baseURL + "/c") }
            await server.waitForRequests(20)
            transport.shutdown()
            transport.shutdown()
            for (recorder, transmission) in started {
                let record = await recorder.ended()
                #expect(record.error?.code == .transportClosed || record.error?.code == .cancelled)
                transmission.cancel()
            }
            for _ in 0..<20 {
                let record = try await transport.exchange(.get, server.baseURL + "/c")
                #expect(record.error?.code == .transportClosed)
            }
            await server.wait { $0.openConnections == 0 }
            #expect(started.allSatisfy { $0.0.record.ends == 1 && $0.0.record.misplaced == 0 })
        },
    ]
}

/// Never has anything to say.
private final class SilentReader: HTTPBodyReader, Sendable {
    private let asked = AsyncStream.makeStream(of: Void.self)
    private let closed = AsyncStream.makeStream(of: Void.self)

    func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
        asked.continuation.yield()
        return .later
    }

    func close() { closed.continuation.yield() }
    func wasAsked() async { for await _ in asked.stream { return } }
    func wasClosed() async { for await _ in closed.stream { return } }
}
