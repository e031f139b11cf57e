import Foundation
import Testing

@testable import Baton

@Suite("Failures of URLSession")
struct URLSessionFailureTests {
    @Test(
        "A code of Foundation has one of ours",
        arguments: [
            (NSURLErrorCannotConnectToHost, BatonError.Code.cannotConnect), (NSURLErrorCannotFindHost, .cannotFindHost),
            (NSURLErrorNetworkConnectionLost, .connectionLost), (NSURLErrorBadServerResponse, .connectionLost),
            (NSURLErrorUnsupportedURL, .invalidResponse), (NSURLErrorTimedOut, .timedOut),
            (NSURLErrorCancelled, .cancelled), (NSURLErrorServerCertificateUntrusted, .secureConnectionFailed),
            (NSURLErrorBadURL, .unsupported), (-4711, .transportFailed),
        ])
    func codes(code: Int, expected: BatonError.Code) {
        let failure = URLSessionFailure(NSError(domain: NSURLErrorDomain, code: code), isSecure: false)
        #expect(failure.code == expected)
        #expect(!failure.message.isEmpty)
    }

    @Test(
        "An unknown failure is judged by its words, by TLS and by how far it came",
        arguments: [
            ("transfer closed with 95 bytes remaining to read", false, false, BatonError.Code.connectionLost),
            ("Recv failure: Connection reset by peer", true, false, .connectionLost),
            ("Failed to connect to 10.0.0.1 port 80", false, false, .cannotConnect),
            ("Header without colon", false, false, .invalidResponse),
            ("Error while processing content unencoding: incorrect header check", false, true, .invalidResponse),
            ("SSL certificate problem: self-signed certificate", true, false, .secureConnectionFailed),
            ("something else", true, true, .connectionLost), ("something else", false, true, .connectionLost),
            ("something else", false, false, .transportFailed),
        ])
    func hints(text: String, isSecure: Bool, hasHead: Bool, expected: BatonError.Code) {
        let error = NSError(
            domain: NSURLErrorDomain, code: NSURLErrorUnknown, userInfo: [NSLocalizedDescriptionKey: text])
        #expect(URLSessionFailure(error, isSecure: isSecure).refined(hasHead: hasHead).code == expected)
    }

    @Test("A refused server is an insecure connection that says why, and nothing about a cancel")
    func refused() {
        let cancelled = URLError(.cancelled)
        let untrusted = BatonError(.refused(.untrusted(-67_843)), underlying: cancelled)
        #expect(untrusted.code == .secureConnectionFailed && !untrusted.isCancelled)
        #expect(untrusted.message.contains("not trusted") && untrusted.message.contains("-67843"))
        let foreign = BatonError(.refused(.notPinned), underlying: cancelled)
        #expect(foreign.code == .secureConnectionFailed && foreign.message.contains("pinned"))
        for error in [untrusted, foreign] {
            #expect(error.underlying == nil)
            #expect(!String(reflecting: error).lowercased().contains("cancel"))
        }
    }

    @Test("An error of another domain is the transport's")
    func otherDomain() {
        let failure = URLSessionFailure(CocoaError(.fileNoSuchFile), isSecure: false)
        #expect(failure == .code(.transportFailed))
    }
}
