import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("Spooling a streamed body", .timeLimit(.minutes(1)))
struct BodySpoolTests {
    private func filled(_ spool: BodySpool) async -> Result<Void, BatonError> {
        await withCheckedContinuation { continuation in spool.fill { continuation.resume(returning: $0) } }
    }

    @Test("The file holds the body, for its owner only, until it is discarded")
    func holdsTheBody() async throws {
        let reader = PatternReader(300_000, waits: true)
        let spool = BodySpool(HTTPBodyStream(isReplayable: true) { reader })
        try await filled(spool).get()
        #expect(spool.length == 300_000 && reader.closes == 1)
        #expect(try Data(contentsOf: spool.file) == LoopbackServer.pattern(0..<300_000))
        let mode = try FileManager.default.attributesOfItem(atPath: spool.file.path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        spool.discard()
        #expect(!FileManager.default.fileExists(atPath: spool.file.path))
        spool.discard()
        spool.queue.sync {}
        #expect(reader.closes == 1)
    }

    @Test("Nothing is read, and no file made, after it is discarded")
    func discardedBefore() {
        let reader = PatternReader(10)
        let spool = BodySpool(HTTPBodyStream(isReplayable: true) { reader })
        spool.discard()
        spool.fill { _ in Issue.record("it was discarded") }
        spool.queue.sync {}
        #expect(reader.closes == 0)
        #expect(!FileManager.default.fileExists(atPath: spool.file.path))
    }

    @Test("A reader that fails is closed, and its error is passed on")
    func failingReader() async {
        let reader = PatternReader(100_000, failsAt: 70_000)
        let spool = BodySpool(HTTPBodyStream(isReplayable: true) { reader })
        guard case .failure(let error) = await filled(spool) else { return #expect(Bool(false)) }
        #expect(error.code == .deriveFailed && reader.closes == 1)
        spool.discard()
        #expect(!FileManager.default.fileExists(atPath: spool.file.path))
    }

    @Test("A stream that cannot be opened says why")
    func unopenable() async {
        let spool = BodySpool(HTTPBodyStream(isReplayable: true) { throw CocoaError(.fileReadNoSuchFile) })
        guard case .failure(let error) = await filled(spool) else { return #expect(Bool(false)) }
        #expect(error.code == .encodingFailed && error.underlying is CocoaError)
    }
}
