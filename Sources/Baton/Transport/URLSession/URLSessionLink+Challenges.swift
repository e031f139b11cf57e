internal import Dispatch
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension URLSessionLink {
    /// The one place that answers challenges, of a task and of the session.
    ///
    /// Credentials are fields of the request, set by interceptors, so a 401 or 407 is a response like any other.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // Asked once the whole response has been told. Cancelling the challenge cancels the task, which then ends
            // as cancelled; every other answer hangs or traps.
            exchange(of: task)?.receiveChallenge()
            completionHandler(.cancelAuthenticationChallenge, nil)
        #else
            let space = challenge.protectionSpace
            switch space.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust:
                guard let trust, !trust.leavesServersToTheSystem else {
                    return completionHandler(.performDefaultHandling, nil)
                }
                judge(space, by: trust, for: exchange(of: task), completionHandler)
            case NSURLAuthenticationMethodClientCertificate:
                // Not again to a server that did not take it.
                guard let identity = trust?.clientCredential, challenge.previousFailureCount == 0 else {
                    return completionHandler(.performDefaultHandling, nil)
                }
                completionHandler(.useCredential, identity)
            default:
                completionHandler(.rejectProtectionSpace, nil)
            }
        #endif
    }

    #if !canImport(FoundationNetworking)
        /// Judges a server, not on the session's queue: the system may look something up on the network meanwhile, and the
        /// other exchanges go on.
        private func judge(
            _ space: URLProtectionSpace, by trust: URLSessionTransport.Trust, for exchange: URLSessionExchange?,
            _ completion: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let (host, server) = (space.host, LockBox(space.serverTrust))
            DispatchQueue.global(qos: .userInitiated).async {
                let (refusal, credential) = server.withLock { server in
                    (trust.refusal(of: server, host: host), server.map { URLCredential(trust: $0) })
                }
                guard let refusal else { return completion(.useCredential, credential) }
                exchange?.refuse(refusal)
                completion(.cancelAuthenticationChallenge, nil)
            }
        }
    #endif
}
