/// Sends a request that failed to other hosts, one after the other.
///
/// ```swift
/// BackupHost("https://b.example.com", "https://c.example.com")
/// ```
/// It stands around the call, so a backup is tried when the retries at the host before it are used up; each gets one
/// attempt at least, whatever the retry policy says. Path, query, fields and body stay the same: name only hosts that may
/// see your users' credentials. A request that could have been carried out already is sent to another host only when it is
/// idempotent; its body must be replayable.
public struct BackupHost: Interceptor {
    public var placement: InterceptorPlacement { .call }
    public var id: InterceptorID { "BackupHost" }
    private let hosts: [String]
    private let condition: @Sendable (BatonError) -> Bool

    /// - Parameters:
    ///   - hosts: scheme and host, and a port where it is not the usual one; a path is not used.
    ///   - condition: whether a failure is one of the host's. Default: when no response came, or one with 500 or above.
    public init(_ hosts: String..., when condition: @escaping @Sendable (BatonError) -> Bool = Self.isHostFailure) {
        self.hosts = hosts
        self.condition = condition
    }

    /// Whether no response came, or one with 500 or above.
    public static func isHostFailure(_ error: BatonError) -> Bool {
        guard let response = error.response else {
            return error.code.isTransient || error.code == .secureConnectionFailed
        }
        return response.status >= 500
    }

    public func intercept(
        _ request: HTTPRequest, context: AttemptContext, next: Next
    ) async throws -> HTTPResponse {
        var failure: BatonError
        do { return try await next(request) } catch { failure = error }
        for host in hosts {
            guard !failure.isCancelled, condition(failure), Self.maySendAgain(request, after: failure) else { break }
            var other = request
            do {
                other.origin = try HTTPOrigin(base: host)
            } catch {
                throw BatonError(.invalidConfiguration, "the backup host's \(error.part) \(error.reason)")
            }
            do { return try await next.replay(other) } catch { failure = error }
        }
        throw failure
    }

    private static func maySendAgain(_ request: HTTPRequest, after error: BatonError) -> Bool {
        let wasNotSent: Set<BatonError.Code> = [.cannotFindHost, .cannotConnect, .secureConnectionFailed]
        return request.body.isReplayable
            && (wasNotSent.contains(error.code) || Idempotency.byMethod.covers(request))
    }
}
