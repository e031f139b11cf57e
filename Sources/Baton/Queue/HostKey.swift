/// What the queue tells hosts apart by: scheme, name and port.
package struct HostKey: Hashable, Sendable {
    let scheme: String
    let host: String
    let port: Int

    package init(scheme: String = "https", host: String, port: Int = 443) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    package init(_ origin: HTTPOrigin) {
        self.init(scheme: origin.scheme, host: origin.host, port: origin.port)
    }
}

/// Names a host of one queue. It can be kept: ``QueueState/host(for:cached:)`` says whether it still holds.
package struct HostID: Hashable, Sendable {
    package let index: Int32
    let generation: UInt32
}
