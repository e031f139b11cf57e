public import Baton

/// What every transport must do, as a suite that its author runs in one call.
///
/// ```swift
/// @Test func keepsTheContract() async {
///     let report = await TransportContract(makeTransport: { MyTransport() }).run()
///     #expect(report.failures.isEmpty, "\(report)")
/// }
/// ```
/// It needs no test framework and brings its own server: each check gets a new transport and a new ``LoopbackServer``.
/// For a transport that speaks no HTTP over a socket, such as one in memory, write a ``ContractServer`` that scripts
/// its replies; the checks about the wire are then skipped, and the report says so.
///
/// A transport that cannot do everything is let off by an ``Allowance``, by name. Nothing else is.
public struct TransportContract: Sendable {
    /// What a transport may be let off.
    public enum Allowance: String, Sendable {
        /// It joins the values of a repeated field into one list, and may change the case of names.
        case joinsRepeatedFields
        /// It cannot stop to receive when it is told to wait, and goes on handing over.
        case cannotHoldBack
    }

    let makeBench: @Sendable () throws -> (any Transport, any ContractServer)
    let allowances: Set<Allowance>
    let sizes: Sizes

    struct Sizes: Sendable {
        var largeBody: Int64
        var atOnce: Int
        var limit: Duration
    }

    /// A contract for a transport that speaks HTTP, tried against a server on the loopback interface.
    ///
    /// - Parameters:
    ///   - allowances: what it is let off. Default: nothing.
    ///   - largeBodyBytes: how large bodies are that must travel whole, in bytes. Default: 20 MB.
    ///   - exchangesAtOnce: how many are begun at once. Default: 500.
    ///   - limit: how long one check may take. Default: 20 s.
    ///   - makeTransport: makes a new transport; called once for each check.
    public init(
        allowing allowances: Set<Allowance> = [], largeBodyBytes: Int64 = 20_000_000, exchangesAtOnce: Int = 500,
        limit: Duration = .seconds(20), makeTransport: @escaping @Sendable () throws -> any Transport
    ) {
        self.init(
            allowing: allowances, largeBodyBytes: largeBodyBytes, exchangesAtOnce: exchangesAtOnce, limit: limit
        ) {
            (try makeTransport(), try LoopbackContractServer())
        }
    }

    /// A contract for a transport with a server of its own kind.
    ///
    /// - Parameter makeBench: makes a new transport and the server that it reaches; called once for each check.
    public init(
        allowing allowances: Set<Allowance> = [], largeBodyBytes: Int64 = 20_000_000, exchangesAtOnce: Int = 500,
        limit: Duration = .seconds(20),
        makeBench: @escaping @Sendable () throws -> (any Transport, any ContractServer)
    ) {
        self.allowances = allowances
        self.makeBench = makeBench
        sizes = Sizes(largeBody: largeBodyBytes, atOnce: exchangesAtOnce, limit: limit)
    }

    /// The names of all checks; each says what a transport must do.
    public static var checks: [String] { ContractCheck.all.map(\.name) }

    /// Runs the checks, one after the other.
    ///
    /// - Parameter names: which of ``checks``; nil, the default: all of them.
    public func run(only names: Set<String>? = nil) async -> Report {
        var report = Report()
        for check in ContractCheck.all where names?.contains(check.name) != false {
            await run(check, into: &report)
        }
        return report
    }

    private func run(_ check: ContractCheck, into report: inout Report) async {
        if let allowance = check.allowance, allowances.contains(allowance) {
            report.skipped.append(
                Report.Skip(check: check.name, reason: "the transport is let off by .\(allowance.rawValue)"))
            return
        }
        let bench: ContractBench
        do {
            let (transport, server) = try makeBench()
            bench = ContractBench(
                transport: transport, server: server, allowances: allowances, sizes: sizes, makeBench: makeBench)
        } catch {
            report.failures.append(
                Report.Failure(check: check.name, problems: ["no transport or no server could be made: \(error)"]))
            return
        }
        if check.needsWire, bench.server.loopback == nil {
            report.skipped.append(
                Report.Skip(check: check.name, reason: "it is about HTTP on the wire, and the server has none"))
        } else {
            let problems = await bench.perform(check)
            if problems.isEmpty {
                report.passed.append(check.name)
            } else {
                report.failures.append(Report.Failure(check: check.name, problems: problems))
            }
        }
        bench.transport.shutdown()
        bench.server.stop()
    }
}
