/// Holds attempts back as long as there is no network, and sends those again that failed for want of it.
///
/// ```swift
/// let client = Client(baseURL: "https://api.example.com", interceptors: [WaitForNetwork(SystemReachability())])
/// ```
/// No slot is held meanwhile. Sending again counts against the attempts, and only an idempotent request with a replayable
/// body is.
public struct WaitForNetwork: Interceptor {
    public var id: InterceptorID { "WaitForNetwork" }
    private let network: any Reachability
    private let longest: Duration

    /// - Parameter longest: how long one wait may take; then the request fails with `notReachable`. Default: 60 s.
    public init(_ network: any Reachability, upTo longest: Duration = .seconds(60)) {
        self.network = network
        self.longest = longest
    }

    public func intercept(
        _ request: HTTPRequest, context: AttemptContext, next: Next
    ) async throws -> HTTPResponse {
        try await wait(context, because: nil)
        do {
            return try await next(request)
        } catch {
            guard error.code.isTransient, !network.isReachable, Idempotency.byMethod.covers(request),
                request.body.isReplayable
            else { throw error }
            try await wait(context, because: error)
            return try await next(request)
        }
    }

    private func wait(_ context: AttemptContext, because failure: BatonError?) async throws(BatonError) {
        if network.isReachable { return }
        let isThere = await context.scheduler.waiting {
            await withTaskGroup(of: Bool.self) { group in
                group.addTask { [network] in (try? await network.waitUntilReachable()) != nil }
                group.addTask { [longest] in
                    try? await context.sleep(for: longest)
                    return false
                }
                let isThere = await group.next() ?? false
                group.cancelAll()
                return isThere
            }
        }
        if Task.isCancelled {
            throw BatonError(.cancelled, "the request was cancelled while it waited for the network")
        }
        if !isThere {
            throw BatonError(.notReachable, "there was no network for \(longest)", underlying: failure)
        }
    }
}
