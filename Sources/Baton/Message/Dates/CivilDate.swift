internal import Foundation

/// Days and seconds of the proleptic Gregorian calendar in UTC, without a calendar object.
enum CivilDate {
    /// Days since 1970-01-01; nil when there is no such day. Years are 0 to 9999.
    static func days(year: Int, month: Int, day: Int) -> Int? {
        guard (1...12).contains(month), (1...daysIn(month, of: year)).contains(day) else { return nil }
        // Years are counted from March, so that the leap day is the last one, in eras of 400 years.
        let shifted = month > 2 ? year : year - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// Year, month and day of a number of days since 1970-01-01.
    static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// Seconds since 1970; nil when there is no such time. A leap second (60) is the second after it.
    static func seconds(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) -> Int? {
        guard let days = days(year: year, month: month, day: day), (0...23).contains(hour),
            (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        return days * 86_400 + hour * 3600 + minute * 60 + second
    }

    private static func daysIn(_ month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Reads ASCII text from front to back; every reading that fails is nil and leaves the place undefined.
struct ASCIIReader {
    private var rest: Substring.UTF8View

    init(_ text: some StringProtocol) {
        rest = Substring(text).utf8
    }

    var isAtEnd: Bool { rest.isEmpty }
    var next: UInt8? { rest.first }

    /// The byte at the front, if it is one of those.
    mutating func take(_ bytes: UInt8...) -> UInt8? {
        guard let byte = rest.first, bytes.contains(byte) else { return nil }
        rest.removeFirst()
        return byte
    }

    /// Exactly that text.
    mutating func take(_ text: StaticString) -> Bool {
        for index in 0..<text.utf8CodeUnitCount where rest.popFirst() != text.utf8Start[index] { return false }
        return true
    }

    /// A number of exactly so many digits.
    mutating func number(digits: Int) -> Int? {
        var value = 0
        for _ in 0..<digits {
            guard let byte = rest.popFirst(), byte.isDigit else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }

    /// Letters up to the next byte that is none.
    mutating func letters() -> Substring {
        let end = rest.firstIndex { !(65...90).contains($0) && !(97...122).contains($0) } ?? rest.endIndex
        defer { rest = rest[end...] }
        return Substring(rest[..<end])
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII digit.
    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
