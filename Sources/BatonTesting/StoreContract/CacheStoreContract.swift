public import Baton
internal import Foundation

/// What every store of a cache must do, as a suite that its author runs in one call.
///
/// ```swift
/// @Test func keepsTheContract() async {
///     let report = await CacheStoreContract { MyStore() }.run()
///     #expect(report.failures.isEmpty, "\(report)")
/// }
/// ```
/// It needs no test framework. Each check gets a new, empty store, which must have room for 10 MB.
public struct CacheStoreContract: Sendable {
    /// What the checks found.
    public typealias Report = TransportContract.Report

    private let contract: StoreContract<any CacheStore>

    /// - Parameter makeStore: makes a new, empty store; called once for each check.
    public init(makeStore: @escaping @Sendable () async throws -> any CacheStore) {
        contract = StoreContract(makeStore: makeStore)
    }

    /// The names of all checks; each says what a store must do.
    public static var checks: [String] { all.map(\.name) }

    /// Runs the checks, one after the other.
    public func run() async -> Report { await contract.run(Self.all) }

    private typealias Check = StoreContract<any CacheStore>.Check

    private static let all: [Check] = [
        Check("Of a key that was not written it has nothing") { store in
            try await missing(store, key("a"))
            try await store.remove(key("a"))
            try require(try await !store.remove(url: url("a")), "it said that it removed something that it had not")
            try require(try await store.size() == 0, "an empty store has a size")
        },
        Check("An entry comes back whole") { store in
            let whole = entry(String(repeating: "ü\u{0}\r\n", count: 1_000))
            try await store.write(whole, for: key("a"))
            try await found(store, key("a"), whole)
            let marker = CacheEntry(response: nil, stored: Date(timeIntervalSince1970: 0), vary: ["accept", "x-a"])
            try await store.write(marker, for: key("b"))
            try await found(store, key("b"), marker)
        },
        Check("A body of a megabyte and an empty one come back as they were") { store in
            var large = entry("")
            large.response?.body = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            try await store.write(large, for: key("a"))
            try await store.write(entry(""), for: key("b"))
            try await found(store, key("a"), large)
            try await found(store, key("b"), entry(""))
        },
        Check("Writing again replaces the entry") { store in
            try await store.write(entry("one"), for: key("a"))
            try await store.write(entry("two"), for: key("a"))
            try await found(store, key("a"), entry("two"))
        },
        Check("Keys that differ in one part are apart") { store in
            let keys = try [
                key("a"), key("b"), key("a", identity: "ada"), key("a", language: "de"), key("a", method: .head),
            ]
            for (number, key) in keys.enumerated() { try await store.write(entry("\(number)"), for: key) }
            for (number, key) in keys.enumerated() { try await found(store, key, entry("\(number)")) }
        },
        Check("Removing an entry leaves the others") { store in
            for name in ["a", "b"] { try await store.write(entry(name), for: key(name)) }
            try await store.remove(key("a"))
            try await missing(store, key("a"))
            try await found(store, key("b"), entry("b"))
        },
        Check("Removing a URL removes every variant of it, and leaves other URLs") { store in
            let variants = try [key("a"), key("a", identity: "ada"), key("a", language: "de"), key("a", method: .head)]
            for key in try variants + [key("b"), key("aa")] { try await store.write(entry("x"), for: key) }
            try require(try await store.remove(url: url("a")), "it said that there was nothing to remove")
            for key in variants { try await missing(store, key) }
            try await found(store, key("b"), entry("x"))
            try await found(store, key("aa"), entry("x"))
            try require(try await !store.remove(url: url("a")), "it removed the same twice")
        },
        Check("Its size grows and shrinks with what it has") { store in
            try await store.write(entry(String(repeating: "x", count: 10_000)), for: key("a"))
            let one = try await store.size()
            try require(one >= 10_000, "10,000 bytes are stored, and its size is \(one)")
            try await store.write(entry("x"), for: key("b"))
            try require(try await store.size() > one, "a second entry did not add to its size")
            try await store.remove(key("a"))
            try require(try await store.size() < one, "removing an entry did not take from its size")
        },
        Check("Clearing it leaves nothing, and it can be used again") { store in
            for name in ["a", "b", "c"] { try await store.write(entry(name), for: key(name)) }
            try await store.removeAll()
            for name in ["a", "b", "c"] { try await missing(store, key(name)) }
            try require(try await store.size() == 0, "it has a size after it was cleared")
            try await store.write(entry("d"), for: key("d"))
            try await found(store, key("d"), entry("d"))
            try await store.removeAll()
            try await store.removeAll()
        },
        Check("Many tasks at once find what they wrote") { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        try await store.write(entry("\(number)"), for: key("\(number)"))
                        try await found(store, key("\(number)"), entry("\(number)"))
                        if number % 2 == 0 { try await store.remove(key("\(number)")) }
                    }
                }
                try await group.waitForAll()
            }
            for number in 0..<50 where number % 2 == 1 {
                try await found(store, key("\(number)"), entry("\(number)"))
            }
        },
        Check("Of writes to one key at the same time, one is kept whole") { store in
            let texts = (0..<20).map { String(repeating: "\($0) ", count: 2_000) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for text in texts { group.addTask { try await store.write(entry(text), for: key("a")) } }
                try await group.waitForAll()
            }
            let body = try await store.read(key("a"))?.response?.body ?? Data()
            try require(
                texts.contains(String(decoding: body, as: UTF8.self)), "what was kept is none of what was written")
        },
    ]
}

extension CacheStoreContract {
    private static func url(_ name: String) -> String { "http://store.test/\(name)" }

    private static func key(
        _ name: String, method: HTTPMethod = .get, identity: String? = nil, language: String? = nil
    ) throws -> CacheKey {
        var request = try HTTPRequest(method: method, url: url(name))
        if let language { request.fields[.acceptLanguage] = language }
        guard let key = CacheKey(request, identity: identity, varyingBy: [.acceptLanguage]) else {
            throw BatonError(.invalidRequest, "no key can be made of the request")
        }
        return key
    }

    private static func entry(_ text: String) -> CacheEntry {
        CacheEntry(
            response: HTTPResponse(
                status: 203, fields: ["A": "1", "a": "ü", "Content-Type": "text/plain"], body: Data(text.utf8)),
            stored: Date(timeIntervalSince1970: 1_700_000_000.25), version: 3, appVersion: "1.2")
    }

    private static func missing(_ store: any CacheStore, _ key: CacheKey) async throws {
        try require(try await store.read(key) == nil, "it has an entry that it should not have")
    }

    private static func found(_ store: any CacheStore, _ key: CacheKey, _ entry: CacheEntry) async throws {
        guard let read = try await store.read(key) else {
            throw StoreProblem(description: "an entry that was written is not there")
        }
        try require(
            read.response?.status == entry.response?.status && read.response?.body == entry.response?.body,
            "the response came back with another status or body")
        try require(read.response?.fields == entry.response?.fields, "the fields came back otherwise")
        try require(abs(read.stored.timeIntervalSince(entry.stored)) < 0.001, "the date came back otherwise")
        try require(
            read.version == entry.version && read.appVersion == entry.appVersion && read.vary == entry.vary,
            "the versions or the names that tell variants apart came back otherwise")
    }
}
