package import Foundation

/// Keeps the cookies that servers set and returns them with later requests (RFC 6265). A client has none unless it is
/// given one.
///
/// ```swift
/// let jar = CookieJar()
/// let client = Client(baseURL: "https://api.example.com") { $0.cookies = jar }
/// …
/// jar.removeAll()                             // signed out
/// ```
/// Every exchange takes part: first attempts, retries and the hops of redirects, whatever their status. A request's own
/// Cookie field stays and comes first. Cookies are added after the interceptors, which do not see them, and appear in no
/// log. A jar is in memory and may be given to several clients, which then share it; one jar is for one user.
///
/// Cookies for a domain of one label, such as `com`, are refused; there is no list of public suffixes, so one for `co.uk`
/// is not. It may be used from any thread.
public final class CookieJar: Sendable {
    /// In the order of their creation.
    private let state = LockBox<[Cookie]>([])
    private let maxCount: Int
    private let maxPerDomain: Int

    /// - Parameters:
    ///   - maxCount: how many cookies are kept; the oldest goes when there is one more. Default: 1,000.
    ///   - maxPerDomain: how many of them for one domain. Default: 50. A cookie of more than 4,096 bytes is refused.
    public init(maxCount: Int = 1_000, maxPerDomain: Int = 50) {
        self.maxCount = max(0, maxCount)
        self.maxPerDomain = max(0, maxPerDomain)
    }

    /// What it keeps, in the order of creation; cookies that have ended may still be among them.
    public var cookies: [Cookie] { state.withLock { $0 } }

    /// Adds a cookie, in place of one with its name, domain and path.
    public func set(_ cookie: Cookie) {
        guard cookie.name.utf8.count + cookie.value.utf8.count <= 4_096 else { return }
        state.withLock { cookies in
            if let place = cookies.firstIndex(where: { $0.isReplaced(by: cookie) }) {
                cookies[place] = cookie
                return
            }
            cookies.append(cookie)
            if cookies.lazy.filter({ $0.domain == cookie.domain }).count > maxPerDomain,
                let oldest = cookies.firstIndex(where: { $0.domain == cookie.domain })
            {
                cookies.remove(at: oldest)
            }
            if cookies.count > maxCount { cookies.removeFirst() }
        }
    }

    /// Removes cookies, such as those of a domain.
    public func remove(where matches: (Cookie) -> Bool) {
        let kept = cookies.filter { !matches($0) }
        state.withLock { $0 = kept }
    }

    /// Removes every cookie.
    public func removeAll() { state.withLock { $0 = [] } }

    /// The value of the Cookie field for a request, beside what the request has itself; nil when there is nothing.
    package func field(for request: HTTPRequest, at date: Date) -> String? {
        let path = request.path
        let found: [Cookie] = state.withLock { cookies in
            if cookies.isEmpty { return [] }
            cookies.removeAll { $0.hasEnded(at: date) }
            return cookies.filter { $0.matches(request.origin, path: path) }
        }
        if found.isEmpty { return nil }
        // Longer paths first, then earlier cookies (RFC 6265, 5.4).
        let sorted = found.enumerated().sorted { a, b in
            (b.element.path.utf8.count, a.offset) < (a.element.path.utf8.count, b.offset)
        }
        return sorted.map { "\($0.element.name)=\($0.element.value)" }.joined(separator: "; ")
    }

    /// Takes over what a response sets.
    package func store(_ response: HTTPResponse, to request: HTTPRequest, at date: Date) {
        for line in response.fields where line.name == .setCookie {
            guard let cookie = Cookie(line: line.value, from: request.origin, path: request.path, now: date) else {
                continue
            }
            if cookie.hasEnded(at: date) {
                state.withLock { cookies in cookies.removeAll { $0.isReplaced(by: cookie) } }
            } else {
                set(cookie)
            }
        }
    }
}

extension Cookie {
    fileprivate func hasEnded(at date: Date) -> Bool { expiry.map { $0 <= date } ?? false }
}

extension CookieJar: CustomStringConvertible, CustomReflectable {
    public var description: String { "CookieJar(\(cookies.count) cookies)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
