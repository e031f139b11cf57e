import Baton
import BatonTesting
import Foundation
import Testing

@Suite("TransportContract", .timeLimit(.minutes(3)), .serialized)
struct ContractTests {
    @Test("MockTransport keeps what applies to it")
    func mock() async {
        let report = await TransportContract(makeBench: {
            let mock = MockTransport()
            return (mock, MockContractServer(mock))
        }).run()
        #expect(report.failures.isEmpty, "\(report)")
        #expect(report.passed.count >= 25)
        #expect(report.skipped.allSatisfy { $0.reason == "it is about HTTP on the wire, and the server has none" })
    }

    @Test("URLSessionTransport keeps it, but for lists of values and holding back")
    func urlSession() async {
        let report = await TransportContract(
            allowing: [.joinsRepeatedFields, .cannotHoldBack], makeTransport: { URLSessionTransport() }
        ).run()
        #expect(report.failures.isEmpty, "\(report)")
        #expect(
            report.skipped.map(\.reason) == Array(repeating: "the transport is let off by .cannotHoldBack", count: 2))
        // The checks of a change list what is left out.
        for skip in report.skipped { print("left out: URLSessionTransport: \(skip.check) (\(skip.reason))") }
    }

    #if os(Linux)
        @Test("CurlTransport keeps all of it")
        func curl() async {
            let report = await TransportContract(makeTransport: { try CurlTransport() }).run()
            #expect(report.failures.isEmpty, "\(report)")
            #expect(report.skipped.isEmpty && report.passed.count == TransportContract.checks.count)
        }
    #endif

    @Test("Cassette keeps what applies to it while it records a mock")
    func cassette() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        // Each recording writes the whole tape anew, so neither many nor large ones are quick.
        let report = await TransportContract(
            largeBodyBytes: 100_000, exchangesAtOnce: 50,
            makeBench: {
                let mock = MockTransport()
                let file = folder.appendingPathComponent("\(UUID().uuidString).har")
                return (try Cassette(file: file, around: mock), MockContractServer(mock))
            }
        ).run()
        #expect(report.failures.isEmpty, "\(report)")
    }

    @Test("A transport that cannot be made, and one that throws everything away, fail every check")
    func hopeless() async {
        let unmade = await TransportContract(makeTransport: { throw BatonError(.unsupported, "no such thing") }).run()
        #expect(unmade.failures.count == TransportContract.checks.count)
        #expect(unmade.failures.first?.problems.first?.contains("no such thing") == true)
        let silent = await TransportContract(limit: .milliseconds(20), makeTransport: { Silent() }).run()
        #expect(silent.passed == [], "\(silent)")
    }

    /// Never says a word.
    private struct Silent: Transport {
        func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
            FinishedTransmission.shared
        }
    }
}
