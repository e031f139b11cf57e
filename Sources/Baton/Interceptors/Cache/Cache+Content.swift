public import Foundation

/// What is in the cache, for code that looks after it by hand. Requests are as their transport would see them: build one
/// with `HTTPRequest(method:url:fields:body:)`.
extension Cache {
    /// The entry for a request, however old it is; nil when there is none of this version.
    public func read(_ request: HTTPRequest) async throws -> CacheEntry? {
        guard let key = await key(for: request), let entry = try await store.read(key) else { return nil }
        if entry.vary.isEmpty { return isRight(entry) ? entry : nil }
        guard let variant = await variant(entry.vary, of: request) else { return nil }
        return try await store.read(variant).flatMap { isRight($0) ? $0 : nil }
    }

    /// Keeps a response, unless it must not be kept; whether it did.
    @discardableResult
    public func save(_ response: HTTPResponse, for request: HTTPRequest, at date: Date) async throws -> Bool {
        try await keep(response, for: request, at: date) != nil
    }

    /// How many others had to go to make room; nil when the response is not kept.
    func keep(_ response: HTTPResponse, for request: HTTPRequest, at date: Date) async throws -> Int? {
        guard let key = await key(for: request), await mayKeep(response, for: request),
            let names = response.varyingNames
        else { return nil }
        var response = response.withoutJSON
        response.metrics = nil
        var entry = CacheEntry(
            response: response, stored: date, version: options.version, appVersion: options.appVersion)
        guard let variant = await variant(names, of: request), !names.isEmpty else {
            return try await store.write(entry, for: key)
        }
        let evicted = try await store.write(entry, for: variant)
        entry.response = nil
        entry.vary = names
        return evicted + (try await store.write(entry, for: key))
    }

    private func mayKeep(_ response: HTTPResponse, for request: HTTPRequest) async -> Bool {
        let said = CacheControl(response.fields)
        guard !said.has("no-store"), options.isWorthKeeping(request, response),
            !options.isSensitive(request, response)
        else { return false }
        guard said.has("private") else { return true }
        let names = [HTTPFieldName.authorization, .cookie].filter(options.varyingFields.contains)
        if names.contains(where: request.fields.contains) { return true }
        return await options.identity(request) != nil
    }

    /// Forgets what answers a request.
    public func remove(_ request: HTTPRequest) async throws {
        guard let key = await key(for: request) else { return }
        if let entry = try await store.read(key), !entry.vary.isEmpty,
            let variant = await variant(entry.vary, of: request)
        {
            try await store.remove(variant)
        }
        try await store.remove(key)
    }

    /// Forgets everything at a URL, whoever asked and in whatever variant; whether there was something.
    @discardableResult
    public func remove(url: String) async throws -> Bool { try await store.remove(url: url) }

    /// Forgets everything that is in the store.
    public func clear() async throws { try await store.removeAll() }

    /// How many bytes the store's entries take.
    public var size: Int {
        get async throws { try await store.size() }
    }
}
