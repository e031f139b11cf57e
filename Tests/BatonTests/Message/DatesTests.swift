import Baton
import Foundation
import Testing

@Suite("Dates")
struct DatesTests {
    private struct Event: Decodable, Equatable {
        struct Inner: Decodable, Equatable { let at: Date }
        let inner: [Inner]
    }

    private static func decode(_ json: String, dates: DateCoding) throws -> Double? {
        let text = #"{"inner":[{"at":\#(json)}]}"#
        return try BodyCoding(dates: dates).jsonDecoder().decode(Event.self, from: Data(text.utf8))
            .inner.first?.at.timeIntervalSince1970
    }

    @Test(
        "J17 the default decoder reads ISO 8601 dates with and without a fraction, at any offset",
        arguments: [
            ("2026-05-25T22:46:27Z", 1_779_749_187), ("2026-05-25T22:46:27.580497Z", 1_779_749_187.580497),
            ("2026-05-25T22:46:27.580497123+02:00", 1_779_741_987.580497123),
            ("2026-05-25T22:46:27.5-0330", 1_779_761_787.5), ("2026-05-25t22:46:27z", 1_779_749_187),
            ("2026-05-25T22:46:27+02", 1_779_741_987), ("1969-12-31T23:59:59.75Z", -0.25),
            ("2024-02-29T00:00:00Z", 1_709_164_800), ("2016-12-31T23:59:60Z", 1_483_228_800),
            ("0000-01-01T00:00:00Z", -62_167_219_200), ("9999-12-31T23:59:59Z", 253_402_300_799),
            ("2026-05-25T22:46:27.12345678901234567890123456789Z", 1_779_749_187.123456789),
        ])
    func iso(text: String, seconds: Double) throws {
        let found = try #require(try Self.decode("\"\(text)\"", dates: .iso8601))
        #expect(abs(found - seconds) < 0.000_001)
    }

    @Test(
        "J17 whatever is no such date is a decoding error with its coding path",
        arguments: [
            "\"\"", "\"2026-05-25\"", "\"2026-05-25T22:46:27\"", "\"2026-05-25 22:46:27Z\"", "\"2026-13-01T00:00:00Z\"",
            "\"2026-02-29T00:00:00Z\"", "\"2026-05-25T24:00:00Z\"", "\"2026-05-25T22:46:27.Z\"",
            "\"2026-05-25T22:46:27,5Z\"", "\"2026-05-25T22:46:27+2:00\"", "\"2026-05-25T22:46:27+24:00\"",
            "\"2026-05-25T22:46:27Zx\"", "\"２026-05-25T22:46:27Z\"", "\"yesterday\"", "1779749187", "true", "null",
        ])
    func refused(json: String) {
        #expect {
            try Self.decode(json, dates: .iso8601)
        } throws: { error in
            let path: [any CodingKey]? =
                switch error as? DecodingError {
                case .dataCorrupted(let context), .typeMismatch(_, let context), .valueNotFound(_, let context):
                    context.codingPath
                default: nil
                }
            return path?.map(\.stringValue) == ["inner", "Index 0", "at"]
        }
    }

    @Test("J17 epoch seconds and milliseconds are options")
    func epochs() throws {
        #expect(try Self.decode("1779749187.5", dates: .seconds) == 1_779_749_187.5)
        #expect(try Self.decode("1779749187500", dates: .milliseconds) == 1_779_749_187.5)
    }

    @Test(
        "Dates are written so that the same coding reads them back",
        arguments: [DateCoding.iso8601, .seconds, .milliseconds],
        [0, 1_779_749_187, 1_779_749_187.25, -86_400.5])
    func roundTrip(dates: DateCoding, seconds: Double) throws {
        let coding = BodyCoding(dates: dates)
        let date = Date(timeIntervalSince1970: seconds)
        let read = try coding.jsonDecoder().decode([Date].self, from: coding.jsonEncoder().encode([date]))
        #expect(abs(read[0].timeIntervalSince(date)) < 0.000_001)
    }

    @Test(
        "A date is written with milliseconds only where it has some",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-0.25, "1969-12-31T23:59:59.750Z"), (951_782_400, "2000-02-29T00:00:00Z"),
            (1.0004, "1970-01-01T00:00:01Z"), (1.9999, "1970-01-01T00:00:02Z"), (1e300, "9999-12-31T23:59:59.999Z"),
            (-1e300, "0000-01-01T00:00:00Z"), (.nan, "1970-01-01T00:00:00Z"),
        ])
    func written(seconds: Double, text: String) {
        #expect(ISO8601.format(Date(timeIntervalSince1970: seconds)) == text)
    }

    @Test(
        "The three forms of an HTTP date are read",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
            "Mon, 06 Nov 1994 08:49:37 GMT",
        ])
    func httpDate(text: String) {
        #expect(HTTPDate.parse(text)?.timeIntervalSince1970 == 784_111_777)
    }

    @Test(
        "The century of a year of two digits is the one that is at most 50 years ahead",
        arguments: [("76", 2076), ("77", 1977), ("26", 2026), ("94", 1994)])
    func century(short: String, year: Int) throws {
        let now = try #require(ISO8601.parse("2026-05-25T22:46:27Z"))
        let date = try #require(HTTPDate.parse("Sunday, 06-Nov-\(short) 08:49:37 GMT", now: now))
        #expect(date == ISO8601.parse("\(year)-11-06T08:49:37Z"))
    }

    @Test(
        "What is no HTTP date is none",
        arguments: [
            "", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 UTC", "Abc, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 25:49:37 GMT", "1994-11-06T08:49:37Z", "Sunday, 06-Nov-1994 08:49:37 GMT",
            "Sun Nov 6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 GMT ",
        ])
    func noHTTPDate(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }

    @Test(
        "Retry-After is whole seconds or a date",
        arguments: [
            ("0", 0), ("120", 120), (" 7\t", 7), ("007", 7), ("99999999999999999999", .max),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 37), ("Sunday, 06-Nov-94 08:50:00 GMT", 60),
            ("Sun Nov  6 08:48:00 1994", 0), ("Mon, 07 Nov 1994 08:49:00 GMT", 86_400), ("-1", nil), ("+1", nil),
            ("1.5", nil), ("", nil), (" ", nil), ("soon", nil), ("1 2", nil), ("1s", nil), ("١", nil), ("0x10", nil),
        ] as [(String, Int64?)])
    func retryAfter(value: String, seconds: Int64?) throws {
        let date = try #require(HTTPDate.parse("Sun, 06 Nov 1994 08:49:00 GMT"))
        #expect(RetryAfter.parse(value, responseDate: date) == seconds)
    }

    @Test("A Retry-After date is relative to the response's own clock, and to ours when it has none")
    func retryAfterClock() {
        let now = Date(timeIntervalSince1970: 784_111_777 - 100)
        var fields: HTTPFields = ["retry-after": "Sun, 06 Nov 1994 08:49:37 GMT"]
        #expect(RetryAfter.seconds(in: fields, now: now) == 100)
        fields["date"] = "Sun, 06 Nov 1994 08:49:30 GMT"
        #expect(RetryAfter.seconds(in: fields, now: now) == 7)
        fields["date"] = "nonsense"
        #expect(RetryAfter.seconds(in: fields, now: now) == 100)
        #expect(RetryAfter.seconds(in: [:], now: now) == nil)
    }
}
