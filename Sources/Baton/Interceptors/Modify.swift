/// Changes requests and responses by closures, around the call or around each attempt.
///
/// ```swift
/// Modify(request: { request, _ in request.fields["X-Build"] = "7" })
/// Modify(at: .call, recover: { error, _, _ in
///     error.response?.status == 404 ? HTTPResponse(status: 200, body: Data("[]".utf8)) : nil
/// })
/// ```
/// What a closure throws fails the request. A ``RequestAdapter`` of one's own is cheaper, where the request is all that
/// changes.
public struct Modify: Interceptor {
    /// Changes a request before it is sent.
    public typealias ChangeRequest = @Sendable (inout HTTPRequest, AttemptContext) async throws -> Void
    /// Changes a response to the request.
    public typealias ChangeResponse = @Sendable (inout HTTPResponse, HTTPRequest, AttemptContext) async throws -> Void
    /// Answers in place of a failure, or throws one.
    public typealias Recover = @Sendable (BatonError, HTTPRequest, AttemptContext) async throws -> HTTPResponse?

    public let placement: InterceptorPlacement
    public let id: InterceptorID
    private let changeRequest: ChangeRequest?
    private let changeResponse: ChangeResponse?
    private let recover: Recover?

    /// - Parameters:
    ///   - request: changes what is sent.
    ///   - response: changes a response that was accepted; it gets the request as it was sent.
    ///   - recover: may give a response in place of a failure; nil leaves the failure. It is not asked after a cancel.
    public init(
        at placement: InterceptorPlacement = .attempt, id: InterceptorID = "Modify", request: ChangeRequest? = nil,
        response: ChangeResponse? = nil, recover: Recover? = nil
    ) {
        self.placement = placement
        self.id = id
        changeRequest = request
        changeResponse = response
        self.recover = recover
    }

    public func intercept(
        _ request: HTTPRequest, context: AttemptContext, next: Next
    ) async throws -> HTTPResponse {
        var request = request
        try await changeRequest?(&request, context)
        var response: HTTPResponse
        do {
            response = try await next(request)
        } catch {
            guard !error.isCancelled, let other = try await recover?(error, request, context) else { throw error }
            return other
        }
        try await changeResponse?(&response, request, context)
        return response
    }
}
