import Baton
import BatonTesting
import Foundation
import Testing

@Suite("TransportContract: faults", .timeLimit(.minutes(5)))
struct SabotageTests {
    /// A transport that keeps the contract.
    private static func good() throws -> any Transport {
        #if os(Linux)
            try CurlTransport()
        #else
            URLSessionTransport()
        #endif
    }

    private static func checks(of fault: Saboteur.Fault) -> Set<String> {
        Set(TransportContract.checks.filter { check in fault.checks.contains { check.hasPrefix($0) } })
    }

    @Test("A fault fails the checks that are there for it", arguments: Saboteur.Fault.allCases)
    func fault(_ fault: Saboteur.Fault) async {
        let checks = Self.checks(of: fault)
        #expect(checks.count == fault.checks.count)
        let limit = fault.hangs ? Duration.milliseconds(500) : .seconds(90)
        let contract = TransportContract(largeBodyBytes: 2_000_000, exchangesAtOnce: 100, limit: limit) {
            Saboteur(fault, around: try Self.good())
        }
        let report = await contract.run(only: checks)
        #expect(Set(report.failures.map(\.check)) == checks, "\(report)")
        // What is found out by the limit is only what has no other sign.
        let isLate = report.failures.contains { $0.problems.contains { $0.hasPrefix("it was not over") } }
        #expect(isLate == fault.hangs, "\(report)")
        if fault == .leaks { Saboteur.leaked.withLock { $0 = [] } }
    }

    @Test("Every check is failed by some fault")
    func complete() {
        let failed = Saboteur.Fault.allCases.reduce(into: Set<String>()) { $0.formUnion(Self.checks(of: $1)) }
        #expect(Set(TransportContract.checks).subtracting(failed) == [])
        #expect(Set(TransportContract.checks).count == TransportContract.checks.count)
    }

    #if os(Linux)
        @Test("Without a fault, the same wrapper passes")
        func faultless() async {
            let report = await TransportContract(largeBodyBytes: 2_000_000) {
                Saboteur(nil, around: try Self.good())
            }.run()
            #expect(report.failures.isEmpty, "\(report)")
        }
    #endif
}
