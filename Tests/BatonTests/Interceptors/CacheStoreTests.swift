import Baton
import Foundation
import Testing

/// What every store does; a store of one's own runs through the same.
@Suite("Cache stores") struct CacheStoreTests {
    enum Kind: String, CaseIterable, CustomTestStringConvertible {
        case memory, disk
        var testDescription: String { rawValue }
    }

    private static let directory = FileManager.default.temporaryDirectory
        .appendingPathComponent("baton-cache-\(ProcessInfo.processInfo.processIdentifier)-\(Numbering.next())")

    private func store(_ kind: Kind, maxSize: Int = 1 << 20, _ body: (any CacheStore, URL) async throws -> Void)
        async throws
    {
        let directory = Self.directory.appendingPathComponent("\(Numbering.next())")
        defer { try? FileManager.default.removeItem(at: directory) }
        switch kind {
        case .memory: try await body(MemoryCacheStore(maxSize: maxSize), directory)
        case .disk: try await body(DiskCacheStore(directory: directory, maxSize: maxSize), directory)
        }
    }

    private func key(_ name: String) -> CacheKey { CacheKey(bytes: Data(name.utf8)) }

    private func entry(_ text: String, _ stored: Double = 7) -> CacheEntry {
        CacheEntry(
            response: HTTPResponse(status: 203, fields: ["A": "1", "a": "ü"], body: Data(text.utf8)),
            stored: Date(timeIntervalSince1970: stored), version: 3, appVersion: "1.2", vary: ["x"])
    }

    @Test("An entry comes back as it was written, is replaced, removed and cleared", arguments: Kind.allCases)
    func roundTrip(_ kind: Kind) async throws {
        try await store(kind) { store, _ in
            #expect(try await store.read(key("a")) == nil)
            try await store.write(entry("one"), for: key("a"))
            try await store.write(CacheEntry(response: nil, stored: Date()), for: key("b"))
            let read = try #require(try await store.read(key("a")))
            #expect(read.response?.body == Data("one".utf8))
            #expect(read.response?.status == 203)
            #expect(read.response?.fields == ["A": "1", "a": "ü"])
            #expect(read.stored == Date(timeIntervalSince1970: 7))
            #expect(read.version == 3 && read.appVersion == "1.2" && read.vary == ["x"])
            try await store.write(entry("two"), for: key("a"))
            #expect(try await store.read(key("a"))?.response?.body == Data("two".utf8))
            #expect(try await store.size() > 0)
            try await store.remove(key("a"))
            #expect(try await store.read(key("a")) == nil)
            #expect(try await store.read(key("b")) != nil)
            try await store.removeAll()
            #expect(try await store.size() == 0)
        }
    }

    @Test("Beyond the size, what was not used for the longest time goes", arguments: Kind.allCases)
    func eviction(_ kind: Kind) async throws {
        try await store(kind, maxSize: 4_000) { store, _ in
            let text = String(repeating: "x", count: 1_000)
            for name in ["a", "b", "c"] { try await store.write(entry(text), for: key(name)) }
            _ = try await store.read(key("a"))
            try await store.write(entry(text), for: key("d"))
            #expect(try await store.size() <= 4_000)
            #expect(try await store.read(key("a")) != nil)
            #expect(try await store.read(key("b")) == nil)
            #expect(try await store.read(key("d")) != nil)
            // What does not fit at all pushes nothing out.
            try await store.write(entry(text + text + text + text), for: key("e"))
            #expect(try await store.read(key("e")) == nil)
            #expect(try await store.read(key("d")) != nil)
        }
    }

    @Test("A file that is damaged, cut off or another key's is a miss and goes away")
    func damage() async throws {
        try await store(.disk) { store, directory in
            try await store.write(entry("hello"), for: key("a"))
            let url = directory.appendingPathComponent(key("a").name).appendingPathExtension("baton")
            let good = try Data(contentsOf: url)
            var flipped = good
            flipped[good.count - 1] ^= 1
            let other = try Data(
                contentsOf: {
                    try (store as? DiskCacheStore)?.write(entry("hello"), for: key("b"))
                    return directory.appendingPathComponent(key("b").name).appendingPathExtension("baton")
                }())
            for bad in [flipped, good.prefix(20), Data(), other] {
                try bad.write(to: url)
                #expect(try await store.read(key("a")) == nil)
                #expect(!FileManager.default.fileExists(atPath: url.path))
            }
            try good.write(to: url)
            #expect(try await store.read(key("a")) != nil)
        }
    }

    @Test("A store finds what an earlier one has left, and counts it")
    func reopening() async throws {
        try await store(.disk) { store, directory in
            try await store.write(entry("hello"), for: key("a"))
            let second = DiskCacheStore(directory: directory)
            #expect(second.size() == (try await store.size()))
            #expect(second.read(key("a"))?.response?.body == Data("hello".utf8))
        }
    }
}
