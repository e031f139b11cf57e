internal import Baton
internal import Foundation

/// One reply of a stub: what is answered, when, and how often.
struct MockReply: Sendable {
    enum Answer: Sendable {
        case response(HTTPResponse)
        case failure(BatonError)
        case compute(@Sendable (HTTPRequest) throws -> HTTPResponse)
        case computeLater(@Sendable (HTTPRequest) async throws -> HTTPResponse)
        case chunks(Chunks)
        /// Whatever the hold is released with.
        case hold(HoldCore)
        /// Somebody else answers.
        case nothing
    }

    struct Chunks: Sendable {
        var head: HTTPResponseHead
        var parts: [Data]
        var interval: Duration
        var ending = Ending.complete

        /// How a body in pieces ends.
        enum Ending: Sendable {
            case complete
            case failure(BatonError)
            case never
        }
    }

    var answer: Answer
    var delay: Duration
    /// How often it is used; nil: once, or for good when it is the last.
    var times: Int?
    var used = 0

    init(_ answer: Answer, times: Int? = nil, delay: Duration = .zero) {
        self.answer = answer
        self.times = times
        self.delay = delay
    }
}

extension MockReply.Answer {
    /// A value as the body that the real decoding reads it from: JSON, but text and bytes as they are.
    static func value(
        _ value: some Encodable, status: Int, fields: HTTPFields, coding: BodyCoding
    ) -> Self {
        let any: Any = value
        if any is EmptyResponse { return .bytes(Data(), nil, status, fields) }
        if let data = any as? Data { return .bytes(data, "application/octet-stream", status, fields) }
        if let text = any as? String { return .bytes(Data(text.utf8), "text/plain; charset=utf-8", status, fields) }
        do {
            return .bytes(try coding.jsonEncoder().encode(value), "application/json", status, fields)
        } catch {
            return .failure(
                BatonError(
                    .encodingFailed, "the mock could not encode its reply \(type(of: value))", underlying: error))
        }
    }

    /// Bytes with a content type, unless the fields have one.
    static func bytes(_ body: Data, _ contentType: String?, _ status: Int, _ fields: HTTPFields) -> Self {
        var fields = fields
        if let contentType, !fields.contains(.contentType) { fields[.contentType] = contentType }
        return .response(HTTPResponse(status: status, fields: fields, body: body))
    }

    /// The content of a file; it is read now, so that a missing one shows where it is named.
    static func file(_ url: URL, status: Int, fields: HTTPFields) -> Self {
        do {
            return .bytes(try Data(contentsOf: url), contentType(of: url.pathExtension), status, fields)
        } catch {
            return .failure(
                BatonError(.transportFailed, "the mock could not read \(url.lastPathComponent)", underlying: error))
        }
    }

    private static func contentType(of pathExtension: String) -> String {
        switch pathExtension.lowercased() {
        case "json": "application/json"
        case "txt": "text/plain; charset=utf-8"
        case "html", "htm": "text/html; charset=utf-8"
        case "xml": "application/xml"
        case "csv": "text/csv; charset=utf-8"
        case "png": "image/png"
        case "jpg", "jpeg": "image/jpeg"
        default: "application/octet-stream"
        }
    }
}
