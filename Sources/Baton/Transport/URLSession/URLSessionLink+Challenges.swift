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
            let (disposition, credential) = answer(to: challenge, of: task)
            completionHandler(disposition, credential)
        #endif
    }

    #if !canImport(FoundationNetworking)
        private func answer(
            to challenge: URLAuthenticationChallenge, of task: URLSessionTask
        ) -> (URLSession.AuthChallengeDisposition, URLCredential?) {
            let space = challenge.protectionSpace
            switch space.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust:
                guard let trust, !trust.leavesServersToTheSystem else { return (.performDefaultHandling, nil) }
                let server = space.serverTrust
                if let refusal = trust.refusal(of: server, host: space.host) {
                    exchange(of: task)?.refuse(refusal)
                    return (.cancelAuthenticationChallenge, nil)
                }
                return (.useCredential, server.map { URLCredential(trust: $0) })
            case NSURLAuthenticationMethodClientCertificate:
                // Not again to a server that did not take it.
                guard let identity = trust?.clientCredential, challenge.previousFailureCount == 0 else {
                    return (.performDefaultHandling, nil)
                }
                return (.useCredential, identity)
            default:
                return (.rejectProtectionSpace, nil)
            }
        }
    #endif
}
