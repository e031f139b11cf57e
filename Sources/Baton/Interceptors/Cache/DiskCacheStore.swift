public import Foundation

/// Responses in a directory, one file each; when there are too many, those go that were not used for the longest time.
///
/// Files are written beside their place and moved there, so that a crash leaves the old one or the new one. One that is
/// damaged is no entry, and is removed when it is met. The directory belongs to the store: `removeAll` removes it.
public final class DiskCacheStore: CacheStore {
    fileprivate struct File {
        var size: Int
        /// Its place in the order of uses.
        var used: Int
    }

    fileprivate struct Index {
        var files: [String: File] = [:]
        var size = 0
        var isRead = false
        var clock = 0
    }

    private let directory: URL
    private let maxSize: Int
    private let index = LockBox(Index())

    /// - Parameter maxSize: how many bytes are kept. Default: 200 MB.
    public init(directory: URL, maxSize: Int = 200 << 20) {
        self.directory = directory
        self.maxSize = maxSize
    }

    private func url(_ name: String) -> URL { directory.appendingPathComponent(name).appendingPathExtension("baton") }

    public func read(_ key: CacheKey) -> CacheEntry? {
        guard let data = try? Data(contentsOf: url(key.name)) else { return nil }
        guard let entry = CacheEntry(data, for: key) else {
            remove(key)
            return nil
        }
        readIndex()
        index.withLock { $0.use(key.name) }
        return entry
    }

    @discardableResult
    public func write(_ entry: CacheEntry, for key: CacheKey) throws -> Int {
        let data = try entry.encoded(for: key)
        guard data.count <= maxSize else {
            remove(key)
            return 0
        }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        readIndex()
        try data.write(to: url(key.name), options: .atomic)
        let superfluous = index.withLock { index in
            index.add(key.name, size: data.count)
            return index.evict(to: maxSize)
        }
        for name in superfluous { try? FileManager.default.removeItem(at: url(name)) }
        return superfluous.count
    }

    public func remove(_ key: CacheKey) {
        try? FileManager.default.removeItem(at: url(key.name))
        index.withLock { $0.remove(key.name) }
    }

    @discardableResult
    public func remove(url: String) -> Bool {
        readIndex()
        let prefix = CacheKey.prefix(of: url)
        let names = index.withLock { index in
            let names = index.files.keys.filter { $0.hasPrefix(prefix) }
            for name in names { index.remove(name) }
            return names
        }
        for name in names { try? FileManager.default.removeItem(at: self.url(name)) }
        return !names.isEmpty
    }

    public func removeAll() throws {
        index.withLock { $0 = Index() }
        guard FileManager.default.fileExists(atPath: directory.path) else { return }
        try FileManager.default.removeItem(at: directory)
    }

    public func size() -> Int {
        readIndex()
        return index.withLock { $0.size }
    }

    /// What the directory held before this store.
    private func readIndex() {
        guard !index.withLock({ $0.isRead }) else { return }
        let keys: [URLResourceKey] = [.fileSizeKey, .contentModificationDateKey]
        let urls = (try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: keys)) ?? []
        var found: [(name: String, size: Int, date: Date)] = []
        for url in urls where url.pathExtension == "baton" {
            guard let values = try? url.resourceValues(forKeys: Set(keys)), let size = values.fileSize else { continue }
            let name = url.deletingPathExtension().lastPathComponent
            found.append((name, size, values.contentModificationDate ?? .distantPast))
        }
        index.withLock { index in
            guard !index.isRead else { return }
            index.isRead = true
            for file in found.sorted(by: { $0.date < $1.date }) where index.files[file.name] == nil {
                index.add(file.name, size: file.size)
            }
        }
    }
}

extension DiskCacheStore.Index {
    fileprivate mutating func use(_ name: String) {
        clock += 1
        files[name]?.used = clock
    }

    fileprivate mutating func add(_ name: String, size: Int) {
        remove(name)
        clock += 1
        files[name] = DiskCacheStore.File(size: size, used: clock)
        self.size += size
    }

    fileprivate mutating func remove(_ name: String) {
        if let old = files.removeValue(forKey: name) { size -= old.size }
    }

    /// The files that have to go.
    fileprivate mutating func evict(to limit: Int) -> [String] {
        guard size > limit else { return [] }
        var names: [String] = []
        for (name, _) in files.sorted(by: { $0.value.used < $1.value.used }) where size > limit {
            remove(name)
            names.append(name)
        }
        return names
    }
}
