public import Foundation

/// Whether the receiver takes more bytes of a response at once.
public enum Demand: Sendable {
    /// Go on.
    case more
    /// Hand over nothing until the transmission's `resume` is called.
    case wait
}

/// What a transport tells about one exchange; the type behind it is the engine, or a transport that wraps another.
public protocol TransportEvents: AnyObject, Sendable {
    /// The head of the final response (no 1xx), once, before any chunk.
    func receiveHead(_ head: HTTPResponseHead, token: UInt64)
    /// Bytes of the body, decoded from transfer and content coding.
    func receiveChunk(_ bytes: Data, token: UInt64) -> Demand
    /// So many bytes of the request's body were sent in all; never falls.
    func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64)
    /// The response is complete.
    func receiveEnd(_ metrics: TransportMetrics?, token: UInt64)
    /// The whole response at once, in place of head, chunks and end.
    func receiveResponse(_ response: HTTPResponse, token: UInt64)
    /// The exchange failed.
    func receiveFailure(_ error: BatonError, token: UInt64)
}

/// Where a transport reports one exchange. It is a small value: the engine tells exchanges apart by a token, and
/// whatever comes for one that has ended is dropped.
public struct TransportReceiver: Sendable {
    private let events: any TransportEvents
    private let token: UInt64

    /// A receiver that tells `events`, with the token that it was given.
    public init(_ events: any TransportEvents, token: UInt64 = 0) {
        self.events = events
        self.token = token
    }

    /// The head of the final response, once, before any chunk.
    public func head(_ head: HTTPResponseHead) { events.receiveHead(head, token: token) }

    /// Bytes of the body. After `.wait`, the next ones come when the transmission is resumed; a transport that
    /// cannot hold back goes on.
    @discardableResult
    public func chunk(_ bytes: Data) -> Demand { events.receiveChunk(bytes, token: token) }

    /// The number of bytes of the request's body that were sent so far, of `total` where that is known.
    public func sent(_ bytes: Int64, of total: Int64?) { events.receiveSent(bytes, of: total, token: token) }

    /// The response is complete; nothing follows.
    public func end(_ metrics: TransportMetrics? = nil) { events.receiveEnd(metrics, token: token) }

    /// The whole response in place of `head`, `chunk` and `end`; nothing follows.
    public func complete(_ response: HTTPResponse) { events.receiveResponse(response, token: token) }

    /// The exchange failed; nothing follows. A cancelled one fails with the code `cancelled`.
    public func fail(_ error: BatonError) { events.receiveFailure(error, token: token) }
}
