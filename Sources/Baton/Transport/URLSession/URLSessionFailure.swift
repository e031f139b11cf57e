internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Why a task of a session failed, reduced to what tells our error codes apart.
enum URLSessionFailure: Equatable {
    case cancelled
    /// The body ended before the length that the head announced.
    case truncated
    /// The server was refused by the transport's own trust.
    case refused(TrustRefusal)
    /// The session has no code for it; on Linux that is most of what can go wrong.
    case unknown(Hint)
    case code(BatonError.Code)

    /// What the text of an unknown failure gives away. Foundation on Linux puts libcurl's own words there.
    enum Hint { case none, broken, connect, garbled, secure }

    init(_ error: any Error, isSecure: Bool) {
        let error = error as NSError
        guard error.domain == NSURLErrorDomain else {
            self = .code(.transportFailed)
            return
        }
        switch error.code {
        case NSURLErrorCancelled: self = .cancelled
        case NSURLErrorUnknown: self = .unknown(Self.hint(of: error, isSecure: isSecure))
        case let code: self = .code(Self.codes[code] ?? .transportFailed)
        }
    }

    /// Judges an unknown failure by how far the exchange was.
    func refined(hasHead: Bool) -> URLSessionFailure {
        guard case .unknown(let hint) = self else { return self }
        return switch hint {
        case .garbled: .code(.invalidResponse)
        case .broken: .code(.connectionLost)
        case _ where hasHead: .code(.connectionLost)
        case .secure: .code(.secureConnectionFailed)
        case .connect: .code(.cannotConnect)
        case .none: .code(.transportFailed)
        }
    }

    var code: BatonError.Code {
        switch self {
        case .cancelled: .cancelled
        case .truncated: .connectionLost
        case .refused: .secureConnectionFailed
        case .unknown: .transportFailed
        case .code(let code): code
        }
    }

    /// A sentence without anything that came from the request or the server.
    var message: String {
        switch self {
        case .cancelled: "the request was cancelled"
        case .truncated: "the response ended before its Content-Length"
        case .refused(let refusal): refusal.message
        case .unknown: "the session failed without saying why"
        case .code(let code): Self.messages[code] ?? "the session failed"
        }
    }

    private static let codes: [Int: BatonError.Code] = [
        NSURLErrorTimedOut: .timedOut,
        NSURLErrorCannotFindHost: .cannotFindHost,
        NSURLErrorDNSLookupFailed: .cannotFindHost,
        NSURLErrorCannotConnectToHost: .cannotConnect,
        NSURLErrorNotConnectedToInternet: .cannotConnect,
        NSURLErrorNetworkConnectionLost: .connectionLost,
        // An empty reply; a garbled one is "unsupported URL" on Linux, because libcurl takes it for another protocol.
        NSURLErrorBadServerResponse: .connectionLost,
        NSURLErrorUnsupportedURL: .invalidResponse,
        NSURLErrorCannotParseResponse: .invalidResponse,
        NSURLErrorCannotDecodeRawData: .invalidResponse,
        NSURLErrorCannotDecodeContentData: .invalidResponse,
        // The engine checked the URL. What Foundation on Linux still refuses is an IPv6 address as host.
        NSURLErrorBadURL: .unsupported,
        NSURLErrorSecureConnectionFailed: .secureConnectionFailed,
        NSURLErrorServerCertificateHasBadDate: .secureConnectionFailed,
        NSURLErrorServerCertificateUntrusted: .secureConnectionFailed,
        NSURLErrorServerCertificateHasUnknownRoot: .secureConnectionFailed,
        NSURLErrorServerCertificateNotYetValid: .secureConnectionFailed,
        NSURLErrorClientCertificateRejected: .secureConnectionFailed,
        NSURLErrorClientCertificateRequired: .secureConnectionFailed,
    ]

    private static let messages: [BatonError.Code: String] = [
        .timedOut: "the session timed out",
        .cannotFindHost: "the host's name could not be resolved",
        .cannotConnect: "the connection could not be made",
        .connectionLost: "the connection broke before the response was complete",
        .secureConnectionFailed: "the TLS handshake failed, or the peer is not trusted",
        .invalidResponse: "what the server sent could not be read as HTTP",
        .unsupported: "the session cannot take the URL; on Linux it takes no IPv6 address as host",
    ]

    private static func hint(of error: NSError, isSecure: Bool) -> Hint {
        let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
        let text = "\(error.localizedDescription) \(cause?.localizedDescription ?? "")".lowercased()
        func mentions(_ words: String...) -> Bool { words.contains { text.contains($0) } }
        if mentions("transfer closed", "send failure", "recv failure", "reset by peer", "connection died") {
            return .broken
        }
        if mentions("connect to") { return .connect }
        if mentions("encoding", "header", "hexadecimal", "content-length") { return .garbled }
        return isSecure ? .secure : .none
    }
}

extension URLError {
    /// The error with its code and words only: what Foundation keeps in it is the whole URL, secrets of the query
    /// included.
    init(withoutURL error: any Error) {
        let error = error as NSError
        let code: Code? = error.domain == NSURLErrorDomain ? Code(rawValue: error.code) : nil
        self.init(code ?? .unknown, userInfo: [NSLocalizedDescriptionKey: error.localizedDescription])
    }
}

extension BatonError {
    init(_ failure: URLSessionFailure, underlying: (any Error)?) {
        // Of a refusal the session says only that somebody cancelled.
        let isRefusal = if case .refused = failure { true } else { false }
        self.init(failure.code, failure.message, underlying: isRefusal ? nil : underlying)
    }
}
