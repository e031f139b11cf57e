import Baton
import Dispatch

/// Replies on a Dispatch queue: a serial one is a transport with one thread that everything depends on.
struct QueueTransport: Transport {
    private let queue: DispatchQueue
    private let reply: @Sendable (HTTPRequest) -> HTTPResponse

    init(
        concurrent: Bool = false, _ reply: @escaping @Sendable (HTTPRequest) -> HTTPResponse = HTTPResponse.item(for:)
    ) {
        queue = DispatchQueue(label: "test.transport", attributes: concurrent ? .concurrent : [])
        self.reply = reply
    }

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        queue.async { receiver.complete(reply(request)) }
        return FinishedTransmission.shared
    }
}
