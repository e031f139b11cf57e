/// What a server said in a body about why a request failed, whatever the status; read through ``BatonError/business``.
///
/// ```swift
/// if let failure = error.business, failure.code == 30_001 { show(failure.message) }
/// ```
public struct BusinessFailure: Error, Sendable, Hashable {
    /// What is to be done about a failure.
    public enum Action: Sendable, Hashable {
        /// Nothing but to report it.
        case report
        /// The user is to be told; `Notices` show the message.
        case warn
        /// The credential has ended: `Authentication` renews it and sends the request again.
        case refresh
        /// The user must sign in again: `Authentication` forgets the credential and says so.
        case signIn
        /// The request may well succeed when it is sent again: retry policies do so.
        case retry
    }

    /// The server's code.
    public let code: BusinessCode
    /// What the user may be told: the table's message for the code, else the server's; nil when there is none.
    public let message: String?
    /// What the envelope says is to be done about it.
    public let action: Action

    /// A failure as an envelope tells it.
    public init(code: BusinessCode, message: String? = nil, action: Action = .report) {
        self.code = code
        self.message = message
        self.action = action
    }
}

extension BatonError {
    /// The business failure in the response; nil where no envelope is configured, or the response holds none. An error
    /// for a status that is not accepted has one too, where the body names one.
    public var business: BusinessFailure? { underlying as? BusinessFailure }
}
