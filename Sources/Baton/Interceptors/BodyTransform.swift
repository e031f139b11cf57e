public import Foundation

/// Changes the bytes of bodies on their way: encrypts, decrypts, compresses, expands. The algorithm is the app's.
///
/// ```swift
/// BodyTransform(request: { body, fields in
///     fields["X-Sealed"] = "1"
///     return try seal(body)
/// }, response: { body, fields in
///     fields["X-Sealed"] == nil ? body : try open(body)
/// })
/// ```
/// Bodies of failed responses are changed too, so that the error that holds one can be read. A request's body that is a
/// stream is refused, since it would go out as it is.
public struct BodyTransform: Interceptor {
    /// Gets the bytes and the fields that go with them, and returns the bytes in their place.
    public typealias Change = @Sendable (Data, inout HTTPFields) throws -> Data

    public let id: InterceptorID
    private let request: Change?
    private let response: Change?

    /// Each closure gets the bytes and the fields of its message, and returns other bytes; it is not called for a message
    /// without a body. Content-Length follows by itself.
    public init(id: InterceptorID = "BodyTransform", request: Change? = nil, response: Change? = nil) {
        self.id = id
        self.request = request
        self.response = response
    }

    public func intercept(
        _ request: HTTPRequest, context: AttemptContext, next: Next
    ) async throws -> HTTPResponse {
        let changed = try sent(request)
        do {
            return try received(try await next(changed))
        } catch {
            guard let response = error.response, response.body.count > 0, error.code != .decodingFailed else {
                throw error
            }
            throw error.replacing(try received(response))
        }
    }

    private func sent(_ request: HTTPRequest) throws(BatonError) -> HTTPRequest {
        guard let change = self.request, !request.body.isNone else { return request }
        guard let body = request.body.bytes else {
            throw BatonError(.encodingFailed, "a body that is a stream cannot be transformed").with(phase: .encode)
        }
        var request = request
        do {
            let type = request.body.contentType
            request.body = .data(try change(body, &request.fields), contentType: type)
        } catch {
            throw BatonError.wrapping(error, as: .encodingFailed, "the body could not be transformed")
                .with(phase: .encode)
        }
        return request
    }

    private func received(_ response: HTTPResponse) throws(BatonError) -> HTTPResponse {
        guard let change = self.response, !response.body.isEmpty else { return response }
        var changed = response
        do {
            changed.body = try change(response.body, &changed.fields)
        } catch {
            throw BatonError(
                .decodingFailed, "the response's body could not be transformed", underlying: error, response: response
            ).with(phase: .decode)
        }
        if changed.fields.contains(.contentLength) { changed.fields[.contentLength] = String(changed.body.count) }
        return changed
    }
}
