/// Passes a request on to the next interceptor, and from the last one to the transport.
public struct Next: Sendable {
    package typealias Send = @Sendable (HTTPRequest, NextPass) async -> Result<HTTPResponse, BatonError>

    private let pass: NextPass
    private let send: Send

    package init(_ pass: NextPass = .own, _ send: @escaping Send) {
        self.pass = pass
        self.send = send
    }

    /// The response, if its status is accepted; otherwise a `BatonError` that holds it.
    public func callAsFunction(_ request: HTTPRequest) async throws(BatonError) -> HTTPResponse {
        try await send(request, pass).get()
    }

    /// The same for a request that has to be sent once more whatever the retry policy says, as after a refresh. It counts
    /// as an attempt, and its body must be replayable. Whoever calls it sees to it that it ends.
    package func replay(_ request: HTTPRequest) async throws(BatonError) -> HTTPResponse {
        try await send(request, .replay).get()
    }
}

/// One pass down to the transport. What is sent in it beyond the first time is a repetition and counts against the
/// attempts.
package struct NextPass: Sendable {
    package enum Turn: Sendable {
        /// The attempt itself.
        case first
        /// One more attempt, which is allowed.
        case replay
        /// One more attempt, if the policy allows it.
        case again
    }

    /// Whether a replay was sent; nil for the attempt's own pass, of which the call knows that.
    private let isReplayed: LockBox<Bool>?

    /// The attempt's own pass.
    package static let own = NextPass(isReplayed: nil)
    package static var replay: NextPass { NextPass(isReplayed: LockBox(false)) }

    private init(isReplayed: LockBox<Bool>?) { self.isReplayed = isReplayed }

    /// What a request is that arrives at the transport's end now.
    package func take(_ isOwnTaken: inout Bool) -> Turn {
        func take(_ isTaken: inout Bool, _ turn: Turn) -> Turn {
            defer { isTaken = true }
            return isTaken ? .again : turn
        }
        return isReplayed?.withLock { take(&$0, .replay) } ?? take(&isOwnTaken, .first)
    }
}
