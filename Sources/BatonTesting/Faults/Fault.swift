/// Something that goes wrong with a request, in the order of a request's phases.
public enum Fault: Sendable, Hashable {
    /// The connection is refused: `cannotConnect`, and nothing is sent.
    case refuse
    /// Nothing is sent and nothing is answered, until the client gives up.
    case timeOutBeforeSending
    /// The request arrives, and the connection is lost before the reply: `connectionLost`.
    case loseReply
    /// The server answers 503, to this request and the next ones, `count` in all, with `Retry-After` where it is given.
    case unavailable(count: Int = 1, retryAfter: Duration? = nil)
    /// The connection is lost after so many bytes of the body.
    case cutBody(after: Int)
    /// Nothing more comes after so many bytes of the body, until the client gives up.
    case stallBody(after: Int)
    /// The body comes in pieces of so many bytes, each a while after the one before.
    case drip(bytes: Int, every: Duration)
    /// `Content-Length` says so many bytes more than there are, and the connection is lost; or so many less (below 0),
    /// and the body ends there.
    case wrongLength(by: Int)
    /// The body is as long as it was, but its bytes are noise.
    case garbageBody
}

/// A fault that was injected.
public struct InjectedFault: Sendable, Hashable, CustomStringConvertible {
    /// The number of the request among all that came, from 1.
    public let call: Int
    /// Method and path of the request.
    public let request: String
    /// What was injected.
    public let fault: Fault

    public var description: String { "request \(call), \(request): \(fault)" }
}
