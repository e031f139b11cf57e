public import Foundation

/// What encodes values on the way out and decodes them on the way in; part of a client's configuration.
public struct BodyCoding: Sendable {
    /// Makes the encoder of JSON bodies. The default sorts keys, so that the bytes are the same in every process,
    /// and writes dates by the `dates` that this was made with.
    public var jsonEncoder: @Sendable () -> JSONEncoder
    /// Makes the decoder of JSON bodies. The default reads dates by the `dates` that this was made with.
    public var jsonDecoder: @Sendable () -> JSONDecoder
    /// Makes the decoder of outputs. Nil, the default: `jsonDecoder`.
    public var decoder: (@Sendable () -> any BodyDecoder)?
    /// How parameters are written that name no style of their own. The default is `ParameterStyle()`.
    public var parameterStyle: ParameterStyle

    /// - Parameters:
    ///   - dates: how dates stand in JSON; ISO 8601 by default, read with and without a fraction.
    ///   - parameterStyle: how parameters are written; brackets, words and ISO 8601 by default.
    ///   - jsonEncoder: replaces the JSON encoder; `dates` then says nothing about encoding.
    ///   - jsonDecoder: replaces the JSON decoder; `dates` then says nothing about decoding.
    ///   - decoder: decodes outputs in place of the JSON decoder.
    public init(
        dates: DateCoding = .iso8601, parameterStyle: ParameterStyle = ParameterStyle(),
        jsonEncoder: (@Sendable () -> JSONEncoder)? = nil, jsonDecoder: (@Sendable () -> JSONDecoder)? = nil,
        decoder: (@Sendable () -> any BodyDecoder)? = nil
    ) {
        self.decoder = decoder
        self.parameterStyle = parameterStyle
        self.jsonEncoder =
            jsonEncoder ?? {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                encoder.dateEncodingStrategy = dates.jsonEncodingStrategy
                return encoder
            }
        self.jsonDecoder =
            jsonDecoder ?? {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = dates.jsonDecodingStrategy
                return decoder
            }
    }

    /// Property lists, binary or XML, in place of JSON for outputs; bodies stay what they say they are.
    public static let propertyList = BodyCoding(decoder: { PropertyListDecoder() })

    /// Decodes an output.
    package func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
        guard let decoder = decoder?() else { return try jsonDecoder().decode(type, from: body) }
        if decoder is PropertyListDecoder { try PropertyListDecoder.check(body) }
        return try decoder.decode(type, from: body)
    }
}
