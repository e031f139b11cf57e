extension Chain {
    /// Async work that is no request, as a plan: it runs in a Swift task that is cancelled with the run.
    ///
    /// ```swift
    /// Chain { try await disk.load() }.then { draft in Send(draft) }
    /// ```
    public init(_ work: @escaping @Sendable () async throws -> Output) {
        self = Chain<Void>.value(()).then { () async throws -> Chain<Output> in .value(try await work()) }
    }

    /// Goes on after a wait, on the client's clock. No slot is held meanwhile.
    public func delayed(by wait: Duration) -> Chain<Output> {
        appending(.wait(wait))
    }
}

extension Plan {
    /// Runs the plan again and again, until its output is what is wanted: polling.
    ///
    /// ```swift
    /// GetJob(id).repeated(every: .seconds(2), until: { $0.done })
    /// ```
    /// The first time it runs at once. A failure ends it; a deadline on the plan bounds it in time.
    ///
    /// - Parameters:
    ///   - interval: the wait between the end of one run and the begin of the next.
    ///   - limit: how often it runs at most; then it fails with `limitReached`. Default: no limit.
    ///   - isDone: whether the output is what is wanted.
    public func repeated(
        every interval: Duration, atMost limit: Int? = nil,
        until isDone: @escaping @Sendable (Output) throws -> Bool
    ) -> Chain<Output> {
        Chain(node: .plan(RepeatedPlan(plan: self, interval: interval, limit: limit, isDone: isDone)))
    }
}

/// A plan that is run again and again; a plan of its own, so that it can be shown as what it is.
struct RepeatedPlan<P: Plan>: Plan {
    let plan: P
    let interval: Duration
    let limit: Int?
    let isDone: @Sendable (P.Output) throws -> Bool

    var chain: Chain<P.Output> { poll(1) }

    private func poll(_ number: Int) -> Chain<P.Output> {
        plan.then { output -> Chain<P.Output> in
            if try isDone(output) { return .value(output) }
            if let limit, number >= limit {
                return .failure(
                    BatonError(.limitReached, "the condition was still not met after \(number) repetitions"))
            }
            return Chain<Void>.value(()).delayed(by: interval).then { poll(number + 1) }
        }
    }
}
