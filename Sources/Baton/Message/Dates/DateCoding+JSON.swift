public import Foundation

extension DateCoding {
    /// The strategy of a `JSONDecoder`. Anything but a date of this kind is a `DecodingError` with its coding path.
    public var jsonDecodingStrategy: JSONDecoder.DateDecodingStrategy {
        switch self {
        case .iso8601: .custom(Self.decodeISO8601)
        case .seconds: .secondsSince1970
        case .milliseconds: .millisecondsSince1970
        }
    }

    /// The strategy of a `JSONEncoder`.
    public var jsonEncodingStrategy: JSONEncoder.DateEncodingStrategy {
        switch self {
        case .iso8601:
            .custom { date, encoder in
                var container = encoder.singleValueContainer()
                try container.encode(ISO8601.format(date))
            }
        case .seconds: .secondsSince1970
        case .milliseconds: .millisecondsSince1970
        }
    }

    @Sendable private static func decodeISO8601(_ decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let date = ISO8601.parse(text) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "Expected a date such as 2026-05-25T22:46:27Z (RFC 3339).")
        }
        return date
    }
}
