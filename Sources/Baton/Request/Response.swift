public import Foundation

/// A value that can be read out of an HTTP response: the output of a request.
///
/// **Use** it by writing its name: a `Decodable` type that says `Response` is decoded from JSON by the client's
/// decoder. `Data`, `String`, `HTTPResponse` and `EmptyResponse` have it too, and so have optionals (nil for an empty
/// body or JSON's `null`), arrays, and dictionaries by string.
///
/// ```swift
/// struct User: Codable, Response { let name: String }
/// ```
/// **Implement** `init(from:using:)` to read something else than JSON. The status was accepted by then. It is called
/// after the slot was given back, on a worker thread, or for a small body on the transport's thread: do not block.
/// What it throws reaches the caller as `decodingFailed` with the response.
public protocol Response: Sendable {
    init(from response: HTTPResponse, using coding: BodyCoding) throws
}

extension Response where Self: Decodable {
    public init(from response: HTTPResponse, using coding: BodyCoding) throws {
        guard !response.body.isEmpty else {
            throw BatonError(
                .emptyBody,
                "the response has no body to decode \(Self.self) from: make the output optional or EmptyResponse if that is right",
                response: response)
        }
        self = try coding.jsonDecoder().decode(Self.self, from: response.body)
    }
}

/// The output of a request whose response has nothing to read: any body is ignored.
public struct EmptyResponse: Response, Codable, Hashable {
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
    public init(from response: HTTPResponse, using coding: BodyCoding) {
        self = String(decoding: response.body, as: UTF8.self)
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
        do {
            return try type.init(from: response, using: context.coding)
        } catch let error as BatonError {
            throw error.with(phase: .decode, response: response)
        } catch {
            throw BatonError(.decodingFailed, describe(error, type), underlying: error, response: response)
                .with(phase: .decode)
        }
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

extension BatonError {
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
