import BatonTesting
import Foundation
import Testing

@testable import Baton

@Suite("Progress of what moves")
struct ProgressTests {
    /// Every report of a plan, in order.
    private func reports<P: Plan>(
        _ plan: P, over mock: MockTransport, retry: RetryPolicy = .quick
    ) async throws -> [RunProgress] {
        try await withVirtualTime(transport: mock, seed: 1, configure: { $0.retry = retry }) { client, _ in
            let run = client.start(plan)
            var reports: [RunProgress] = []
            for await progress in run.progress { reports.append(progress) }
            _ = await run.outcome
            return reports
        }
    }

    private func isSound(_ parts: [TransferProgress]) -> Bool {
        zip(parts, parts.dropFirst()).allSatisfy { $0.attempt < $1.attempt || $0.bytes < $1.bytes }
            && parts.allSatisfy { ($0.fraction ?? 0) <= 1 && !($0.fraction ?? 0).isNaN }
    }

    private let pieces = (0..<10).map { _ in Data(count: 100) }

    @Test("M23 A download tells bytes and share, never falling, up to the whole")
    func download() async throws {
        let (mock, folder) = (MockTransport(), try Folder())
        mock.on(.get, "/file").reply(
            status: 200, fields: ["Content-Length": "1000"], chunks: pieces, every: .milliseconds(100),
            after: .seconds(1))
        let parts = try await reports(GetFile().download(to: folder.file("x")), over: mock).compactMap(\.download)
        #expect(parts.map(\.bytes) == (1...10).map { $0 * 100 })
        #expect(parts.last?.fraction == 1 && parts.first?.fraction == 0.1)
        #expect(parts.last?.bytesPerSecond.map { abs($0 - 1_000) < 1 } == true)
        #expect(parts.allSatisfy { $0.attempt == 1 } && isSound(parts))
        #expect(parts.last?.foundation.fractionCompleted == 1)
    }

    @Test(
        "M23 The share of a body that is compressed, not sized or longer than announced is not known",
        arguments: [["Content-Encoding": "gzip", "Content-Length": "150"], [:], ["Content-Length": "3"]] as [HTTPFields]
    )
    func unknown(fields: HTTPFields) async throws {
        let mock = MockTransport()
        mock.on(.get, "/file").reply(
            status: 200, fields: fields, chunks: pieces, every: .milliseconds(10), after: .seconds(1))
        let all = try await reports(GetFile(), over: mock)
        let parts = all.compactMap(\.download)
        #expect(parts.last?.bytes == 1_000)
        #expect(parts.allSatisfy { $0.fraction == nil && $0.total == nil } && isSound(parts))
        #expect(all.last?.fraction == nil && all.last?.foundation.isIndeterminate == true)
    }

    @Test("M23 An upload that breaks and is sent again begins anew, under the number of its attempt")
    func uploadAgain() async throws {
        let mock = MockTransport()
        mock.on(.put, "/file").fail(.connectionLost, after: .seconds(1)).then.reply(status: 204, after: .seconds(1))
        let stream = HTTPBodyStream(length: 300_000, isReplayable: true) { PatternReader(300_000) }
        let upload = Send(method: .put, path: "/file", body: .stream(stream))
        let parts = try await reports(upload.chain.delayed(by: .seconds(1)), over: mock).compactMap(\.upload)
        #expect(Set(parts.map(\.attempt)) == [1, 2] && isSound(parts))
        #expect(parts.last?.bytes == 300_000 && parts.last?.fraction == 1)
    }

    @Test("M23 A resumed download counts what was there, and nothing comes after the end")
    func resumed() async throws {
        let (mock, folder, resource) = (MockTransport(), try Folder(), Resource())
        mock.on(.get, "/file")
            .reply(
                status: 200, fields: resource.fields, chunks: resource.pieces(2_000), failing: .connectionLost,
                after: .seconds(1)
            ).then.reply { resource.answer($0.fields) }
        let all = try await reports(GetFile().download(to: folder.file("x")), over: mock)
        let parts = all.compactMap(\.download)
        #expect(parts.first { $0.attempt == 2 }?.bytes == 5_000)
        #expect(parts.last?.fraction == 1 && all.last?.fraction == 1 && isSound(parts))
    }

    @Test("M23 A meter drops what says nothing new, and knows no rate before it has time to measure")
    func meter() {
        var meter = TransferMeter()
        let exchange = TransferMeter.Exchange(call: ObjectIdentifier(MockTransport.self as AnyObject), token: 1)
        func note(_ bytes: Int64, _ milliseconds: Int64) -> TransferProgress? {
            meter.note(
                bytes, of: 100, attempt: 1, exchange: exchange, at: Instant(nanoseconds: milliseconds * 1_000_000))
        }
        #expect(note(10, 0)?.bytesPerSecond == nil)
        #expect(note(10, 10) == nil && note(5, 10) == nil)
        #expect(note(60, 1_000)?.bytesPerSecond == 50)
        #expect(note(200, 2_000)?.total == nil)
        #expect(TransferProgress(bytes: 0, total: 0).fraction == 1)
    }
}
