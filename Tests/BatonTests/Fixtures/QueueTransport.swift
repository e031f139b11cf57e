import Baton
import Dispatch

/// Replies on a Dispatch queue: a serial one is a transport with one thread that everything depends on.
struct QueueTransport: Transport {
    private let queue: DispatchQueue
    private let reply: @Sendable (HTTPRequest) -> HTTPResponse
    let callbackThreads: CallbackThreads

    /// Whether the caller runs on the queue of such a transport.
    static var isCurrent: Bool { DispatchQueue.getSpecific(key: key) != nil }
    private static let key = DispatchSpecificKey<Bool>()

    init(
        concurrent: Bool = false, callbackThreads: CallbackThreads = .own,
        _ reply: @escaping @Sendable (HTTPRequest) -> HTTPResponse = HTTPResponse.item(for:)
    ) {
        queue = DispatchQueue(label: "test.transport", attributes: concurrent ? .concurrent : [])
        queue.setSpecific(key: Self.key, value: true)
        self.callbackThreads = callbackThreads
        self.reply = reply
    }

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        queue.async { receiver.complete(reply(request)) }
        return FinishedTransmission.shared
    }
}
