package import Foundation

/// The dates of HTTP's own fields (RFC 9110, 5.6.7).
package enum HTTPDate {
    /// A date in any of the three forms that a recipient must accept; nil for anything else.
    ///
    /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`. The weekday
    /// must be one, but need not be the right one.
    ///
    /// - Parameter now: what tells the century of a year of two digits, which is never more than 50 years ahead.
    ///   When it is nil, 70 to 99 are taken as 1970 to 1999.
    package static func parse(_ text: some StringProtocol, now: Date? = nil) -> Date? {
        var reader = ASCIIReader(text)
        let weekday = reader.letters()
        if fullWeekdays.contains(where: { $0 == weekday }) {
            return rfc850(&reader, now: now)
        }
        guard fullWeekdays.contains(where: { $0.prefix(3) == weekday }) else { return nil }
        return reader.next == UInt8(ascii: ",") ? fixdate(&reader) : asctime(&reader)
    }

    private static func fixdate(_ reader: inout ASCIIReader) -> Date? {
        guard reader.take(", "), let day = reader.number(digits: 2), reader.take(" "), let month = month(&reader),
            reader.take(" "), let year = reader.number(digits: 4), reader.take(" "), let time = time(&reader),
            reader.take(" GMT"), reader.isAtEnd
        else { return nil }
        return date(year, month, day, time)
    }

    private static func rfc850(_ reader: inout ASCIIReader, now: Date?) -> Date? {
        guard reader.take(", "), let day = reader.number(digits: 2), reader.take("-"), let month = month(&reader),
            reader.take("-"), let short = reader.number(digits: 2), reader.take(" "), let time = time(&reader),
            reader.take(" GMT"), reader.isAtEnd
        else { return nil }
        guard let now else { return date(short < 70 ? 2000 + short : 1900 + short, month, day, time) }
        let held = min(max(now.timeIntervalSince1970 / 86_400, -700_000), 2_900_000)
        let thisYear = CivilDate.civil(days: Int(held.rounded(.down))).year
        var year = thisYear - thisYear % 100 + short
        if year > thisYear + 50 { year -= 100 }
        if year <= thisYear - 50 { year += 100 }
        return date(year, month, day, time)
    }

    private static func asctime(_ reader: inout ASCIIReader) -> Date? {
        guard reader.take(" "), let month = month(&reader), reader.take(" ") else { return nil }
        let digits = reader.take(UInt8(ascii: " ")) == nil ? 2 : 1
        guard let day = reader.number(digits: digits), reader.take(" "), let time = time(&reader), reader.take(" "),
            let year = reader.number(digits: 4), reader.isAtEnd
        else { return nil }
        return date(year, month, day, time)
    }

    private typealias Time = (hour: Int, minute: Int, second: Int)

    private static func time(_ reader: inout ASCIIReader) -> Time? {
        guard let hour = reader.number(digits: 2), reader.take(":"), let minute = reader.number(digits: 2),
            reader.take(":"), let second = reader.number(digits: 2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func month(_ reader: inout ASCIIReader) -> Int? {
        let name = reader.letters()
        return months.firstIndex { $0 == name }.map { $0 + 1 }
    }

    private static func date(_ year: Int, _ month: Int, _ day: Int, _ time: Time) -> Date? {
        CivilDate.seconds(
            year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second
        ).map { Date(timeIntervalSince1970: Double($0)) }
    }

    private static let fullWeekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
