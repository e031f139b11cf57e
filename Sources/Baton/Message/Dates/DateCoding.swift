/// How dates are written as text or numbers, in parameters and in JSON.
public enum DateCoding: Sendable, Hashable {
    /// ISO 8601 in UTC, such as `2026-05-25T22:46:27Z`; milliseconds follow where the date has them. Reading takes
    /// any number of fraction digits and any offset (RFC 3339).
    case iso8601
    /// Seconds since 1970, with a fraction where the date has one.
    case seconds
    /// Whole milliseconds since 1970, rounded.
    case milliseconds
}
