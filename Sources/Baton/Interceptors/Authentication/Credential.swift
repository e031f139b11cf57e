public import Foundation

/// What says who asks: a token, a key, a pair of both.
///
/// ```swift
/// struct Session: Credential, Codable, Response {
///     let token: String
///     var fields: HTTPFields { ["X-Session": token] }
/// }
/// ```
public protocol Credential: Sendable, Equatable {
    /// What it puts on each attempt; each field replaces the request's own of that name.
    var fields: HTTPFields { get }
    /// When it ends; nil, the default, when that is not known.
    var expiry: Date? { get }
}

extension Credential {
    public var expiry: Date? { nil }
}

/// A bearer token (RFC 6750), with what renews it.
public struct BearerToken: Credential, Codable, Response {
    /// What is shown to the server.
    public var accessToken: String
    /// What a refresh shows; nil when there is nothing of the kind.
    public var refreshToken: String?
    public var expiry: Date?

    /// A token; nil leaves out what is not known.
    public init(_ accessToken: String, refreshToken: String? = nil, expiry: Date? = nil) {
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.expiry = expiry
    }

    public var fields: HTTPFields { [.authorization: "Bearer \(accessToken)"] }
}

extension BearerToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "BearerToken(REDACTED)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Where a credential is kept.
///
/// **Choose** ``InMemoryCredentialStore`` for tests and for what ends with the process.
///
/// **Use** it to sign in and out: what is written is on the next attempt, nil is on none.
///
/// **Implement** it over a keychain or a file, and show with `CredentialStoreContract` of `BatonTesting` that it does what
/// it must. It is read before each attempt, so it should keep in memory what it has read; what it throws fails the request.
public protocol CredentialStore<Value>: Sendable {
    /// What kind of credential it keeps.
    associatedtype Value: Credential
    /// The credential; nil when nobody is signed in.
    func read() async throws -> Value?
    /// Replaces the credential; nil removes it.
    func write(_ credential: Value?) async throws
}

/// A credential in memory.
public final class InMemoryCredentialStore<Value: Credential>: CredentialStore {
    private let value: LockBox<Value?>

    /// A store with that credential; nil: nobody is signed in.
    public init(_ credential: Value? = nil) { value = LockBox(credential) }

    public func read() -> Value? { value.withLock { $0 } }

    public func write(_ credential: Value?) {
        let old = value.withLock { value in
            defer { value = credential }
            return value
        }
        withExtendedLifetime(old) {}
    }
}
