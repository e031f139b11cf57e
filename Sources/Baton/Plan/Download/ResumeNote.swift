internal import Foundation

/// What is kept beside a file that is not complete, so that a later download can go on with it.
///
/// It counts only as a whole: another URL, another state of the resource, or a file that is shorter than it says, and
/// the download starts over.
struct ResumeNote: Codable, Equatable, Sendable {
    /// What names the state of a resource.
    struct Validator: Codable, Equatable, Sendable {
        /// A strong entity tag, or else a date of change that is as good as one.
        var tag: String?
        var date: String?

        /// The value of `If-Range`.
        var text: String { tag ?? date ?? "" }

        /// Nil where the response names no state that a part could be asked of (RFC 9110, 8.8.2.2 and 13.1.5).
        init?(_ fields: HTTPFields) {
            if let tag = fields[.etag] {
                guard tag.hasPrefix("\""), tag.count > 2 else { return nil }
                self.tag = tag
                return
            }
            // The date is strong only where the resource cannot have changed again within the same second.
            guard let text = fields[.lastModified], let changed = HTTPDate.parse(text),
                let made = fields[.date].flatMap({ HTTPDate.parse($0) }), made.timeIntervalSince(changed) >= 1
            else { return nil }
            date = text
        }

        /// Whether a response that has a part of the resource is about that state.
        func fits(_ fields: HTTPFields) -> Bool {
            if let tag, let other = fields[.etag] { return tag == other }
            if let date, let other = fields[.lastModified] { return date == other }
            return true
        }
    }

    var version = 1
    var url: String
    var validator: Validator
    /// How many bytes are in the file for certain.
    var bytes: Int64
    /// How many there will be; nil where that is not known.
    var total: Int64?
}

/// The bytes that a partial response has: `bytes 5-9/10` (RFC 9110, 14.4).
struct ContentRange: Equatable, Sendable {
    var start: Int64
    var end: Int64
    var total: Int64?

    init?(_ text: String?) {
        guard let text, text.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = Self.number(ends[0]), let end = Self.number(ends[1]), start <= end else {
            return nil
        }
        (self.start, self.end) = (start, end)
        if parts[1].trimmingCharacters(in: .whitespaces) != "*" {
            guard let total = Self.number(parts[1]), total > end else { return nil }
            self.total = total
        }
    }

    private static func number(_ text: Substring) -> Int64? {
        let text = text.trimmingCharacters(in: .whitespaces)
        guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
        return Int64(text).flatMap { $0 < .max ? $0 : nil }
    }
}
