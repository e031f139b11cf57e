internal import Foundation

/// One request on its way through ``Cache``.
struct CacheExchange {
    let cache: Cache
    let request: HTTPRequest
    let context: AttemptContext
    let next: Next

    private var now: Date { context.scheduler.date }

    /// What is stored for the request, of this version and however old. A store that fails has nothing.
    private func stored() async -> CacheEntry? {
        (try? await cache.read(request)) ?? nil
    }

    /// What is stored and not too old.
    func usable() async -> CacheEntry? {
        let entry = await stored().flatMap { isStale($0) ? nil : $0 }
        if entry == nil { context.tell(.miss, of: request) }
        return entry
    }

    private func isStale(_ entry: CacheEntry) -> Bool {
        // What was stored after now was so before the clock went back: nobody knows how old it is.
        guard let maxAge = cache.options.maxAge else { return false }
        return entry.stored > now.addingTimeInterval(1) || entry.age(at: now) > maxAge.inSeconds
    }

    func answer(_ entry: CacheEntry, isStale: Bool = false) -> HTTPResponse {
        let response = response(of: entry, isStale: isStale)
        context.tell(.hit(age: response.cacheAge ?? .zero, isStale: isStale), of: request)
        return response
    }

    private func response(of entry: CacheEntry, isStale: Bool = false) -> HTTPResponse {
        var response = entry.response ?? HTTPResponse(status: 504)
        response.noteCache(age: .nanoseconds(Int64(min(entry.age(at: now), 1e9) * 1e9)), isStale: isStale)
        return response
    }

    /// Asks the network and keeps its answer.
    func ask(_ request: HTTPRequest) async throws(BatonError) -> HTTPResponse {
        let response = try await next(request)
        await keep(response)
        return response
    }

    /// Keeps a response where it may be kept; a store that fails keeps nothing.
    private func keep(_ response: HTTPResponse) async {
        guard let evicted = (try? await cache.keep(response, for: request, at: now)) ?? nil else { return }
        context.tell(.stored, of: request)
        if evicted > 0 { context.tell(.evicted(evicted), of: request) }
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
            context.tell(.miss, of: request)
            if asked.has("only-if-cached") {
                throw BatonError(.cacheMiss, "the cache has no response for the request")
            }
            return try await ask(request)
        }
        if entry.isFresh(for: request, at: now) { return answer(entry) }
        // Those who ask conditionally themselves want to see the 304.
        guard !request.fields.contains(.ifNoneMatch), !request.fields.contains(.ifModifiedSince),
            let question = entry.validating(request)
        else {
            context.tell(.miss, of: request)
            return try await ask(request)
        }
        do {
            let changed = try await next(question)
            context.tell(.miss, of: request)
            await keep(changed)
            return changed
        } catch {
            guard let confirmation = error.response, confirmation.status == 304 else {
                context.tell(.miss, of: request)
                throw error
            }
            let confirmed = entry.confirmed(by: confirmation.fields, at: now)
            if let response = confirmed.response {
                _ = try? await cache.keep(response, for: request, at: now)
            }
            context.tell(.revalidated, of: request)
            return response(of: confirmed)
        }
    }
}

extension AttemptContext {
    /// Tells observers what the cache did. A request that was cancelled meanwhile is not talked about any more.
    func tell(_ kind: CacheEvent.Kind, of request: HTTPRequest) {
        guard let events, !Task.isCancelled else { return }
        events.append(.cache(CacheEvent(run: run, call: call, kind: kind, request: request, instant: now)))
    }
}
