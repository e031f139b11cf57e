import Baton

/// Never replies; a cancel ends the exchange, and nothing keeps it after that.
struct SilentTransport: Transport {
    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission { Handle(receiver) }

    private final class Handle: Transmission {
        private let receiver: LockBox<TransportReceiver?>
        init(_ receiver: TransportReceiver) { self.receiver = LockBox(receiver) }
        func cancel() {
            let receiver = receiver.withLock { receiver in
                defer { receiver = nil }
                return receiver
            }
            receiver?.fail(BatonError(.cancelled))
        }
    }
}
