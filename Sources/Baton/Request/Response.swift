public import Foundation

/// A value that can be read out of an HTTP response: the output of a request.
///
/// **Use** it by writing its name: a `Decodable` type that says `Response` is decoded by the client's decoder, JSON
/// by default. `Data`, `String`, `HTTPResponse` and `EmptyResponse` have it too, and so have optionals (nil for an empty
/// body or JSON's `null`), arrays, and dictionaries by string.
///
/// ```swift
/// struct User: Codable, Response { let name: String }
/// ```
/// **Implement** `init(from:using:)` to read something else than JSON. The status was accepted by then. It is called
/// after the slot was given back, on a worker thread, or for a small body on the transport's thread: do not block.
/// What it throws reaches the caller as `decodingFailed` with the response.
public protocol Response: Sendable {
    /// Reads the value out of a response that was accepted. What it throws becomes `decodingFailed`, unless it is a
    /// `BatonError`. It runs where it may block.
    init(from response: HTTPResponse, using coding: BodyCoding) throws
}

extension Response where Self: Decodable {
    public init(from response: HTTPResponse, using coding: BodyCoding) throws {
        guard !response.body.isEmpty else {
            throw BatonError.emptyBody(of: response, for: Self.self)
        }
        self = try coding.decode(Self.self, from: response.body)
    }
}

/// The output of a request whose response has nothing to read: any body is ignored.
public struct EmptyResponse: Response, Codable, Hashable {
    /// Nothing.
    public init() {}
    public init(from response: HTTPResponse, using coding: BodyCoding) {}
}

extension HTTPResponse: Response {
    public init(from response: HTTPResponse, using coding: BodyCoding) { self = response }
}

extension Data: Response {
    public init(from response: HTTPResponse, using coding: BodyCoding) { self = response.body }
}

extension String: Response {
    /// The text as its byte order mark says, or else the charset of the content type, or else UTF-8. Throws
    /// `decodingFailed` for what is no text of that encoding.
    public init(from response: HTTPResponse, using coding: BodyCoding) throws {
        guard let text = HTTPText.decode(body: response.body, contentType: response.fields[.contentType]) else {
            throw BatonError(.decodingFailed, "the body is no text of its encoding", response: response)
        }
        self = text
    }
}

extension JSONValue: Response {
    public init(from response: HTTPResponse, using coding: BodyCoding) throws {
        guard !response.body.isEmpty else { throw BatonError.emptyBody(of: response, for: Self.self) }
        try self.init(data: response.body)
    }
}

extension Int: Response {}
extension Double: Response {}
extension Bool: Response {}
extension Array: Response where Element: Response & Decodable {}
extension Dictionary: Response where Key == String, Value: Response & Decodable {}

extension Optional: Response where Wrapped: Response {
    public init(from response: HTTPResponse, using coding: BodyCoding) throws {
        let readsBytes = Wrapped.self == Data.self || Wrapped.self == String.self || Wrapped.self == HTTPResponse.self
        if response.body.isEmpty || (!readsBytes && response.body.isJSONNull) {
            self = nil
        } else {
            self = try Wrapped(from: response, using: coding)
        }
    }
}

extension Data {
    /// Whether the bytes are JSON's `null`, white space around it allowed.
    fileprivate var isJSONNull: Bool {
        count <= 64 && String(decoding: self, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines) == "null"
    }
}

/// Reads outputs, with every failure as a `BatonError` that keeps the response.
package enum ResponseReader {
    package static func read(
        _ type: any Response.Type, from response: HTTPResponse, in context: _PlanContext
    ) throws(BatonError) -> any Sendable {
        // There is nothing to read, so nothing to read it with either.
        if type == EmptyResponse.self { return EmptyResponse() }
        let reading = response.reading as? ResponseReading
        let opened = reading?.envelope.map { $0.opened(response, for: type) } ?? response
        do {
            return try type.init(from: opened, using: reading?.coding ?? context.coding)
        } catch let error as BatonError {
            throw error.replacing(response.withoutJSON).with(phase: .decode)
        } catch {
            throw BatonError(
                .decodingFailed, describe(error, type) + note(on: response), underlying: error,
                response: response.withoutJSON
            ).with(phase: .decode)
        }
    }

    /// What explains most bodies that are no JSON: that they are a page.
    private static func note(on response: HTTPResponse) -> String {
        guard let type = response.fields[.contentType]?.prefix(while: { $0 != ";" }), type.hasPrefix("text/html")
        else { return "" }
        return "; the response is \(type), not JSON: check the URL, and whether a proxy or a sign-in page answered"
    }

    /// What did not fit, with its place in the JSON but without any value.
    private static func describe(_ error: any Error, _ type: any Response.Type) -> String {
        guard let error = error as? DecodingError else { return "the body could not be read as \(type)" }
        let (what, context): (String, DecodingError.Context) =
            switch error {
            case .typeMismatch(let expected, let context): ("\(expected) expected", context)
            case .valueNotFound(let expected, let context): ("\(expected) expected, null found", context)
            case .keyNotFound(let key, let context): ("the key \(key.stringValue) is missing", context)
            case .dataCorrupted(let context): ("the data is not valid", context)
            @unknown default: ("the data does not fit", DecodingError.Context(codingPath: [], debugDescription: ""))
            }
        let place = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
        return "the body is no \(type): \(what)\(place.isEmpty ? "" : " at \(place)")"
    }
}

/// How a response is read that is not read as the client's others.
package final class ResponseReading: Sendable {
    package let coding: BodyCoding?
    package let envelope: Envelope?

    package init(coding: BodyCoding? = nil, envelope: Envelope? = nil) {
        self.coding = coding
        self.envelope = envelope
    }
}

extension BatonError {
    fileprivate static func emptyBody(of response: HTTPResponse, for type: Any.Type) -> BatonError {
        BatonError(
            .emptyBody,
            "the response has no body to decode \(type) from: make the output optional or EmptyResponse if that is right",
            response: response)
    }

    /// The body of the response that the error holds, as JSON of another type; nil when there is none that fits.
    ///
    /// ```swift
    /// if let problem = error.decode(Problem.self) { show(problem.title) }
    /// ```
    public func decode<Value: Decodable>(_ type: Value.Type, decoder: JSONDecoder = BodyCoding().jsonDecoder())
        -> Value?
    {
        response.flatMap { try? decoder.decode(type, from: $0.body) }
    }
}
