import BatonTesting
import Foundation
import Testing

@testable import Baton

/// In processes of their own, because what they guard against is the end of the process.
@Suite("URLSessionTransport under stress", .timeLimit(.minutes(5)), .serialized)
struct URLSessionStressTests {
    @Test("Two thousand requests to a live server are cancelled at any moment without a trap or a hang")
    func liveServer() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer(recording: .count)
            server.on(.get, "/small", .text("hello"))
            server.on(.get, "/large", .pattern(length: 300_000))
            server.on(.get, "/chunks", .chunks(["a", "b", "c"]))
            server.on(.get, "/moved", .redirect(to: "/small"))
            server.on(.get, "/basic", .text("x").requiringBasic(user: "a", password: "b"))
            let paths = ["/small", "/large", "/chunks", "/moved", "/basic"].map { server.baseURL + $0 }
            let outcomes = try await cancelRounds(2_000, paths)
            #expect(outcomes.values.reduce(0, +) == 2_000)
            #expect(Set(outcomes.keys).isSubset(of: ["complete", "cancelled"]))
        }
    }

    @Test("Two thousand requests to a refused port are cancelled at any moment without a trap or a hang")
    func refusedPort() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer()
            server.stop()
            let outcomes = try await cancelRounds(2_000, [server.baseURL + "/"])
            #expect(outcomes.values.reduce(0, +) == 2_000)
            #expect(Set(outcomes.keys).isSubset(of: ["cannotConnect", "cancelled"]))
        }
    }

    @Test("Uploads are cancelled at any moment, and no temporary file is left")
    func uploads() async {
        await #expect(processExitsWith: .success) {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            setenv("TMPDIR", folder.path, 1)
            let server = try LoopbackServer(recording: .count)
            server.on(.post, "/ok", .text("x"), body: .discarded)
            server.on(.post, "/early", .text("x", status: 413), body: .unread)
            let transport = URLSessionTransport()
            for round in 0..<600 {
                let stream = HTTPBodyStream(isReplayable: true) { PatternReader(400_000, waits: round % 7 == 0) }
                let url = server.baseURL + (round % 3 == 0 ? "/early" : "/ok")
                let recorder = ExchangeRecorder()
                let (_, transmission) = try transport.start(.post, url, body: .stream(stream), recorder: recorder)
                await moment(round, recorder)
                if round % 5 != 0 { transmission.cancel() }
                let record = await recorder.ended()
                #expect(record.ends == 1)
            }
            transport.shutdown()
            await server.wait { $0.openConnections == 0 }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
            try FileManager.default.removeItem(at: folder)
        }
    }

    @Test("Transports are shut down with requests in flight, 100 times, without a trap")
    func shutdowns() async {
        await #expect(processExitsWith: .success) {
            let server = try LoopbackServer(recording: .count)
            server.on(.get, "/large", .pattern(length: 300_000))
            for round in 0..<100 {
                let transport = URLSessionTransport()
                let started = try (0..<20).map { _ in try transport.start(.get, server.baseURL + "/large") }
                await moment(round, started[10].0)
                transport.shutdown()
                for (recorder, _) in started {
                    let record = await recorder.ended()
                    #expect(record.isComplete || record.error?.code == .transportClosed)
                }
            }
        }
    }
}

/// Starts requests in eight lanes and cancels each at a moment that differs from round to round.
private func cancelRounds(_ count: Int, _ urls: [String]) async throws -> [String: Int] {
    let transport = URLSessionTransport()
    defer { transport.shutdown() }
    return try await withThrowingTaskGroup(of: [String: Int].self) { group in
        for lane in 0..<8 {
            group.addTask {
                var outcomes: [String: Int] = [:]
                for round in stride(from: lane, to: count, by: 8) {
                    let (recorder, transmission) = try transport.start(.get, urls[round / 8 % urls.count])
                    await moment(round / 8, recorder)
                    transmission.cancel()
                    let record = await recorder.ended()
                    #expect(record.ends == 1 && record.misplaced == 0)
                    outcomes[record.error?.code.rawValue ?? "complete", default: 0] += 1
                }
                return outcomes
            }
        }
        return try await group.reduce(into: [:]) { sum, part in sum.merge(part, uniquingKeysWith: +) }
    }
}

/// Lets a while pass: none, some turns of the executor, or until something was heard.
private func moment(_ round: Int, _ recorder: ExchangeRecorder) async {
    switch round % 12 {
    case 0: break
    case 1: await recorder.wait { $0.head != nil || $0.ends > 0 }
    case 2: await recorder.wait { !$0.body.isEmpty || $0.ends > 0 }
    case 3: await recorder.wait { !$0.sent.isEmpty || $0.ends > 0 }
    default: for _ in 0..<(1 << (round % 12)) { await Task.yield() }
    }
}
