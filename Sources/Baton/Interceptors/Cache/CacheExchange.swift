internal import Foundation

/// One request on its way through ``Cache``.
struct CacheExchange {
    let cache: Cache
    let request: HTTPRequest
    let key: CacheKey
    let context: AttemptContext
    let next: Next

    private var now: Date { context.scheduler.date }

    /// What is stored for the request, of this version and however old. A store that fails has nothing.
    private func stored() async -> CacheEntry? {
        (try? await cache.read(request)) ?? nil
    }

    /// What is stored and not too old.
    func usable() async -> CacheEntry? {
        await stored().flatMap { isStale($0) ? nil : $0 }
    }

    private func isStale(_ entry: CacheEntry) -> Bool {
        // What was stored after now was so before the clock went back: nobody knows how old it is.
        guard let maxAge = cache.options.maxAge else { return false }
        return entry.stored > now.addingTimeInterval(1) || entry.age(at: now) > maxAge.inSeconds
    }

    func answer(_ entry: CacheEntry, isStale: Bool = false) -> HTTPResponse {
        var response = entry.response ?? HTTPResponse(status: 504)
        response.noteCache(age: .nanoseconds(Int64(min(entry.age(at: now), 1e9) * 1e9)), isStale: isStale)
        return response
    }

    /// Asks the network and keeps its answer.
    func ask(_ request: HTTPRequest) async throws(BatonError) -> HTTPResponse {
        let response = try await next(request)
        _ = try? await cache.save(response, for: self.request, at: now)
        return response
    }

    /// Asks the network, and where that fails answers with what there is.
    func askElseAnswer() async throws(BatonError) -> HTTPResponse {
        do {
            return try await ask(request)
        } catch {
            guard !error.isCancelled, let entry = await stored() else { throw error }
            return answer(entry, isStale: isStale(entry))
        }
    }

    /// Does what the server says about its responses.
    func negotiate() async throws(BatonError) -> HTTPResponse {
        let asked = CacheControl(request.fields)
        guard let entry = await stored() else {
            if asked.has("only-if-cached") {
                throw BatonError(.cacheMiss, "the cache has no response for the request")
            }
            return try await ask(request)
        }
        if entry.isFresh(for: request, at: now) { return answer(entry) }
        // Those who ask conditionally themselves want to see the 304.
        guard !request.fields.contains(.ifNoneMatch), !request.fields.contains(.ifModifiedSince),
            let question = entry.validating(request)
        else { return try await ask(request) }
        do {
            return try await ask(question)
        } catch {
            guard let confirmation = error.response, confirmation.status == 304 else { throw error }
            let confirmed = entry.confirmed(by: confirmation.fields, at: now)
            if let response = confirmed.response { _ = try? await cache.save(response, for: request, at: now) }
            return answer(confirmed)
        }
    }
}
