internal import Foundation

/// What a server wraps its answers in: a code that says how it went, a message, and the payload.
///
/// ```swift
/// // {"code": 0, "message": "ok", "result": {…}}
/// client.envelope = Envelope(payload: "result", failures: [
///     100_010: .signIn(), 100_011: .refresh(), 500_100: .retry(), 30_001: .warn("That is sold out."),
/// ])
/// ```
/// A code that means no success fails the request with `businessFailure`, before retry policies and interceptors decide;
/// `error.business` holds code, message and action. Where the status is not accepted already, the error is the status's,
/// and `error.business` is there all the same.
///
/// The output is read out of the payload. A payload that is missing or `null` is as no body: right for `EmptyResponse` and
/// optionals, and an `emptyBody` error for other types. A body that is no JSON object holds no envelope, and is read as it
/// is; an object without a code is refused with `decodingFailed`. ``HTTPResponse`` as output, and the response of an error,
/// hold the whole body.
public struct Envelope: Sendable {
    /// What a code of a failure means.
    public struct Rule: Sendable {
        /// What is done about the failure.
        public var action: BusinessFailure.Action
        /// What the user may be told, in place of the server's message; nil keeps that.
        public var message: String?

        /// What is done about a failure, and what the user may be told.
        public init(_ action: BusinessFailure.Action, _ message: String? = nil) {
            self.action = action
            self.message = message
        }

        /// The failure is only told, in these words.
        public static func warn(_ message: String? = nil) -> Rule { Rule(.warn, message) }
        /// The failure asks for a new credential.
        public static func refresh(_ message: String? = nil) -> Rule { Rule(.refresh, message) }
        /// The failure asks for another sign-in.
        public static func signIn(_ message: String? = nil) -> Rule { Rule(.signIn, message) }
        /// The failure is worth another attempt.
        public static func retry(_ message: String? = nil) -> Rule { Rule(.retry, message) }
    }

    /// Where the code stands: a key, or keys and indices joined by dots, such as `meta.code`.
    public var code: String
    /// Where the message stands, in the same way.
    public var message: String
    /// Where the payload stands, in the same way; nil when it is the whole body.
    public var payload: String?
    /// The codes that mean success.
    public var success: Set<BusinessCode>
    /// What codes of failures mean; those that are not named are only reported.
    public var failures: [BusinessCode: Rule]
    private(set) var isNone = false

    /// An envelope; see the properties for what each value means.
    public init(
        code: String = "code", message: String = "message", payload: String? = "data",
        success: Set<BusinessCode> = [0], failures: [BusinessCode: Rule] = [:]
    ) {
        self.code = code
        self.message = message
        self.payload = payload
        self.success = success
        self.failures = failures
    }

    /// No envelope, for requests of a client that has one.
    public static let bare: Envelope = {
        var envelope = Envelope()
        envelope.isNone = true
        return envelope
    }()

    /// The envelope; nil when this says that there is none.
    package var used: Envelope? { isNone ? nil : self }
}

extension Envelope {
    /// What the response says against itself; nil when it went well, or holds no envelope.
    ///
    /// - Parameter json: set to the body of one that went well, so that it is parsed once to be judged and opened.
    package func refusal(of response: HTTPResponse, json: inout JSONValue?) -> BatonError? {
        guard let body = object(in: response) else { return nil }
        guard let code = body.value(at: code).flatMap({ BusinessCode($0) }) else {
            return BatonError(
                .decodingFailed, "the body has no code at \(self.code): requests without an envelope say so",
                response: response
            ).with(phase: .validate)
        }
        guard !success.contains(code) else {
            json = body
            return nil
        }
        return BatonError(
            .businessFailure, "the server answered the code \(code)", underlying: failure(code, body),
            response: response
        ).with(phase: .validate)
    }

    /// The error with the business failure that its response names, if it does.
    package func explained(_ error: BatonError) -> BatonError {
        guard error.underlying == nil, let response = error.response, let body = object(in: response),
            let code = body.value(at: code).flatMap({ BusinessCode($0) }), !success.contains(code)
        else { return error }
        return error.with(underlying: failure(code, body))
    }

    private func failure(_ code: BusinessCode, _ body: JSONValue) -> BusinessFailure {
        let rule = failures[code]
        return BusinessFailure(
            code: code, message: rule?.message ?? body.value(at: message)?.string, action: rule?.action ?? .report)
    }

    private func object(in response: HTTPResponse) -> JSONValue? {
        guard !response.body.isEmpty, let value = try? JSONValue(data: response.body), case .object = value else {
            return nil
        }
        return value
    }

    /// The response with the payload as its body, as an output of that type reads it.
    func opened(_ response: HTTPResponse, for type: any Response.Type) -> HTTPResponse {
        var inner = response.withoutJSON
        guard let payload, type != HTTPResponse.self, let body = response.json ?? object(in: response) else {
            return inner
        }
        switch body.value(at: payload) {
        case nil, .null: inner.body.removeAll()
        case .string(let text) where type == String.self || type == String?.self:
            inner.body = Data(text.utf8)
            inner.fields[.contentType] = nil
        case let value?: inner.body = value.data
        }
        return inner
    }
}
