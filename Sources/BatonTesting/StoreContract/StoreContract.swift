internal import Baton

/// Runs the checks of a store, each with a store of its own.
struct StoreContract<Store: Sendable>: Sendable {
    /// One thing that every store must do: it says what was wrong by throwing it.
    struct Check: Sendable {
        let name: String
        let body: @Sendable (Store) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (Store) async throws -> Void) {
            self.name = name
            self.body = body
        }
    }

    let makeStore: @Sendable () async throws -> Store

    func run(_ checks: [Check]) async -> TransportContract.Report {
        var report = TransportContract.Report()
        for check in checks {
            do {
                try await check.body(try await makeStore())
                report.passed.append(check.name)
            } catch {
                report.failures.append(.init(check: check.name, problems: ["\(error)"]))
            }
        }
        return report
    }
}

/// What was not so.
struct StoreProblem: Error, CustomStringConvertible {
    let description: String
}

/// Throws unless something is so.
func require(_ isTrue: Bool, _ otherwise: @autoclosure () -> String) throws {
    if !isTrue { throw StoreProblem(description: otherwise()) }
}
