import Baton
import Dispatch
import Foundation

/// The work that every contestant does for each request: build it, hand it to the transport, take the reply.
struct Ping: Request {
    typealias Output = EmptyResponse
    var path: String { "/ping" }
    var fields: HTTPFields { Ping.fields }
    static let fields: HTTPFields = ["Accept": "application/json", "X-Client": "benchmark"]
}

/// Builds the same request without the library, as a caller of a bare transport would.
enum Bare {
    static let origin = try! HTTPRequest(url: "http://bench.example").origin

    @inline(never)
    static func request() -> HTTPRequest {
        HTTPRequest(origin: origin, target: "/ping", fields: ["Accept": "application/json", "X-Client": "benchmark"])
    }
}

/// Answers inside `send`.
struct InlineTransport: Transport {
    static let response = HTTPResponse(status: 200)

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        receiver.complete(Self.response)
        return FinishedTransmission.shared
    }
}

/// Answers from a queue of its own, each reply as a block.
final class QueueTransport: Transport {
    private let queue = DispatchQueue(label: "bench.transport", qos: .userInitiated)

    /// The queue serves nobody else.
    var callbackThreads: CallbackThreads { .shared }

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        queue.async { receiver.complete(InlineTransport.response) }
        return FinishedTransmission.shared
    }
}

/// Takes a reply for a contestant that is not the library.
final class Callback: TransportEvents {
    private let body: @Sendable (Result<HTTPResponse, BatonError>) -> Void

    init(_ body: @escaping @Sendable (Result<HTTPResponse, BatonError>) -> Void) {
        self.body = body
    }

    func receiveHead(_ head: HTTPResponseHead, token: UInt64) {}
    func receiveChunk(_ bytes: Data, token: UInt64) -> Demand { .more }
    func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64) {}
    func receiveEnd(_ metrics: TransportMetrics?, token: UInt64) {}
    func receiveResponse(_ response: HTTPResponse, token: UInt64) { body(.success(response)) }
    func receiveFailure(_ error: BatonError, token: UInt64) { body(.failure(error)) }
}

/// Answers from a timer, a millisecond after it was asked.
final class DelayedTransport: Transport {
    private let queue = DispatchQueue(label: "bench.delayed", qos: .userInitiated)

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        queue.asyncAfter(deadline: .now() + .milliseconds(1)) { receiver.complete(InlineTransport.response) }
        return FinishedTransmission.shared
    }
}

/// Fails each hundredth exchange.
final class FailingTransport: Transport {
    private let count = LockBox(0)

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        let number = count.withLock { count in
            count += 1
            return count
        }
        if number % 100 == 0 {
            receiver.fail(BatonError(.connectionLost, "as planned"))
        } else {
            receiver.complete(InlineTransport.response)
        }
        return FinishedTransmission.shared
    }
}

/// Answers nothing until it is cancelled.
struct SilentTransport: Transport {
    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission { Silence(receiver) }

    private final class Silence: Transmission {
        private let receiver: LockBox<TransportReceiver?>
        init(_ receiver: TransportReceiver) { self.receiver = LockBox(receiver) }
        func cancel() { receiver.withLock { $0.take() }?.fail(BatonError(.cancelled)) }
    }
}

/// A request to one of many hosts.
struct Elsewhere: Request {
    typealias Output = EmptyResponse
    let host: Int
    var path: String { "http://h\(host).example/ping" }
}

/// Listens to everything.
final class CountingObserver: EventObserver {
    private let lock = NSLock()
    nonisolated(unsafe) private var count = 0
    func observe(_ event: Event) {
        lock.lock()
        count += 1
        lock.unlock()
    }
}

/// An interceptor that only stamps a field.
struct Stamp: RequestAdapter {
    func adapt(_ request: inout HTTPRequest, context: AttemptContext) throws { request.fields["X-Stamp"] = "1" }
}

/// An interceptor that passes everything on.
struct Pass: Interceptor {
    func intercept(_ request: HTTPRequest, context: AttemptContext, next: Next) async throws -> HTTPResponse {
        try await next(request)
    }
}
