/// Sends requests. The engine decides what is sent and when; a transport only carries.
///
/// **Choose** one of the shipped ones (`CurlTransport`, `URLSessionTransport`, and `MockTransport` in tests), or
/// write your own; one that answers from a closure is `BufferedTransport`.
///
/// **Implement** `send` so that it returns soon and blocks no thread. The receiver is told what happens, from any
/// thread and also before `send` returns, one event at a time, and its end exactly once: `end`, `complete` or
/// `fail`. A transport neither follows redirects nor retries, adds no cookies and judges no status. Call the
/// receiver while holding no lock.
public protocol Transport: Sendable {
    /// Starts to carry `request`; the returned handle cancels it.
    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission

    /// Which threads call the receiver. The default, `.own`, is always right.
    var callbackThreads: CallbackThreads { get }

    /// Ends what is open and refuses what comes later with `transportClosed`. The default does nothing.
    func shutdown()
}

extension Transport {
    public var callbackThreads: CallbackThreads { .own }
    public func shutdown() {}
}

/// What may be done on the threads from which a transport calls its receiver.
public enum CallbackThreads: Sendable {
    /// The transport needs them to serve its other exchanges: no user code runs there.
    case own
    /// Each call comes on a thread that may be kept: user code may run there.
    case shared
}

/// One exchange that is under way.
public protocol Transmission: AnyObject, Sendable {
    /// Stops the exchange. The transport still ends it towards the receiver, soon; safe at any time and often.
    func cancel()
    /// The receiver wants bytes again after it had answered a chunk with `.wait`.
    func resume()
}

extension Transmission {
    public func resume() {}
}

/// A transmission that is over before anyone could cancel it.
public final class FinishedTransmission: Transmission {
    /// The one there is.
    public static let shared = FinishedTransmission()
    private init() {}
    public func cancel() {}
}
