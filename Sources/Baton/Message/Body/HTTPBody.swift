public import Foundation

/// The body of a request, described: it is encoded when the request is built, once for all of its attempts.
///
/// ```swift
/// var body: HTTPBody { .json(["user": user]) }
/// var body: HTTPBody { .form(["q": "a b"]) }
/// var body: HTTPBody { .data(bytes, contentType: "image/png") }
/// var body: HTTPBody { .file(movie) }
/// var body: HTTPBody { .multipart([.text("title", title), .file("movie", movie)]) }
/// ```
public struct HTTPBody: Sendable {
    /// What the body is made of.
    package enum Content: Sendable {
        case none
        case data(Data)
        case encode(@Sendable (BodyCoding) throws -> Data)
        /// What has to look at files before it knows its length; becomes data or a stream.
        case prepare(isReplayable: Bool, @Sendable () throws -> Content)
        case stream(HTTPBodyStream)
    }

    /// What the body is made of; after ``encoded(with:)`` nothing, data or a stream.
    package var content: Content
    /// The value of `Content-Type` that goes with the body unless the request sets one itself; nil adds none.
    public var contentType: String?

    package init(content: Content, contentType: String? = nil) {
        self.content = content
        self.contentType = contentType
    }

    /// No body.
    public static var none: HTTPBody { HTTPBody(content: .none) }

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

    /// A dictionary whose values the compiler does not know as JSON with sorted keys; nil of any kind is `null`.
    ///
    /// - Throws: an `EncodingError` with the key path, for what cannot be written as JSON.
    public static func json(untyped dictionary: [String: Any]) throws -> HTTPBody {
        .data(try JSONValue(untyped: dictionary).data, contentType: "application/json")
    }

    /// Parameters as `application/x-www-form-urlencoded`: a space becomes `+`, everything that is not
    /// unreserved is percent-encoded. They are written in their own style, or else in the client's.
    public static func form(_ parameters: QueryParameters) -> HTTPBody {
        HTTPBody(
            content: .encode { coding in
                Data(parameters.encoded(.form, defaultStyle: coding.parameterStyle).utf8)
            },
            contentType: "application/x-www-form-urlencoded")
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

    /// Whether it is read piece by piece while it is sent.
    package var isStream: Bool {
        if case .stream = content { true } else { false }
    }

    /// The length in bytes; 0 without a body, nil when it is not known before it is read.
    public var length: Int64? {
        switch content {
        case .none: 0
        case .data(let data): Int64(data.count)
        case .encode, .prepare: nil
        case .stream(let stream): stream.length
        }
    }

    /// Whether the same bytes can be sent again.
    public var isReplayable: Bool {
        switch content {
        case .none, .data, .encode: true
        case .prepare(let isReplayable, _): isReplayable
        case .stream(let stream): stream.isReplayable
        }
    }

    /// The body as a transport may meet it: nothing, bytes, or a stream. Called once for all attempts of a request.
    package func encoded(with coding: BodyCoding) throws -> HTTPBody {
        switch content {
        case .none, .data, .stream: self
        case .encode(let encode): HTTPBody(content: .data(try encode(coding)), contentType: contentType)
        case .prepare(_, let prepare): HTTPBody(content: try prepare(), contentType: contentType)
        }
    }
}
