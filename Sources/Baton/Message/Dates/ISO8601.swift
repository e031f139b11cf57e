package import Foundation

/// Dates of RFC 3339, the profile of ISO 8601 that the internet uses, alike on every platform.
package enum ISO8601 {
    /// A date such as `2026-05-25T22:46:27Z`, with any number of fraction digits and any offset (`Z`, `+02:00`,
    /// `+0200`, `+02`); nil for anything else.
    ///
    /// A `Date` keeps about a tenth of a microsecond, so further digits are read and rounded.
    package static func parse(_ text: some StringProtocol) -> Date? {
        var reader = ASCIIReader(text)
        guard let year = reader.number(digits: 4), reader.take("-"), let month = reader.number(digits: 2),
            reader.take("-"), let day = reader.number(digits: 2),
            reader.take(UInt8(ascii: "T"), UInt8(ascii: "t")) != nil,
            let hour = reader.number(digits: 2), reader.take(":"), let minute = reader.number(digits: 2),
            reader.take(":"), let second = reader.number(digits: 2),
            let seconds = CivilDate.seconds(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        guard let fraction = fraction(&reader), let offset = offset(&reader), reader.isAtEnd else { return nil }
        // Counted from 2001, as Date counts, so that the fraction keeps as many digits as it can.
        return Date(timeIntervalSinceReferenceDate: Double(seconds - offset - 978_307_200) + fraction)
    }

    private static func fraction(_ reader: inout ASCIIReader) -> Double? {
        guard reader.take(UInt8(ascii: ".")) != nil else { return 0 }
        var value: Int64 = 0
        var scale: Int64 = 1
        var count = 0
        while let byte = reader.next, byte.isDigit {
            guard let digit = reader.number(digits: 1) else { return nil }
            count += 1
            guard count <= 18 else { continue }
            value = value * 10 + Int64(digit)
            scale *= 10
        }
        return count == 0 ? nil : Double(value) / Double(scale)
    }

    /// Seconds east of Greenwich.
    private static func offset(_ reader: inout ASCIIReader) -> Int? {
        guard let sign = reader.take(UInt8(ascii: "Z"), UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "-")) else {
            return nil
        }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { return 0 }
        guard let hours = reader.number(digits: 2), hours < 24 else { return nil }
        var minutes = 0
        if !reader.isAtEnd {
            _ = reader.take(UInt8(ascii: ":"))
            guard let number = reader.number(digits: 2), number < 60 else { return nil }
            minutes = number
        }
        let seconds = hours * 3600 + minutes * 60
        return sign == UInt8(ascii: "-") ? -seconds : seconds
    }

    /// The date in UTC; milliseconds follow where there are some. Dates outside the years 0 to 9999 are held there.
    package static func format(_ date: Date) -> String {
        let limits = -62_167_219_200_000.0...253_402_300_799_999.0
        let rounded = (date.timeIntervalSince1970 * 1000).rounded()
        let held = rounded.isNaN ? 0 : min(max(rounded, limits.lowerBound), limits.upperBound)
        let (seconds, milliseconds) = Int64(held).flooredDivision(by: 1000)
        let (days, time) = seconds.flooredDivision(by: 86_400)
        let (year, month, day) = CivilDate.civil(days: Int(days))
        var text = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        text += "T\(padded(Int(time) / 3600, 2)):\(padded(Int(time) / 60 % 60, 2)):\(padded(Int(time) % 60, 2))"
        if milliseconds > 0 { text += ".\(padded(Int(milliseconds), 3))" }
        return text + "Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int64 {
    /// Quotient and remainder, the remainder never negative.
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
