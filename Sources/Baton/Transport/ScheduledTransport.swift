/// A transport in memory, whose delays and replies are work of the client's scheduler; it can be driven by a test.
package protocol ScheduledTransport: Transport {
    /// The scheduler of a client that was given the transport.
    func attach(to scheduler: any Scheduler)
    /// Whether all it does is the scheduler's work; a wrapper is in memory when what it wraps is.
    var isInMemory: Bool { get }
}

extension ScheduledTransport {
    package var isInMemory: Bool { true }
}
