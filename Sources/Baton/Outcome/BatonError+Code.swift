extension BatonError {
    /// A kind of failure. More may come, so a `switch` over codes needs a `default`.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }

        /// The run, batch or request was cancelled.
        public static let cancelled = Code(rawValue: "cancelled")
        /// A configuration that cannot work, such as a limit of 0.
        public static let invalidConfiguration = Code(rawValue: "invalidConfiguration")
        /// A request that may not be sent: its URL, a field, or a body where none may be.
        public static let invalidRequest = Code(rawValue: "invalidRequest")
        /// The body could not be encoded.
        public static let encodingFailed = Code(rawValue: "encodingFailed")
        /// The client's queue has no room for another waiting request.
        public static let queueFull = Code(rawValue: "queueFull")
        /// An interceptor asked for more attempts than the retry policy allows.
        public static let attemptsExhausted = Code(rawValue: "attemptsExhausted")
        /// An interceptor threw an error that is not a `BatonError`.
        public static let interceptorFailed = Code(rawValue: "interceptorFailed")
        /// A closure of the plan threw an error that is not a `BatonError`.
        public static let deriveFailed = Code(rawValue: "deriveFailed")
        /// The attempt took longer than its timeout.
        public static let timedOut = Code(rawValue: "timedOut")
        /// The host's name could not be resolved.
        public static let cannotFindHost = Code(rawValue: "cannotFindHost")
        /// The connection was refused or could not be made.
        public static let cannotConnect = Code(rawValue: "cannotConnect")
        /// The TLS handshake failed, or the peer is not trusted.
        public static let secureConnectionFailed = Code(rawValue: "secureConnectionFailed")
        /// The connection broke before the response was complete.
        public static let connectionLost = Code(rawValue: "connectionLost")
        /// What the server sent is no HTTP.
        public static let invalidResponse = Code(rawValue: "invalidResponse")
        /// The response is larger than the limit for responses in memory.
        public static let responseTooLarge = Code(rawValue: "responseTooLarge")
        /// The transport failed in a way that has no code of its own.
        public static let transportFailed = Code(rawValue: "transportFailed")
        /// The transport was shut down.
        public static let transportClosed = Code(rawValue: "transportClosed")
        /// The transport or the platform cannot do what was asked.
        public static let unsupported = Code(rawValue: "unsupported")
        /// The response's status is not one that is accepted.
        public static let unacceptableStatus = Code(rawValue: "unacceptableStatus")
        /// The response's content type is not one that is accepted.
        public static let unacceptableContentType = Code(rawValue: "unacceptableContentType")
        /// The check of a `Validation` threw an error that is not a `BatonError`, or the body has another shape.
        public static let validationFailed = Code(rawValue: "validationFailed")
        /// The envelope in the body says that the request failed; see ``BatonError/business``.
        public static let businessFailure = Code(rawValue: "businessFailure")
        /// The request was redirected more often than it may be.
        public static let tooManyRedirects = Code(rawValue: "tooManyRedirects")
        /// A redirect leads to where it is not followed: from https to http, to another scheme, or to no URL.
        public static let redirectRefused = Code(rawValue: "redirectRefused")
        /// The body could not be decoded into the output.
        public static let decodingFailed = Code(rawValue: "decodingFailed")
        /// The body is empty where the output needs one.
        public static let emptyBody = Code(rawValue: "emptyBody")
        /// The body cannot be sent a second time.
        public static let notReplayable = Code(rawValue: "notReplayable")
        /// The circuit breaker refused the request, because too many others failed.
        public static let circuitOpen = Code(rawValue: "circuitOpen")
        /// The plan took longer than its deadline allows.
        public static let deadlineExceeded = Code(rawValue: "deadlineExceeded")
        /// Something was repeated as often as it may be.
        public static let limitReached = Code(rawValue: "limitReached")
        /// The server named a page that was read before.
        public static let repeatedCursor = Code(rawValue: "repeatedCursor")
        /// The batch did not meet its failure policy; the error holds the partial report.
        public static let batchFailed = Code(rawValue: "batchFailed")
        /// A sequence that can be read once was asked for again.
        public static let inputConsumed = Code(rawValue: "inputConsumed")
        /// A test on virtual time waits for something that will not happen.
        public static let virtualTimeStopped = Code(rawValue: "virtualTimeStopped")
        /// The sequence that a batch reads its items from threw an error.
        public static let inputFailed = Code(rawValue: "inputFailed")
        /// A file could not be read, written or put where it belongs; the message names it and says why.
        public static let fileFailed = Code(rawValue: "fileFailed")
        /// A mock has no reply for the request.
        public static let unmatchedRequest = Code(rawValue: "unmatchedRequest")

        /// Whether the same request may well succeed when it is sent again: the network failed, not the request.
        public var isTransient: Bool {
            self == .timedOut || self == .cannotFindHost || self == .cannotConnect || self == .connectionLost
        }
    }
}
