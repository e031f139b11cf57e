public import Baton

/// What every store of a credential must do, as a suite that its author runs in one call.
///
/// ```swift
/// @Test func keepsTheContract() async {
///     let report = await CredentialStoreContract(BearerToken("a"), BearerToken("b")) { KeychainStore() }.run()
///     #expect(report.failures.isEmpty, "\(report)")
/// }
/// ```
/// It needs no test framework. Each check gets a new, empty store.
public struct CredentialStoreContract<Value: Credential>: Sendable {
    /// What the checks found.
    public typealias Report = TransportContract.Report

    private let contract: StoreContract<any CredentialStore<Value>>
    private let first: Value
    private let second: Value

    /// - Parameters:
    ///   - first: a credential, as full as one can be, so that every part of it has to come back.
    ///   - second: another one.
    ///   - makeStore: makes a new, empty store; called once for each check.
    public init(
        _ first: Value, _ second: Value, makeStore: @escaping @Sendable () async throws -> any CredentialStore<Value>
    ) {
        self.first = first
        self.second = second
        contract = StoreContract(makeStore: makeStore)
    }

    /// Runs the checks, one after the other.
    public func run() async -> Report { await contract.run(checks) }

    private var checks: [StoreContract<any CredentialStore<Value>>.Check] {
        typealias Check = StoreContract<any CredentialStore<Value>>.Check
        let (first, second) = (first, second)
        return [
            Check("Before anything was written it has nothing") { store in try await Self.has(nil, store) },
            Check("A credential comes back as it was, as often as it is read") { store in
                try await store.write(first)
                try await Self.has(first, store)
                try await Self.has(first, store)
            },
            Check("Writing replaces the credential") { store in
                try await store.write(first)
                try await store.write(second)
                try await Self.has(second, store)
                try await store.write(first)
                try await Self.has(first, store)
            },
            Check("Writing nil removes it, also where there is none") { store in
                try await store.write(nil)
                try await store.write(first)
                try await store.write(nil)
                try await Self.has(nil, store)
                try await store.write(second)
                try await Self.has(second, store)
            },
            Check("Tasks that write and read at the same time find one of the credentials, whole") { store in
                try await store.write(first)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<50 {
                        group.addTask {
                            if number % 3 == 0 { return try await store.write(number % 2 == 0 ? first : second) }
                            let read = try await store.read()
                            try require(read == first || read == second, "it had neither of the credentials")
                        }
                    }
                    try await group.waitForAll()
                }
                try await store.write(second)
                try await Self.has(second, store)
            },
        ]
    }

    // What it has is a secret, so no message shows it.
    private static func has(_ value: Value?, _ store: any CredentialStore<Value>) async throws {
        try require(
            try await store.read() == value,
            value == nil ? "it has a credential where there is none" : "it has another credential than was written")
    }
}
