internal import Dispatch
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Carries requests over Foundation's URLSession: the default on Apple systems, a fallback on Linux.
///
/// **Choose** it for the system's own network stack (HTTP/3, VPN and proxy settings, the keychain's certificates).
/// On Linux `CurlTransport` is faster and keeps repeated fields apart.
///
/// **Use**
/// ```swift
/// let transport = URLSessionTransport(.init(maxConnectionsPerHost: 8))
/// ```
/// One transport is one session: its connections are kept open and shared by all of its requests. It follows no
/// redirect, keeps no cookie, cache or credential, and has no timeout of its own. On Apple's systems the `trust` of its
/// configuration says which servers and keys it accepts. What differs from other transports:
/// - Foundation adds `User-Agent`, `Accept`, `Accept-Language` and `Accept-Encoding` where the request has none.
/// - Fields of a response come in the order of their names, repeats joined by a comma, `Set-Cookie` too.
/// - A receiver that answers `.wait` is not waited for: URLSession cannot hold back.
/// - A body that is a stream is first written to a temporary file, then sent from there with its length, so it is
///   never in memory as a whole. The file is removed when the exchange is over.
/// - On Linux all sessions of a process share one queue: while one response comes as fast as it can be taken, the others
///   wait, and so do cancels.
/// - On Linux a redirect that names no `Location` arrives without its body, and no host can be an IPv6 address.
///
/// > Warning: On Linux, Foundation 6.3 itself stops the process when a response has trailer fields, ends in the
/// > middle of its head, announces a length near 2^63, or redirects to certain malformed locations. No caller can
/// > prevent that: where servers are not to be trusted, use `CurlTransport`.
///
/// A released transport lets what is under way finish; ``shutdown()`` ends it.
public final class URLSessionTransport: Transport {
    /// Let go of at the shutdown: a session keeps its idle connections open for as long as it exists.
    private let session: LockBox<URLSession?>
    private let link: URLSessionLink
    /// `resume` waits for a queue that all sessions of the process share, so tasks are started on a queue where
    /// nobody else waits. It also puts starts and the end of the session into one order.
    private let starts = DispatchQueue(label: "baton.urlsession.starts")

    /// A transport with a session of its own.
    public init(_ configuration: Configuration = Configuration()) {
        #if canImport(Security)
            configuration.trust?.serverTrust.warn()
            link = URLSessionLink(trust: configuration.trust)
        #else
            link = URLSessionLink()
        #endif
        session = LockBox(configuration.makeSession(link))
    }

    // Whatever still has to start keeps the transport, so nothing starts after this.
    deinit { endSession() }

    public func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        let exchange = URLSessionExchange(request, receiver, link)
        guard link.open(exchange) else {
            receiver.fail(Self.closed)
            return FinishedTransmission.shared
        }
        if let stream = request.body.bodyStream {
            let spool = BodySpool(stream)
            if exchange.attach(spool) {
                spool.fill { result in
                    switch result {
                    case .success: self.starts.async { self.start(exchange, request, spool) }
                    case .failure(let error): exchange.end(with: error)
                    }
                }
            }
        } else {
            starts.async { self.start(exchange, request, nil) }
        }
        return exchange
    }

    /// Ends what is open with `transportClosed` and refuses what comes later with the same code.
    public func shutdown() {
        guard let open = link.close() else { return }
        for exchange in open { exchange.end(with: Self.closed) }
        // Behind the starts that are under way: a task that is made of an ended session stops the process on Linux,
        // and so does `invalidateAndCancel`.
        starts.async { self.endSession() }
    }

    private func endSession() {
        session.withLock { $0.take() }?.finishTasksAndInvalidate()
    }

    private static let closed = BatonError(.transportClosed, "the transport was shut down")

    private func start(_ exchange: URLSessionExchange, _ request: HTTPRequest, _ spool: BodySpool?) {
        guard let session = session.withLock({ $0 }) else { return exchange.end(with: Self.closed) }
        do throws(BatonError) {
            let body = URLSessionBody(request.body, spool)
            let message = try URLRequest(request, body)
            guard exchange.willStart(with: body) else { return }
            let task = body.makeTask(of: session, with: message)
            link.register(exchange, for: task)
            task.resume()
            exchange.didStart()
        } catch {
            exchange.end(with: error)
        }
    }
}
