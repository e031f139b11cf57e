public import Baton
public import Foundation

/// What a stub answers. In all of these, `times` is how often the reply is used (nil: once, or for good when it is the
/// last), and `after` a delay on the client's clock.
extension MockStub where Subject: Request, Subject.Output: Encodable {
    /// A value of the request's output. It travels as bytes and is decoded like a real one: JSON with sorted keys;
    /// `String` and `Data` as they are, `EmptyResponse` as no body.
    @discardableResult
    public func reply(
        _ output: Subject.Output, status: Int = 200, fields: HTTPFields = [:], times: Int? = nil,
        after delay: Duration = .zero
    ) -> MockStub {
        adding(.value(output, status: status, fields: fields, coding: coding), times, delay)
    }
}

extension MockStub where Subject == MockTransport.AnyRequest {
    /// A value as JSON with sorted keys; `String` and `Data` as they are, `EmptyResponse` as no body.
    @discardableResult
    public func reply(
        _ value: some Encodable, status: Int = 200, fields: HTTPFields = [:], times: Int? = nil,
        after delay: Duration = .zero
    ) -> MockStub {
        adding(.value(value, status: status, fields: fields, coding: coding), times, delay)
    }
}

extension MockStub {
    /// A response as it is.
    @discardableResult
    public func reply(_ response: HTTPResponse, times: Int? = nil, after delay: Duration = .zero) -> MockStub {
        adding(.response(response), times, delay)
    }

    /// A status, with fields and bytes where there are some.
    @discardableResult
    public func reply(
        status: Int, fields: HTTPFields = [:], body: Data = Data(), times: Int? = nil, after delay: Duration = .zero
    ) -> MockStub {
        adding(.bytes(body, nil, status, fields), times, delay)
    }

    /// A JSON text; it is not checked, so that a broken one can be answered.
    @discardableResult
    public func reply(
        status: Int = 200, fields: HTTPFields = [:], json: String, times: Int? = nil, after delay: Duration = .zero
    ) -> MockStub {
        adding(.bytes(Data(json.utf8), "application/json", status, fields), times, delay)
    }

    /// The content of a file; the content type follows from its name. The file is read at once.
    @discardableResult
    public func reply(
        status: Int = 200, fields: HTTPFields = [:], file: URL, times: Int? = nil, after delay: Duration = .zero
    ) -> MockStub {
        adding(.file(file, status: status, fields: fields), times, delay)
    }

    /// A body in pieces: the head and the first piece come at once, each further one `interval` later, and none while
    /// the receiver wants to wait.
    ///
    /// - Parameter failure: how the body ends in place of its end.
    @discardableResult
    public func reply(
        status: Int = 200, fields: HTTPFields = [:], chunks: [Data], every interval: Duration = .zero,
        failing failure: BatonError.Code? = nil, times: Int? = nil, after delay: Duration = .zero
    ) -> MockStub {
        let chunks = MockReply.Chunks(
            head: HTTPResponseHead(status: status, fields: fields), parts: chunks, interval: interval,
            ending: failure.map { .failure(BatonError($0, "the mock ends the body so")) } ?? .complete)
        return adding(.chunks(chunks), times, delay)
    }

    /// What a closure makes of the request, whose body is there as bytes. It must not block. An error that it throws
    /// is the exchange's.
    @discardableResult
    public func reply(
        times: Int? = nil, after delay: Duration = .zero,
        _ respond: @escaping @Sendable (HTTPRequest) throws -> HTTPResponse
    ) -> MockStub {
        adding(.compute(respond), times, delay)
    }

    /// What an asynchronous closure makes of the request. Its task is cancelled with the request.
    @discardableResult
    public func reply(
        times: Int? = nil, after delay: Duration = .zero,
        _ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> MockStub {
        adding(.computeLater(respond), times, delay)
    }

    /// The exchange fails with an error of this code.
    @discardableResult
    public func fail(
        _ code: BatonError.Code, _ message: String = "the mock fails so", times: Int? = nil,
        after delay: Duration = .zero
    ) -> MockStub {
        adding(.failure(BatonError(code, message)), times, delay)
    }

    /// The exchange fails with this error.
    @discardableResult
    public func fail(_ error: BatonError, times: Int? = nil, after delay: Duration = .zero) -> MockStub {
        adding(.failure(error), times, delay)
    }

    /// Requests wait until they are released by hand.
    ///
    /// ```swift
    /// let held = mock.on(.get, "/slow").hold()
    /// …
    /// held.release(status: 204)
    /// ```
    @discardableResult
    public func hold(times: Int? = nil, after delay: Duration = .zero) -> MockHold<Subject> {
        let hold = HoldCore()
        _ = adding(.hold(hold), times, delay)
        return MockHold(core: hold, coding: coding)
    }
}
