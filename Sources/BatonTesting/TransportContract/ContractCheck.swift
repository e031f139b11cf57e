internal import Baton

/// One thing that every transport must do.
struct ContractCheck: Sendable {
    /// A sentence: what it must do.
    let name: String
    /// Whether it takes a server that speaks HTTP over a socket.
    let needsWire: Bool
    /// What lets a transport off.
    let allowance: TransportContract.Allowance?
    let body: @Sendable (ContractBench) async throws -> Void

    /// A check that any transport can be put to.
    init(
        _ name: String, unless allowance: TransportContract.Allowance? = nil,
        _ body: @escaping @Sendable (ContractBench) async throws -> Void
    ) {
        self.name = name
        self.allowance = allowance
        self.body = body
        needsWire = false
    }

    /// A check of what happens on the wire.
    init(
        onTheWire name: String, unless allowance: TransportContract.Allowance? = nil,
        _ body: @escaping @Sendable (ContractBench, LoopbackServer) async throws -> Void
    ) {
        self.name = name
        self.allowance = allowance
        self.body = { bench in
            if let server = bench.server.loopback { try await body(bench, server) }
        }
        needsWire = true
    }

    static let all = messages + wireMessages + bodies + wireBodies + failures + cancels + life + wireLife
}
