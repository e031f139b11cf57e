internal import Foundation

/// Puts a credential on each attempt, and renews it when the server refuses it or it is about to end.
///
/// ```swift
/// let store = InMemoryCredentialStore(BearerToken("…", refreshToken: "…"))
/// let client = Client(baseURL: "https://api.example.com", interceptors: [
///     Authentication(store) { old, client in try await client.run(Refresh(old.refreshToken)) }
/// ])
/// ```
/// The closure gets a client without this interceptor, so it may be called while everything else waits. However many
/// requests are refused, one refresh is under way; the others wait for it without a slot, and those that were sent with
/// an older credential than the store has by now are only sent again. After a refresh each of them is sent once more,
/// also where requests are not retried, if its body can be; a second refusal is then the result. When the refresh fails,
/// or takes longer than ``Options/refreshTimeout``, all that wait fail with `refreshFailed`, and the next refusal tries
/// again.
///
/// To sign in or out, write to the store.
public struct Authentication<Value: Credential>: Interceptor {
    /// What a response says about the credential that it was asked with.
    public enum Verdict: Sendable {
        /// Nothing.
        case accept
        /// It has ended: it is renewed and the request is sent again.
        case refresh
        /// It has ended for good: it is removed from the store, and the user must sign in again.
        case signOut
    }

    /// How it decides. Each field has a default that serves.
    public struct Options: Sendable {
        /// Reads the verdict out of a response, whatever its status. Default: 401 asks for a refresh. It is not asked where
        /// the client's envelope says of the response's code that it means `refresh` or `signIn`.
        public var judge: @Sendable (HTTPResponse) -> Verdict = { $0.status == 401 ? .refresh : .accept }
        /// Which requests get the credential. Default: all.
        public var applies: @Sendable (HTTPRequest) -> Bool = { _ in true }
        /// How long before its end a credential is renewed, in place of being sent. Default: 30 s.
        public var leeway: Duration = .seconds(30)
        /// How long a refresh may take, its retries included; then it fails, for all that wait for it. Default: 30 s.
        public var refreshTimeout: Duration = .seconds(30)
        /// How many refreshes may begin within ``window``; one more fails with `limitReached`. Default: 5.
        public var maxRefreshes = 5
        /// Default: 30 s.
        public var window: Duration = .seconds(30)
        /// Whether a failed refresh means that the user must sign in again. Default: when it was answered 400, 401 or 403.
        public var needsSignIn: @Sendable (BatonError) -> Bool = { [400, 401, 403].contains($0.response?.status) }
        /// Called when the user must sign in again: there is no credential, it cannot be renewed, or a response says so. In
        /// the first case once for each request, else once.
        public var onSignInNeeded: (@Sendable (BatonError) -> Void)?

        /// The defaults.
        public init() {}
    }

    public var id: InterceptorID { .authentication }
    private let renewal: CredentialRenewal<Value>
    private let options: Options

    /// - Parameter refresh: gets the credential that was refused, and a client without this interceptor.
    public init(
        _ store: some CredentialStore<Value>, configure: (inout Options) -> Void = { _ in },
        refresh: @escaping @Sendable (Value, any Runner) async throws -> Value
    ) {
        var options = Options()
        configure(&options)
        self.options = options
        renewal = CredentialRenewal(store, options, refresh)
    }

    public func intercept(
        _ request: HTTPRequest, context: AttemptContext, next: Next
    ) async throws -> HTTPResponse {
        guard options.applies(request) else { return try await next(request) }
        let credential = try await renewal.current(context)
        let first = await Self.result { () throws(BatonError) in try await next(request.with(credential)) }
        switch verdict(of: first) {
        case .accept: return try first.get()
        case .signOut: return try await signOut(credential, after: first)
        case .refresh: break
        }
        guard let credential, let fresh = try await renewal.replacement(for: credential, after: first, context) else {
            options.onSignInNeeded?(Self.refusal(first))
            return try first.get()
        }
        guard request.body.isReplayable else {
            throw BatonError(
                .notReplayable, "the credential was renewed, but the body can be sent once only: run the request again",
                response: first.response)
        }
        let second = await Self.result { () throws(BatonError) in try await next.replay(request.with(fresh)) }
        // A second refusal of a fresh credential is the result; a new one would not do better.
        if verdict(of: second) == .signOut { return try await signOut(fresh, after: second) }
        return try second.get()
    }

    private func verdict(of result: Result<HTTPResponse, BatonError>) -> Verdict {
        if case .failure(let error) = result {
            switch error.business?.action {
            case .refresh: return .refresh
            case .signIn: return .signOut
            case .report, .warn, .retry, nil: break
            }
        }
        return result.response.map(options.judge) ?? .accept
    }

    private func signOut(
        _ credential: Value?, after result: Result<HTTPResponse, BatonError>
    ) async throws -> HTTPResponse {
        if try await renewal.remove(credential) { options.onSignInNeeded?(Self.refusal(result)) }
        _ = try result.get()
        throw Self.refusal(result)
    }

    private static func refusal(_ result: Result<HTTPResponse, BatonError>) -> BatonError {
        switch result {
        case .failure(let error): error
        case .success(let response):
            BatonError(.signInNeeded, "the server asks for another sign-in", response: response)
        }
    }

    private static func result(
        _ body: () async throws(BatonError) -> HTTPResponse
    ) async -> Result<HTTPResponse, BatonError> {
        do throws(BatonError) { return .success(try await body()) } catch { return .failure(error) }
    }
}

extension InterceptorID {
    /// ``Authentication``.
    public static let authentication: InterceptorID = "Authentication"
}

extension BatonError.Code {
    /// The credential could not be renewed; the underlying error says why.
    public static let refreshFailed = BatonError.Code(rawValue: "refreshFailed")
    /// The user must sign in again.
    public static let signInNeeded = BatonError.Code(rawValue: "signInNeeded")
}

extension HTTPRequest {
    fileprivate func with(_ credential: (some Credential)?) -> HTTPRequest {
        guard let credential else { return self }
        var request = self
        request.fields.merge(credential.fields)
        return request
    }
}
