import Baton
import Dispatch
import Testing

/// The error that `body` throws; a test that expects one ends when there is none.
func failure<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Value
) async throws -> BatonError {
    var thrown: BatonError?
    do {
        _ = try await body()
    } catch {
        thrown = try #require(error as? BatonError, "no BatonError: \(error)", sourceLocation: sourceLocation)
    }
    return try #require(thrown, "nothing was thrown", sourceLocation: sourceLocation)
}

/// A run whose completion comes on a queue, every time it comes.
struct CountedRun<Output: Sendable>: Sendable {
    let run: Run<Output>
    let completions: Record<Result<Output, BatonError>>
    let ended: Gate
}

extension Client {
    /// Starts a plan and counts its completions.
    func counting<P: Plan>(_ plan: P) -> CountedRun<P.Output> {
        let completions = Record<Result<P.Output, BatonError>>()
        let ended = Gate()
        let run = start(plan, on: .global()) { result in
            completions.add(result)
            ended.open()
        }
        return CountedRun(run: run, completions: completions, ended: ended)
    }
}
