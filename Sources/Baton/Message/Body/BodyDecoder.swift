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
