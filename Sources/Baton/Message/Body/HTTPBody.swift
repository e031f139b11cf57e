public import Foundation

/// The body of a request, described: it is encoded when the request is built, once for all of its attempts.
///
/// ```swift
/// var body: HTTPBody { .json(["user": user]) }
/// var body: HTTPBody { .form(["q": "a b"]) }
/// var body: HTTPBody { .data(bytes, contentType: "image/png") }
/// ```
public struct HTTPBody: Sendable {
    package enum Content: Sendable {
        case none
        case data(Data)
        case encode(@Sendable (BodyCoding) throws -> Data)
        case stream(HTTPBodyStream)
    }

    package var content: Content
    /// The value of `Content-Type` that goes with the body unless the request sets one itself; nil adds none.
    public var contentType: String?

    package init(content: Content, contentType: String? = nil) {
        self.content = content
        self.contentType = contentType
    }

    /// No body.
    public static let none = HTTPBody(content: .none)

    /// Bytes as they are. `contentType` defaults to `application/octet-stream` (RFC 2046); nil sends none.
    public static func data(_ data: Data, contentType: String? = "application/octet-stream") -> HTTPBody {
        HTTPBody(content: .data(data), contentType: contentType)
    }

    /// Text as UTF-8.
    public static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> HTTPBody {
        HTTPBody(content: .data(Data(text.utf8)), contentType: contentType)
    }

    /// A value as JSON, encoded by `encoder`, or by the client's JSON encoder when it is nil. The client's
    /// writes sorted keys, so that the bytes are the same in every process.
    public static func json<Value: Encodable & Sendable>(
        _ value: Value, encoder: (@Sendable () -> JSONEncoder)? = nil
    ) -> HTTPBody {
        HTTPBody(
            content: .encode { coding in try (encoder?() ?? coding.jsonEncoder()).encode(value) },
            contentType: "application/json")
    }

    /// Parameters as `application/x-www-form-urlencoded`: a space becomes `+`, everything that is not
    /// unreserved is percent-encoded.
    public static func form(_ parameters: QueryParameters) -> HTTPBody {
        HTTPBody(
            content: .encode { _ in Data(parameters.encoded(.form).utf8) },
            contentType: "application/x-www-form-urlencoded")
    }

    /// A body that is read while it is sent.
    public static func stream(
        _ stream: HTTPBodyStream, contentType: String? = "application/octet-stream"
    ) -> HTTPBody {
        HTTPBody(content: .stream(stream), contentType: contentType)
    }

    /// Whether there is no body at all. An empty one is a body.
    public var isNone: Bool {
        if case .none = content { true } else { false }
    }

    /// The bytes, where the body is in memory and encoded; nil for no body, streams and what is not encoded yet.
    public var bytes: Data? {
        if case .data(let data) = content { data } else { nil }
    }

    /// The stream that a transport reads the body from; nil for bodies in memory.
    public var bodyStream: HTTPBodyStream? {
        if case .stream(let stream) = content { stream } else { nil }
    }

    /// The length in bytes; 0 without a body, nil when it is not known before it is read.
    public var length: Int64? {
        switch content {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .encode: nil
        case .stream(let stream): stream.length
        }
    }

    /// Whether the same bytes can be sent again.
    public var isReplayable: Bool {
        if case .stream(let stream) = content { stream.isReplayable } else { true }
    }

    /// The body as a transport may meet it: whatever had to be encoded is bytes.
    package func encoded(with coding: BodyCoding) throws -> HTTPBody {
        guard case .encode(let encode) = content else { return self }
        return HTTPBody(content: .data(try encode(coding)), contentType: contentType)
    }
}

/// What encodes values on the way out and decodes them on the way in; part of a client's configuration.
public struct BodyCoding: Sendable {
    /// Makes the encoder of JSON bodies. The default sorts keys and writes dates as ISO 8601.
    public var jsonEncoder: @Sendable () -> JSONEncoder
    /// Makes the decoder of JSON bodies. The default reads ISO 8601 dates.
    public var jsonDecoder: @Sendable () -> JSONDecoder

    public init(
        jsonEncoder: (@Sendable () -> JSONEncoder)? = nil, jsonDecoder: (@Sendable () -> JSONDecoder)? = nil
    ) {
        self.jsonEncoder =
            jsonEncoder ?? {
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
                encoder.dateEncodingStrategy = .iso8601
                return encoder
            }
        self.jsonDecoder =
            jsonDecoder ?? {
                let decoder = JSONDecoder()
                decoder.dateDecodingStrategy = .iso8601
                return decoder
            }
    }
}
