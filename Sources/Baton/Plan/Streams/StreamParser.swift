package import Foundation

/// Makes elements of the bytes of a body, piece by piece.
package protocol StreamParser<Element> {
    associatedtype Element: Sendable

    /// The elements that these bytes complete.
    mutating func parse(_ bytes: Data) throws(BatonError) -> [Element]
    /// What is left at the end of a body that is complete.
    mutating func finish() throws(BatonError) -> [Element]
    /// How the stream goes on when its connection has ended; nil when it does not.
    mutating func reconnection(after head: HTTPResponseHead?) -> StreamReconnection?
}

extension StreamParser {
    package mutating func reconnection(after head: HTTPResponseHead?) -> StreamReconnection? { nil }
}

/// The next connection of a stream.
package struct StreamReconnection: Sendable, Equatable {
    package var wait: Duration
    package var fields: HTTPFields
}

/// Bytes as they come.
struct BytesParser: StreamParser {
    func parse(_ bytes: Data) -> [Data] { [bytes] }
    func finish() -> [Data] { [] }
}

/// Lines of text.
struct LinesParser: StreamParser {
    private var lines: LineSplitter

    init(maxLength: Int) { lines = LineSplitter(maxLength: maxLength) }

    mutating func parse(_ bytes: Data) throws(BatonError) -> [String] {
        try lines.split(bytes).map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func finish() -> [String] {
        lines.finish().map { [String(decoding: $0, as: UTF8.self)] } ?? []
    }
}

/// A JSON value in each line; empty lines are passed over.
struct JSONLinesParser<Value: Decodable & Sendable>: StreamParser {
    private var lines: LineSplitter
    private var number = 0
    private let decoder: JSONDecoder

    init(_ type: Value.Type, maxLength: Int, coding: BodyCoding) {
        lines = LineSplitter(maxLength: maxLength)
        decoder = coding.jsonDecoder()
    }

    mutating func parse(_ bytes: Data) throws(BatonError) -> [Value] {
        var values: [Value] = []
        for line in try lines.split(bytes) {
            if let value = try value(line) { values.append(value) }
        }
        return values
    }

    mutating func finish() throws(BatonError) -> [Value] {
        guard let line = lines.finish(), let value = try value(line) else { return [] }
        return [value]
    }

    private mutating func value(_ line: [UInt8]) throws(BatonError) -> Value? {
        number += 1
        if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) { return nil }
        do {
            return try decoder.decode(Value.self, from: Data(line))
        } catch {
            throw BatonError(
                .decodingFailed, "line \(number) of the response is no \(Value.self)", underlying: error
            ).with(phase: .decode)
        }
    }
}
