internal import Baton
internal import Foundation

/// A path to be matched: exact, or with stars. It may be an absolute URL.
struct PathPattern: Sendable {
    /// `scheme://authority` when the pattern is absolute.
    private var origin: String?
    private(set) var path: String
    /// The query that the pattern was written with; nil without a question mark.
    let query: String?
    private let segments: [Substring]
    private let hasStars: Bool

    init(_ text: String) {
        var rest = text[...]
        if let mark = text.firstRange(of: "://"), !text[..<mark.lowerBound].contains("/") {
            let end = text[mark.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? text.endIndex
            origin = text[..<end].lowercased()
            rest = text[end...]
        }
        query = rest.firstIndex(of: "?").map { String(rest[rest.index(after: $0)...]) }
        let bare = rest.prefix { $0 != "?" }
        path = bare.hasPrefix("/") ? String(bare) : "/" + bare
        segments = path.split(separator: "/", omittingEmptySubsequences: false)
        hasStars = path.contains("*")
    }

    /// Whether it is the path of the request: the whole one, or what follows the base URL.
    func matches(_ request: HTTPRequest) -> Bool {
        if let origin, origin != request.origin.description { return false }
        if matches(String(request.path)) { return true }
        let prefix = request.origin.pathPrefix
        guard origin == nil, !prefix.isEmpty, request.path.hasPrefix(prefix) else { return false }
        let rest = request.path.dropFirst(prefix.count)
        return rest.isEmpty ? path == "/" : rest.hasPrefix("/") && matches(String(rest))
    }

    func matches(_ other: String) -> Bool {
        if path == other { return true }
        let others = other.split(separator: "/", omittingEmptySubsequences: false)
        if !hasStars {
            return segments.count == others.count
                && zip(segments, others).allSatisfy { Self.decoded($0) == Self.decoded($1) }
        }
        return Self.matches(segments[...], others[...])
    }

    private static func matches(_ pattern: ArraySlice<Substring>, _ path: ArraySlice<Substring>) -> Bool {
        guard let first = pattern.first else { return path.isEmpty }
        if first == "**" {
            let rest = pattern.dropFirst()
            return (path.startIndex...path.endIndex).contains { matches(rest, path[$0...]) }
        }
        guard let segment = path.first, fits(Array(decoded(first)), Array(decoded(segment))) else { return false }
        return matches(pattern.dropFirst(), path.dropFirst())
    }

    /// Whether a segment fits one with stars; the last star that was met takes as little as it can.
    private static func fits(_ pattern: [Character], _ text: [Character]) -> Bool {
        if pattern == ["*"] { return !text.isEmpty }
        var (p, t) = (0, 0)
        var retry: (p: Int, t: Int)?
        while t < text.count {
            if p < pattern.count, pattern[p] == "*" {
                retry = (p, t)
                p += 1
            } else if p < pattern.count, pattern[p] == text[t] {
                p += 1
                t += 1
            } else if let (star, from) = retry {
                (p, t) = (star + 1, from + 1)
                retry = (star, from + 1)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == "*" }
    }

    private static func decoded(_ segment: Substring) -> String {
        segment.removingPercentEncoding ?? String(segment)
    }

    var description: String { (origin ?? "") + path }
}

/// Queries as text.
enum QueryText {
    /// The decoded pairs of a query, in its order.
    static func pairs(_ query: some StringProtocol) -> [(name: String, value: String)] {
        Substring(query).split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? PercentEncoding.decodeLeniently(parts[1]) : ""
            return (PercentEncoding.decodeLeniently(parts[0]), value)
        }
    }
}
