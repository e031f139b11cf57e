public import Foundation

/// Decodes outputs out of bodies: JSON, property lists, or a format of one's own.
///
/// ```swift
/// client.coding.decoder = { PropertyListDecoder() }
/// ```
/// **Implement** it so that a failure is a `DecodingError` with a coding path where there is one: the error then says
/// where the body does not fit. It is used on one thread and for one body.
public protocol BodyDecoder {
    /// Reads a value of the type out of a body; what it throws becomes `decodingFailed`.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: BodyDecoder {}
extension PropertyListDecoder: BodyDecoder {}

extension PropertyListDecoder {
    /// Refuses text that is not of its encoding. Foundation 6.3 reads XML as UTF-8, or as UTF-16 and 32 by their mark, and
    /// stops the process at some bytes that are none within a number.
    static func check(_ data: Data) throws {
        let marks: [[UInt8]] = [Array("bplist".utf8), [0xFE, 0xFF], [0xFF, 0xFE], [0, 0, 0xFE, 0xFF]]
        if marks.contains(where: data.starts(with:)) { return }
        guard String(data: data, encoding: .utf8) == nil else { return }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(codingPath: [], debugDescription: "The property list is no text in UTF-8."))
    }
}
