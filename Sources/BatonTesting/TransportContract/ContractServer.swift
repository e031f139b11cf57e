public import Baton
public import Foundation

/// Scripts what a transport under contract is answered. The one for HTTP comes with the contract; write another for a
/// transport that gets its responses elsewhere.
public protocol ContractServer: Sendable {
    /// Scheme, host and port of the URLs that reach it, without a slash at the end.
    var baseURL: String { get }

    /// Answers requests with this method and path so, whatever their query, from now on.
    func reply(_ reply: ContractReply, to method: HTTPMethod, _ path: String)

    /// The requests that have arrived with their whole bodies, in order.
    var requests: [ContractRequest] { get }

    /// Waits until so many have arrived in all; returns early when the task is cancelled.
    func waitForRequests(_ count: Int) async

    /// The server as one that speaks HTTP over a socket, for the checks about the wire. Default: nil; they are skipped.
    var loopback: LoopbackServer? { get }

    /// The check is over.
    func stop()
}

extension ContractServer {
    public var loopback: LoopbackServer? { nil }
}

/// What a ``ContractServer`` is to answer.
public enum ContractReply: Sendable {
    /// This response.
    case response(HTTPResponse)
    /// This response, its body in pieces of so many bytes, as far as the transport lets that be seen.
    case pieces(HTTPResponse, bytes: Int)
    /// Nothing, until the exchange is cancelled.
    case silence
    /// The head and the bytes of this response, and then neither more nor the end.
    case silenceAfter(HTTPResponse)
    /// The head and the bytes of this response, and then the end of the connection where more was announced.
    case lossAfter(HTTPResponse)
}

/// A request as it arrived at a ``ContractServer``.
public struct ContractRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// Path and query, as they were sent.
    public var target: String
    /// The header fields, in order and with repeats.
    public var fields: HTTPFields
    /// The body.
    public var body: Data

    /// A request that arrived.
    public init(method: HTTPMethod, target: String, fields: HTTPFields, body: Data) {
        self.method = method
        self.target = target
        self.fields = fields
        self.body = body
    }
}
