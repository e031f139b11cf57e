/// Where a cache keeps responses.
///
/// **Choose** ``MemoryCacheStore`` for what may end with the process, ``DiskCacheStore`` for what should outlast it.
///
/// **Implement** it over a database or the like, and show with `CacheStoreContract` of `BatonTesting` that it does what it
/// must. Whatever throws counts as a miss, or as not stored; no request fails because of its cache. It may be called from
/// several tasks at a time.
public protocol CacheStore: Sendable {
    /// The entry of exactly that key; nil when there is none.
    func read(_ key: CacheKey) async throws -> CacheEntry?
    /// Replaces the entry of the key; returns how many others had to go to make room.
    @discardableResult
    func write(_ entry: CacheEntry, for key: CacheKey) async throws -> Int
    /// Forgets the entry of one key; nothing happens when there is none.
    func remove(_ key: CacheKey) async throws
    /// Removes the entries of all keys of that URL, see ``CacheKey/url``; it may remove a few others with them.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    func remove(url: String) async throws -> Bool
    /// Forgets every entry.
    func removeAll() async throws
    /// How many bytes the entries take in all.
    func size() async throws -> Int
}

/// Responses in memory; when there are too many, those go that were not used for the longest time.
public final class MemoryCacheStore: CacheStore {
    fileprivate struct State {
        var entries: [CacheKey: (entry: CacheEntry, used: UInt64)] = [:]
        var keys: [String: Set<CacheKey>] = [:]
        var size = 0
        var clock: UInt64 = 0
    }

    private let state = LockBox(State())
    private let maxSize: Int

    /// - Parameter maxSize: how many bytes are kept. Default: 32 MB.
    public init(maxSize: Int = 32 << 20) { self.maxSize = maxSize }

    public func read(_ key: CacheKey) -> CacheEntry? {
        state.withLock { state in
            state.clock += 1
            state.entries[key]?.used = state.clock
            return state.entries[key]?.entry
        }
    }

    @discardableResult
    public func write(_ entry: CacheEntry, for key: CacheKey) -> Int {
        let (replaced, evicted) = state.withLock { state -> (CacheEntry?, [CacheEntry]) in
            let replaced = state.remove(key)
            guard entry.size <= maxSize else { return (replaced, []) }
            state.add(entry, key)
            var evicted: [CacheEntry] = []
            while state.size > maxSize, let oldest = state.entries.min(by: { $0.value.used < $1.value.used }) {
                if let entry = state.remove(oldest.key) { evicted.append(entry) }
            }
            return (replaced, evicted)
        }
        withExtendedLifetime(replaced) {}
        return evicted.count
    }

    public func remove(_ key: CacheKey) {
        let released = state.withLock { $0.remove(key) }
        withExtendedLifetime(released) {}
    }

    @discardableResult
    public func remove(url: String) -> Bool {
        let released = state.withLock { state in
            (state.keys[url] ?? []).compactMap { state.remove($0) }
        }
        return !released.isEmpty
    }

    public func removeAll() {
        let released = state.withLock { state in
            defer { state = State() }
            return state
        }
        withExtendedLifetime(released) {}
    }

    public func size() -> Int { state.withLock { $0.size } }
}

extension MemoryCacheStore.State {
    fileprivate mutating func add(_ entry: CacheEntry, _ key: CacheKey) {
        clock += 1
        entries[key] = (entry, clock)
        keys[key.url, default: []].insert(key)
        size += entry.size
    }

    fileprivate mutating func remove(_ key: CacheKey) -> CacheEntry? {
        guard let old = entries.removeValue(forKey: key) else { return nil }
        let url = key.url
        keys[url]?.remove(key)
        if keys[url]?.isEmpty == true { keys[url] = nil }
        size -= old.entry.size
        return old.entry
    }
}
