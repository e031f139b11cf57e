/// Why a run failed: the one error type of the library.
///
/// It says what was wrong (``code`` and ``message``), where in the plan (``path``) and when (``phase``), and keeps
/// what was received. Printing it yields one line that holds no secret; `String(reflecting:)` yields everything.
public struct BatonError: Error, Sendable {
    package struct Storage: Sendable {
        var code: Code
        var message: String
        var path: String = ""
        var phase: Phase?
        var attempts: Int = 0
        var request: String?
        var response: HTTPResponse?
        var report: (any Sendable)?
        var completed: [any Sendable] = []
        var undoFailures: [BatonError] = []
        var records: [AttemptRecord] = []
        var metrics: Measured?
        var underlying: (any Error)?
        var retryAfter: Duration?
        var retryNote: String?
    }

    /// Behind a reference of its own: few errors have them, and errors are copied with whatever is added to them.
    package final class Measured: Sendable {
        let values: TransportMetrics
        init(_ values: TransportMetrics) { self.values = values }
    }

    /// One reference, so that results that hold an error stay small.
    private final class Box: Sendable {
        let storage: Storage
        init(_ storage: Storage) { self.storage = storage }
    }

    private var box: Box

    package var storage: Storage {
        get { box.storage }
        set { box = Box(newValue) }
    }

    /// An error of your own making, for a transport or an interceptor to throw.
    ///
    /// - Parameters:
    ///   - message: what was wrong and what to do, as a sentence without secrets.
    ///   - underlying: the error that caused it, if any.
    ///   - response: the response it is about, if any.
    ///   - metrics: what a transport measured of an exchange that failed, if anything.
    public init(
        _ code: Code, _ message: String = "", underlying: (any Error)? = nil, response: HTTPResponse? = nil,
        metrics: TransportMetrics? = nil
    ) {
        box = Box(
            Storage(
                code: code, message: message, response: response, metrics: metrics.map(Measured.init),
                underlying: underlying))
    }

    /// What kind of failure it is.
    public var code: Code { box.storage.code }
    /// What was wrong and what to do about it.
    public var message: String { box.storage.message }
    /// Where in the plan it happened, such as `chain[2].batch[17]`; empty for a plan that is a single request.
    public var path: String { box.storage.path }
    /// What was going on; nil when it is not about one request.
    public var phase: Phase? { box.storage.phase }
    /// How often the request went to the transport.
    public var attempts: Int { box.storage.attempts }
    /// Method and URL of the request without its query; nil when it is not about one request.
    public var request: String? { box.storage.request }
    /// The response that was received, with fields and body; nil when none was.
    public var response: HTTPResponse? { box.storage.response }
    /// What the transport measured of the exchange, as far as it came; nil when it measured nothing.
    public var metrics: TransportMetrics? { box.storage.metrics?.values ?? response?.metrics }
    /// The error that caused this one.
    public var underlying: (any Error)? { box.storage.underlying }
    /// The values of the chain's steps that had completed, in order; empty outside chains.
    public var completed: [any Sendable] { box.storage.completed }
    /// Each attempt of the request: how it ended, and what was decided; empty when it is not about one request.
    public var records: [AttemptRecord] { box.storage.records }
    /// What went wrong while steps were undone, in the order in which they were; empty when nothing did.
    public var undoFailures: [BatonError] { box.storage.undoFailures }
    /// Whether the run was cancelled, by whatever means. (`catch is CancellationError` never matches.)
    public var isCancelled: Bool { code == .cancelled }

    /// What was going on when it failed.
    public enum Phase: String, Sendable {
        /// The request was being built.
        case encode
        /// Interceptors had it.
        case intercept
        /// It waited for a slot.
        case queue
        /// It was being sent, or waited for the response's head.
        case send
        /// The response was coming in.
        case receive
        /// The response was being judged.
        case validate
        /// The body was being read.
        case decode
        /// A closure of the plan was being called.
        case derive
    }
}

extension BatonError: CustomStringConvertible, CustomDebugStringConvertible {
    public var description: String {
        var text = "\(code.rawValue)"
        if !message.isEmpty { text += ": \(message)" }
        var context: [String] = []
        if let request { context.append(request) }
        if let response { context.append("status \(response.status)") }
        if !path.isEmpty { context.append("at \(path)") }
        if attempts > 1 { context.append("after \(attempts) attempts") }
        if let retryNote { context.append(retryNote) }
        if !context.isEmpty { text += " (\(context.joined(separator: ", ")))" }
        return text.replacing(where: \.isNewline, with: " ")
    }

    public var debugDescription: String {
        var lines = [description]
        if let phase { lines.append("  phase: \(phase.rawValue)") }
        if let response { lines.append("  response: status \(response.status), \(response.body.count) bytes") }
        for failure in undoFailures { lines.append("  undo failed: \(failure)") }
        if let underlying { lines.append("  caused by: \(String(describing: type(of: underlying)))") }
        return lines.joined(separator: "\n")
    }
}

extension String {
    fileprivate func replacing(where matches: (Character) -> Bool, with replacement: Character) -> String {
        String(map { matches($0) ? replacement : $0 })
    }
}
