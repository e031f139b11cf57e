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
            switch challenge.protectionSpace.authenticationMethod {
            case NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate:
                // The system decides; a policy of our own would be asked here.
                completionHandler(.performDefaultHandling, nil)
            default:
                completionHandler(.rejectProtectionSpace, nil)
            }
        #endif
    }
}
