internal import Baton

/// The routes of a server, and which one a request belongs to. Pure.
struct RouteTable {
    /// What answers.
    enum Responder: Sendable {
        case replies([PreparedReply])
        case closure(@Sendable (LoopbackServer.ReceivedRequest) -> LoopbackServer.Reply)
    }

    struct Route {
        let bodyPolicy: LoopbackServer.BodyPolicy
        var responder: Responder
        var answered = 0
    }

    private struct Pattern {
        let method: String?
        let segments: [Substring]
        let route: Int
    }

    private var routes: [Route] = []
    /// Routes without a wildcard by method and path, so that finding one does not depend on their number.
    private var exact: [String: Int] = [:]
    private var patterns: [Pattern] = []
    private var targetsWithQuery = false

    mutating func add(
        _ method: HTTPMethod?, _ path: String, _ bodyPolicy: LoopbackServer.BodyPolicy, _ responder: Responder
    ) {
        let number = routes.count
        routes.append(Route(bodyPolicy: bodyPolicy, responder: responder))
        if path.utf8.contains(UInt8(ascii: "*")) && path != "*" {
            let segments = path.split(separator: "/", omittingEmptySubsequences: false)
            patterns.append(Pattern(method: method?.rawValue, segments: segments, route: number))
        } else {
            if path.utf8.contains(UInt8(ascii: "?")) { targetsWithQuery = true }
            exact[Self.key(method?.rawValue, path)] = number
        }
    }

    mutating func removeAll() { self = RouteTable() }

    /// The number of the route for a request: first those with this very target, then those with its path, then
    /// patterns, the latest first; with its own method before any method. HEAD falls back to GET.
    func find(method: String, target: String) -> Int? {
        if let route = find(method, target) { return route }
        return method == "HEAD" ? find("GET", target) : nil
    }

    private func find(_ method: String, _ target: String) -> Int? {
        if targetsWithQuery, let route = exact[Self.key(method, target)] ?? exact[Self.key(nil, target)] {
            return route
        }
        let path = LoopbackServer.ReceivedRequest.path(of: target)
        if let route = exact[Self.key(method, path)] ?? exact[Self.key(nil, path)] { return route }
        guard !patterns.isEmpty else { return nil }
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        return patterns.last { pattern in
            (pattern.method == nil || pattern.method == method) && Self.matches(pattern.segments, segments)
        }?.route
    }

    func bodyPolicy(of route: Int) -> LoopbackServer.BodyPolicy {
        routes.indices.contains(route) ? routes[route].bodyPolicy : .kept
    }

    /// What answers the next request of a route: one reply, or the closure.
    mutating func next(of route: Int) -> Answer? {
        guard routes.indices.contains(route) else { return nil }
        switch routes[route].responder {
        case .closure(let closure): return .closure(closure)
        case .replies(let replies):
            let index = min(routes[route].answered, replies.count - 1)
            routes[route].answered += 1
            return index < 0 ? nil : .reply(replies[index])
        }
    }

    enum Answer {
        case reply(PreparedReply)
        case closure(@Sendable (LoopbackServer.ReceivedRequest) -> LoopbackServer.Reply)
    }

    private static func key(_ method: String?, _ path: String) -> String { "\(method ?? "*") \(path)" }

    private static func matches(_ pattern: [Substring], _ segments: [Substring]) -> Bool {
        for (index, part) in pattern.enumerated() {
            if part == "**" && index == pattern.count - 1 { return segments.count >= index }
            guard index < segments.count, part == "*" || part == segments[index] else { return false }
        }
        return pattern.count == segments.count
    }
}
