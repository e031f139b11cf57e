package import Foundation

/// The Retry-After field (RFC 9110, 10.2.3).
package enum RetryAfter {
    /// The seconds that the value asks to wait: never negative, `Int64.max` where it says more than that.
    ///
    /// Nil for what is neither a non-negative whole number nor an HTTP date: `-1`, `1.5`, an empty value.
    ///
    /// - Parameter responseDate: what a date is relative to: the response's own Date field, which makes wrong clocks
    ///   harmless, or else the time of its arrival. A date that is past asks for no wait.
    package static func parse(_ value: some StringProtocol, responseDate: Date) -> Int64? {
        let text = Substring(value).trimmingBlanks
        guard let first = text.utf8.first else { return nil }
        if first.isDigit {
            guard text.utf8.allSatisfy(\.isDigit) else { return nil }
            return Int64(text) ?? .max
        }
        guard let date = HTTPDate.parse(text, now: responseDate) else { return nil }
        let seconds = date.timeIntervalSince(responseDate).rounded(.up)
        return seconds <= 0 ? 0 : Int64(exactly: seconds) ?? .max
    }

    /// The seconds that a response asks to wait, by its first Retry-After; nil when it has none that can be read.
    ///
    /// - Parameter now: the wall clock, for a response without a Date field.
    package static func seconds(in fields: HTTPFields, now: Date) -> Int64? {
        guard let value = fields[.retryAfter] else { return nil }
        let date = fields[.date].flatMap { HTTPDate.parse(Substring($0).trimmingBlanks, now: now) }
        return parse(value, responseDate: date ?? now)
    }
}

extension Substring {
    /// The text without spaces and tabs at its ends.
    var trimmingBlanks: Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let start = drop(while: isBlank)
        return start[..<(start.lastIndex { !isBlank($0) }.map(start.index(after:)) ?? start.startIndex)]
    }
}
