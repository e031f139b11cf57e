/// Stands around a request: it may change it, answer it, delay it, send it again, or change the response.
///
/// **Choose** ``RequestAdapter`` for one that only changes the request before it is sent: it costs next to nothing.
///
/// **Use** interceptors in the order in which they see the request; they see the response in the opposite one.
///
/// **Implement** `intercept`, and pass the request on with `next`:
///
/// ```swift
/// struct Stopwatch: Interceptor {
///     func intercept(
///         _ request: HTTPRequest, context: AttemptContext, next: Next
///     ) async throws -> HTTPResponse {
///         let start = context.now
///         defer { print(request.path, start.duration(to: context.now)) }
///         return try await next(request)
///     }
/// }
/// ```
/// `next` throws a `BatonError` that holds the response when its status is not accepted. It may be called again, which
/// counts against the attempts. No slot is held while an interceptor waits. State that belongs to one request lives in
/// local variables, not in the interceptor. The method runs in a Swift task that is cancelled with the request; what it
/// throws is the outcome, wrapped as `interceptorFailed` unless it is a `BatonError`.
public protocol Interceptor: Sendable {
    /// Where it stands. Default: around each attempt.
    var placement: InterceptorPlacement { get }
    /// What requests call it that choose among interceptors, see `RequestOptions.interceptors`. Default: the name of its
    /// type. Give one of several of a type a name of its own.
    var id: InterceptorID { get }
    /// Answers the request: by `next`, which hands it on and may be called again, or in its place. What it throws is the
    /// failure of the attempt or call. It runs in a Swift task that is cancelled with the request.
    func intercept(_ request: HTTPRequest, context: AttemptContext, next: Next) async throws -> HTTPResponse
}

extension Interceptor {
    public var placement: InterceptorPlacement { .attempt }
    public var id: InterceptorID { InterceptorID(Self.self) }
}

/// Where an interceptor stands.
public enum InterceptorPlacement: Sendable {
    /// Around the whole call, outside its retries: once for each request.
    case call
    /// Around each attempt, inside the retries.
    case attempt
}

/// An interceptor that only changes the request, at once.
///
/// `adapt` gets a fresh copy of the original request for each attempt. It may run on any thread, a transport's
/// included, so it must not block. What it throws fails the request before it is sent.
public protocol RequestAdapter: Interceptor {
    /// Changes the request before it is sent; once for each attempt, on the thread where that begins. What it throws fails
    /// the attempt.
    func adapt(_ request: inout HTTPRequest, context: AttemptContext) throws
}

extension RequestAdapter {
    public func intercept(
        _ request: HTTPRequest, context: AttemptContext, next: Next
    ) async throws -> HTTPResponse {
        var request = request
        try adapt(&request, context: context)
        return try await next(request)
    }
}
