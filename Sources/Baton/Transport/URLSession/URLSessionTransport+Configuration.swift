internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension URLSessionTransport {
    /// How a transport's session is set up. It holds only what takes effect on the system at hand.
    public struct Configuration: Sendable {
        /// How many connections to one host are open at once; further requests to that host wait inside the
        /// session. The default, 64, is the client's own limit. Values below 1 count as 1.
        public var maxConnectionsPerHost: Int

        #if canImport(Security)
            /// Whom the transport trusts, and as whom it shows itself. Default: nil, the system decides. A transport whose
            /// trust accepts any certificate of some hosts says so on standard error when it is made.
            public var trust: Trust?
        #endif

        /// A configuration; see the properties for what each value means.
        public init(maxConnectionsPerHost: Int = 64) {
            self.maxConnectionsPerHost = maxConnectionsPerHost
        }

        func makeSession(_ link: URLSessionLink) -> URLSession {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.urlCache = nil
            configuration.urlCredentialStorage = nil
            configuration.httpCookieStorage = nil
            configuration.httpCookieAcceptPolicy = .never
            configuration.httpShouldSetCookies = false
            configuration.httpMaximumConnectionsPerHost = max(1, maxConnectionsPerHost)
            configuration.timeoutIntervalForRequest = URLRequest.noTimeout
            configuration.timeoutIntervalForResource = URLRequest.noTimeout
            let operations = OperationQueue()
            operations.maxConcurrentOperationCount = 1
            operations.underlyingQueue = link.queue
            return URLSession(configuration: configuration, delegate: link, delegateQueue: operations)
        }
    }
}
