/// Other hosts for the client's requests, and a rule that says when each is asked: backups, a CDN, regions.
///
/// ```swift
/// HostList("https://b.example.com", "https://c.example.com")                       // when the one before fails
/// HostList("https://b.example.com", rule: .nextAttempt)                            // retries take turns
/// HostList("https://cdn.example.com", rule: .pick { request, context in
///     request.path.hasPrefix("/static/") && context.attempt == 1 ? 1 : 0
/// })
/// ```
/// The request's own host is number 0, those of the list follow. Path, query, other fields and body stay the same.
/// Credentials stay at home: to another origin the request goes without the fields that ``Redaction`` takes for secrets,
/// unless `credentials` says `.shared`. What interceptors within this one add is theirs to decide: `Authentication` has
/// `applies` for that.
public struct HostList: Interceptor {
    /// When a host is asked.
    public struct Rule: Sendable {
        enum Way: Sendable {
            case backup(@Sendable (BatonError) -> Bool)
            case pick(@Sendable (HTTPRequest, AttemptContext) -> Int)
        }
        let way: Way

        /// The next one when the retries at the one before are used up and `condition` says that the failure was the
        /// host's; each gets one attempt at least, whatever the retry policy says. Default: when no response came, or one
        /// with 500 or above. A request that could have been carried out already is sent to another host only when it is
        /// idempotent; its body must be replayable.
        public static func backup(
            when condition: @escaping @Sendable (BatonError) -> Bool = HostList.isHostFailure
        ) -> Rule { Rule(way: .backup(condition)) }

        /// The first attempt goes to the request's own host, the second to the next one, and so on in turns. Whether there
        /// is a second one is the retry policy's to say.
        public static let nextAttempt = Rule(way: .pick { _, context in context.attempt - 1 })

        /// For each attempt the host of that number, taken modulo their count. The closure must not block.
        public static func pick(_ choose: @escaping @Sendable (HTTPRequest, AttemptContext) -> Int) -> Rule {
            Rule(way: .pick(choose))
        }
    }

    /// Whether secrets go to the hosts of the list.
    public enum Credentials: Sendable {
        /// Only the request's own host sees them.
        case atHome
        /// All hosts may see the credentials of your users.
        case shared
    }

    public var placement: InterceptorPlacement {
        if case .backup = rule.way { .call } else { .attempt }
    }
    public let id: InterceptorID
    private let hosts: [Result<HTTPOrigin, BatonError>]
    private let rule: Rule
    private let credentials: Credentials
    private static let secrets = Redaction()

    /// - Parameters:
    ///   - hosts: scheme and host, and a port where it is not the usual one; a path is not used.
    ///   - rule: default: a host when the one before fails.
    ///   - credentials: default: they stay at home.
    public init(
        _ hosts: String..., rule: Rule = .backup(), credentials: Credentials = .atHome, id: InterceptorID = "HostList"
    ) {
        self.hosts = hosts.map { host in
            do throws(MessageFault) {
                return .success(try HTTPOrigin(base: host))
            } catch {
                return .failure(
                    BatonError(.invalidConfiguration, "a host of the list: its \(error.part) \(error.reason)"))
            }
        }
        self.rule = rule
        self.credentials = credentials
        self.id = id
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
        switch rule.way {
        case .backup(let condition): return try await backedUp(request, condition, next)
        case .pick(let choose):
            let count = hosts.count + 1
            let chosen = choose(request, context) % count
            return try await next(try at((chosen + count) % count, request))
        }
    }

    private func backedUp(
        _ request: HTTPRequest, _ condition: @Sendable (BatonError) -> Bool, _ next: Next
    ) async throws -> HTTPResponse {
        var failure: BatonError
        do { return try await next(request) } catch { failure = error }
        for number in hosts.indices {
            guard !failure.isCancelled, condition(failure), Self.maySendAgain(request, after: failure) else { break }
            do { return try await next.replay(try at(number + 1, request)) } catch { failure = error }
        }
        throw failure
    }

    private func at(_ number: Int, _ request: HTTPRequest) throws(BatonError) -> HTTPRequest {
        guard number > 0 else { return request }
        let origin = try hosts[number - 1].get()
        var other = request
        other.origin = origin
        if credentials == .atHome, !origin.isSameOrigin(as: request.origin) {
            other.fields = HTTPFields(other.fields.filter { !Self.secrets.isSecret($0.name.rawName) })
        }
        return other
    }

    private static func maySendAgain(_ request: HTTPRequest, after error: BatonError) -> Bool {
        let wasNotSent: Set<BatonError.Code> = [.cannotFindHost, .cannotConnect, .secureConnectionFailed]
        return request.body.isReplayable
            && (wasNotSent.contains(error.code) || Idempotency.byMethod.covers(request))
    }
}
