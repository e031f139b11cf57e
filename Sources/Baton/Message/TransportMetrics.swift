/// What a transport measured of one exchange. What it cannot tell is nil, never zero.
public struct TransportMetrics: Sendable, Hashable {
    /// Time to resolve the host's name.
    public var nameLookup: Duration?
    /// Time to open the connection, without the name look-up and TLS.
    public var connect: Duration?
    /// Time of the TLS handshake.
    public var secureConnect: Duration?
    /// Time to send the request.
    public var send: Duration?
    /// Time from the end of sending to the first byte of the response.
    public var wait: Duration?
    /// Time from the first byte of the response to its last.
    public var receive: Duration?
    /// Bytes of the request's body as sent on the wire.
    public var bodyBytesSent: Int64?
    /// Bytes of the response's body as received on the wire, before content coding is undone.
    public var bodyBytesReceived: Int64?
    /// The protocol that was spoken, as ALPN names it: `http/1.1`, `h2`.
    public var protocolName: String?
    /// Whether a connection that was open already carried the exchange.
    public var connectionReused: Bool?
    /// Address and port of the peer.
    public var remoteAddress: String?

    /// Metrics of which nothing is known yet.
    public init() {}
}
