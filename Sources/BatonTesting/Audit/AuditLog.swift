package import Baton

/// The probe of an audit: takes note of each step under a lock of its own.
package final class AuditLog: EngineProbe {
    private let state = LockBox(AuditState())

    package init() {}

    package func note(_ step: EngineStep) {
        state.withLock { $0.note(step) }
    }

    func violations(_ facts: EngineFacts) -> [String] {
        state.withLock { state in
            var violations = state.violations
            let looseEnds = state.looseEnds(facts)
            violations += looseEnds.prefix(AuditState.mostViolations)
            let more = state.unlisted + max(0, looseEnds.count - AuditState.mostViolations)
            if more > 0 { violations.append("\(more) more that are not listed") }
            return violations
        }
    }

    var counts: (runs: Int, items: Int, exchanges: Int) {
        state.withLock { ($0.runs.count, $0.itemCount, $0.exchanges.count) }
    }

    /// Whether the transport still has an exchange that the engine has given up.
    package var awaitsTransport: Bool { state.withLock { $0.awaitsTransport } }
}
