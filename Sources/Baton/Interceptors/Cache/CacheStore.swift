/// Where a cache keeps responses.
///
/// **Choose** ``MemoryCacheStore`` for what may end with the process, ``DiskCacheStore`` for what should outlast it.
///
/// **Implement** it over a database or the like. Whatever throws counts as a miss, or as not stored; no request fails
/// because of its cache. It may be called from several tasks at a time.
public protocol CacheStore: Sendable {
    /// The entry of exactly that key; nil when there is none.
    func read(_ key: CacheKey) async throws -> CacheEntry?
    /// Replaces the entry of the key.
    func write(_ entry: CacheEntry, for key: CacheKey) async throws
    func remove(_ key: CacheKey) async throws
    func removeAll() async throws
    /// How many bytes the entries take in all.
    func size() async throws -> Int
}

/// Responses in memory; when there are too many, those go that were not used for the longest time.
public final class MemoryCacheStore: CacheStore {
    fileprivate struct State {
        var entries: [CacheKey: (entry: CacheEntry, used: UInt64)] = [:]
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

    public func write(_ entry: CacheEntry, for key: CacheKey) {
        let released = state.withLock { state -> [CacheEntry] in
            var released = [state.remove(key)].compactMap { $0 }
            guard entry.size <= maxSize else { return released }
            state.clock += 1
            state.entries[key] = (entry, state.clock)
            state.size += entry.size
            while state.size > maxSize, let oldest = state.entries.min(by: { $0.value.used < $1.value.used }) {
                if let entry = state.remove(oldest.key) { released.append(entry) }
            }
            return released
        }
        withExtendedLifetime(released) {}
    }

    public func remove(_ key: CacheKey) {
        let released = state.withLock { $0.remove(key) }
        withExtendedLifetime(released) {}
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
    fileprivate mutating func remove(_ key: CacheKey) -> CacheEntry? {
        guard let old = entries.removeValue(forKey: key) else { return nil }
        size -= old.entry.size
        return old.entry
    }
}
