#if os(Linux)
    internal import CBatonCurl

    /// Carries requests with libcurl, on one event-loop thread of its own. The default transport on Linux.
    ///
    /// ```swift
    /// let transport = try CurlTransport()
    /// ```
    /// The library is opened at run time (`libcurl.so.4`, which Foundation's networking needs as well), so nothing
    /// has to be installed to build. It speaks HTTP/1.1, and HTTP/2 where a TLS server offers it; decodes gzip and
    /// whatever else the library knows; keeps connections for reuse; follows no redirect, keeps no cookie, reads no
    /// `.netrc`, and sends the fields of the request with none added but `Host`, `Content-Length` or
    /// `Transfer-Encoding`, and `Accept-Encoding` where the request has none.
    ///
    /// Where a kept connection turns out to be dead before anything was received, a request whose method is
    /// idempotent is sent once more on another one (RFC 9112, 9.3.1); every other fails with `connectionLost`.
    ///
    /// Every method may be called from any thread, also from within a receiver. The receivers are called from the
    /// loop's thread, which starts with the first request and ends after `shutdown`, or after the last exchange of
    /// a transport that was released.
    public final class CurlTransport: Transport {
        private let inbox: CurlInbox

        /// A transport with connections of its own.
        ///
        /// - Throws: `unsupported` where libcurl is missing, too old, or built without what `configuration` asks
        ///   for; `invalidConfiguration` for values that cannot work.
        public convenience init(configuration: Configuration = Configuration()) throws(BatonError) {
            try self.init(configuration: configuration, library: CurlLibrary.shared)
        }

        /// A transport on a library other than the usual one, which tests use to have none.
        package init(
            configuration: Configuration, library: Result<CurlLibrary, BatonError>
        ) throws(BatonError) {
            _ = try library.get()
            try configuration.check()
            configuration.serverTrust.warn()
            inbox = CurlInbox(configuration)
        }

        deinit { inbox.close(.afterLastExchange) }

        /// Whether libcurl can be opened here.
        public static var isAvailable: Bool {
            if case .success = CurlLibrary.shared { true } else { false }
        }

        public func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
            guard request.avoidedNetworks.isEmpty else {
                receiver.fail(.networksUnknown)
                return FinishedTransmission.shared
            }
            var request = request
            if !request.body.isNone, request.body.bytes == nil, request.body.bodyStream == nil {
                do {
                    request.body = try request.body.encoded(with: BodyCoding())
                } catch {
                    receiver.fail(.wrapping(error, as: .encodingFailed, "the request's body could not be encoded"))
                    return FinishedTransmission.shared
                }
            }
            return inbox.send(request, to: receiver)
        }

        public func shutdown() { inbox.close(.now) }

        /// Calls `body` once the transport is shut down and its thread and descriptors are gone.
        package func whenClosed(_ body: @escaping @Sendable () -> Void) { inbox.whenClosed(body) }
    }
#endif
