import Baton

/// Keeps what it is told.
final class RecordingObserver: EventObserver {
    private let record = Record<Event>()

    func observe(_ event: Event) { record.add(event) }

    var events: [Event] { record.all }

    /// The events in short, such as `attempt 1 /items/3`.
    var story: [String] {
        events.map { event in
            switch event {
            case .runStarted: "run"
            case .runEnded(_, nil): "run ended"
            case .runEnded(_, let error?): "run ended: \(error.code)"
            case .attemptQueued(let attempt): "attempt \(attempt.attempt) \(attempt.request.path) queued"
            case .attemptAdmitted(let attempt, let wait):
                "attempt \(attempt.attempt) \(attempt.request.path) admitted after \(wait)"
            case .cache(let event): "cache \(event.request.path): \(event.kind)"
            case .attemptStarted(let attempt): "attempt \(attempt.attempt) \(attempt.request.path)"
            case .attemptEnded(let attempt, .success(let response)):
                "attempt \(attempt.attempt) \(attempt.request.path): \(response.status)"
            case .attemptEnded(let attempt, .failure(let error)):
                "attempt \(attempt.attempt) \(attempt.request.path): \(error.code)"
            case .retryScheduled(let attempt, let wait, _): "retry after attempt \(attempt.attempt) in \(wait)"
            case .redirected(let attempt, let next): "attempt \(attempt.attempt) redirected to \(next.urlString)"
            case .slotForfeited: "slot forfeited"
            case .hostPaused(let host, let wait, _): "\(host) paused for \(wait)"
            case .limitChanged(let host, let limit, _): "\(host) limited to \(limit)"
            case .breakerChanged(let key, let phase, _): "breaker of \(key) \(phase)"
            }
        }
    }
}

/// Passes everything on, and counts.
final class CountingInterceptor: Interceptor {
    let placement: InterceptorPlacement
    private let record = Record<(path: String, attempt: Int)>()

    init(_ placement: InterceptorPlacement = .attempt) {
        self.placement = placement
    }

    func intercept(_ request: HTTPRequest, context: AttemptContext, next: Next) async throws -> HTTPResponse {
        record.add((String(request.path), context.attempt))
        return try await next(request)
    }

    var seen: [(path: String, attempt: Int)] { record.all }
    var paths: [String] { record.all.map(\.path) }
}

/// An interceptor out of a closure.
struct ClosureInterceptor: Interceptor {
    var placement = InterceptorPlacement.attempt
    let body: @Sendable (HTTPRequest, AttemptContext, Next) async throws -> HTTPResponse

    func intercept(_ request: HTTPRequest, context: AttemptContext, next: Next) async throws -> HTTPResponse {
        try await body(request, context, next)
    }
}

/// An adapter out of a closure.
struct ClosureAdapter: RequestAdapter {
    let body: @Sendable (inout HTTPRequest, AttemptContext) throws -> Void

    func adapt(_ request: inout HTTPRequest, context: AttemptContext) throws { try body(&request, context) }
}
