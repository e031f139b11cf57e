/// The five moments of older libraries' plugins, as closures: prepare, will send, did succeed, did fail, process.
///
/// ```swift
/// var hooks = Hooks()
/// hooks.prepare = { request, _ in cached[request.urlString].map { .end($0) } ?? .go }
/// hooks.willSend = { request, _ in
///     request.fields["X-Sent"] = "1"
///     return .go
/// }
/// hooks.didFail = { error, _, context in error.code == .timedOut ? .sendAgain : .fail }
/// ```
/// What is changed reaches the wire, at either moment. Sending again begins at `prepare` with the original request and
/// counts as an attempt: when the attempts are used up, the request fails with `attemptsExhausted`. Several of them nest
/// like all interceptors: the first sees the request first and the response last.
public struct Hooks: Interceptor {
    /// What `prepare` and `willSend` want.
    public enum Step: Sendable {
        /// Go on.
        case go
        /// Nothing is sent; this is the response, which `didSucceed` and `process` see like any other.
        case end(HTTPResponse)
        /// Nothing is sent; the request fails as cancelled.
        case stop
    }

    /// What `didSucceed` wants.
    public enum AfterSuccess: Sendable {
        /// The response is the result.
        case done
        /// The request is sent again, as far as the retry policy has attempts left.
        case sendAgain
    }

    /// What `didFail` wants.
    public enum AfterFailure: Sendable {
        /// The error is the result.
        case fail
        /// The request is sent again, as far as the retry policy has attempts left.
        case sendAgain
        /// This is the response in place of the failure.
        case answer(HTTPResponse)
    }

    /// Where they stand. Default: around each attempt.
    public var placement = InterceptorPlacement.attempt
    public var id: InterceptorID = "Hooks"
    /// First, with the request as it came.
    public var prepare: (@Sendable (inout HTTPRequest, AttemptContext) async throws -> Step)?
    /// Just before the request goes on.
    public var willSend: (@Sendable (inout HTTPRequest, AttemptContext) async throws -> Step)?
    /// After a response that was accepted; it may change it.
    public var didSucceed: (@Sendable (inout HTTPResponse, HTTPRequest, AttemptContext) async throws -> AfterSuccess)?
    /// After a failure that is no cancel.
    public var didFail: (@Sendable (BatonError, HTTPRequest, AttemptContext) async throws -> AfterFailure)?
    /// Last, once for each request that is not cancelled; it may change the result.
    public var process: (@Sendable (inout Result<HTTPResponse, BatonError>, AttemptContext) async throws -> Void)?

    /// Hooks that do nothing yet.
    public init() {}

    public func intercept(
        _ original: HTTPRequest, context: AttemptContext, next: Next
    ) async throws -> HTTPResponse {
        while true {
            var request = original
            var response: HTTPResponse?
            for hook in [prepare, willSend] where response == nil {
                switch try await hook?(&request, context) ?? .go {
                case .go: break
                case .end(let early): response = early
                case .stop: throw BatonError(.cancelled, "a hook stopped the request")
                }
            }
            let result = try await outcome(of: request, early: response, context, next)
            guard case .settled(var settled) = result else { continue }
            if case .failure(let error) = settled, error.isCancelled { throw error }
            try await process?(&settled, context)
            return try settled.get()
        }
    }

    private enum Round {
        case settled(Result<HTTPResponse, BatonError>)
        case again
    }

    private func outcome(
        of request: HTTPRequest, early: HTTPResponse?, _ context: AttemptContext, _ next: Next
    ) async throws -> Round {
        var response: HTTPResponse
        do {
            if let early { response = early } else { response = try await next(request) }
        } catch {
            // Whoever asked for one attempt too many does not get to ask for another.
            guard !error.isCancelled, error.code != .attemptsExhausted else { return .settled(.failure(error)) }
            switch try await didFail?(error, request, context) ?? .fail {
            case .fail: return .settled(.failure(error))
            case .sendAgain: return .again
            case .answer(let other): return .settled(.success(other))
            }
        }
        switch try await didSucceed?(&response, request, context) ?? .done {
        case .done: return .settled(.success(response))
        case .sendAgain where early == nil: return .again
        case .sendAgain:
            throw BatonError(.attemptsExhausted, "a hook asked to send again what another hook answers without sending")
        }
    }
}
