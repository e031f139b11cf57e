internal import Foundation

/// Writes what a client does to a log, without its secrets.
///
/// ```swift
/// let client = Client(baseURL: "https://api.example.com", observers: [RequestLogger(.debug)])
/// ```
/// Each event is one message. A body that is a stream is never read for it.
public struct RequestLogger: EventObserver {
    private let level: LogLevel
    private let redaction: Redaction
    private let maxPreview: Int
    private let sink: LogSink

    /// - Parameters:
    ///   - level: the least important messages that are written. Default: info.
    ///   - redaction: what is secret. Default: the usual.
    ///   - maxPreview: how many bytes of a body are shown. Default: 1,024.
    ///   - sink: where messages go. Default: standard error.
    public init(
        _ level: LogLevel = .info, redaction: Redaction = Redaction(), maxPreview: Int = 1_024,
        to sink: LogSink = .standardError
    ) {
        self.level = level
        self.redaction = redaction
        self.maxPreview = maxPreview
        self.sink = sink
    }

    public func observe(_ event: Event) {
        switch event {
        case .runStarted(let run): write(.trace, "run \(run.run) begins")
        case .runEnded(let run, nil): write(.trace, "run \(run.run) ends")
        case .runEnded(let run, let error?):
            write(
                error.isCancelled ? .info : .error,
                "run \(run.run) \(error.isCancelled ? "is cancelled" : "fails"): \(text(error))")
        case .attemptQueued(let attempt): write(.debug, "\(name(attempt)) waits for a slot")
        case .attemptAdmitted(let attempt, let wait):
            write(.debug, "\(name(attempt)) got its slot after \(wait.inSeconds) s")
        case .attemptStarted(let attempt):
            guard level >= .debug else { return }
            let curl = CURLCommand(attempt.request, redaction: redaction, maxBody: level >= .trace ? maxPreview : 0)
            write(.debug, "→ \(name(attempt))\n\(curl)")
        case .attemptEnded(let attempt, let result):
            write(
                Self.isFine(result) ? .info : .warning, "← \(name(attempt)): \(self.text(result))\(details(of: result))"
            )
        case .redirected(let attempt, let next):
            write(.info, "\(name(attempt)) is redirected to \(redaction.url(next.urlString))")
        case .retryScheduled(let attempt, let wait, let error):
            write(.warning, "\(name(attempt)) is sent again in \(wait.inSeconds) s: \(text(error))")
        case .slotForfeited(let attempt):
            write(.warning, "\(name(attempt)) was not ended by the transport within a second of its cancellation")
        case .hostPaused(let host, let wait, _):
            write(.warning, "\(host) asked to be left alone for \(wait.inSeconds) s")
        case .limitChanged(let host, let limit, _): write(.debug, "\(host) gets \(limit) requests at once")
        case .cache(let event):
            let url = redaction.url(event.request.urlString)
            write(.debug, "cache: \(event.call) \(event.request.method) \(url) \(text(event.kind))")
        case .breakerChanged(let key, let phase, _): write(.warning, "the breaker of \(key) is \(phase)")
        }
    }

    private func write(_ level: LogLevel, _ message: @autoclosure () -> String) {
        if level <= self.level { sink(level, message()) }
    }

    private func name(_ attempt: AttemptEvent) -> String {
        "\(attempt.call).\(attempt.attempt) \(attempt.request.method) \(redaction.url(attempt.request.urlString))"
    }

    private func text(_ kind: CacheEvent.Kind) -> String {
        switch kind {
        case .hit(let age, let isStale): "was answered, \(isStale ? "stale, " : "")\(age.inSeconds) s old"
        case .miss: "has no answer"
        case .stored: "was stored"
        case .revalidated: "was confirmed by the server"
        case .invalidated(let url): "made \(redaction.url(url)) forgotten"
        case .evicted(let count): "pushed \(count) others out"
        }
    }

    /// An error in a line; its message may come from anywhere.
    private func text(_ error: BatonError) -> String { redaction.text("\(error)") }

    private static func isFine(_ result: Result<HTTPResponse, BatonError>) -> Bool {
        switch result {
        case .success: true
        case .failure(let error): error.isCancelled
        }
    }

    private func text(_ result: Result<HTTPResponse, BatonError>) -> String {
        switch result {
        case .success(let response): "\(response.status), \(response.body.count) bytes"
        case .failure(let error): text(error)
        }
    }

    private func details(of result: Result<HTTPResponse, BatonError>) -> String {
        let response: HTTPResponse?
        switch result {
        case .success(let success): response = success
        case .failure(let error): response = error.response
        }
        guard level >= .debug, let response else { return "" }
        var lines = redaction.fields(response.fields).map { "\n\($0.name): \($0.value)" }.joined()
        if level >= .trace, !response.body.isEmpty { lines += "\n\n" + preview(response) }
        return lines
    }

    /// The beginning of a body; of one that is no text, how long it is.
    private func preview(_ response: HTTPResponse) -> String {
        // Redacted first, so that a cut does not hide what makes a secret one.
        let clean = redaction.body(response.body.prefix(maxPreview + 4_096), contentType: response.fields[.contentType])
        let shown = String(decoding: clean.prefix(maxPreview), as: UTF8.self)
        guard !shown.contains("\u{FFFD}\u{FFFD}"), !shown.contains("\0") else {
            return "(\(response.body.count) bytes that are no text)"
        }
        return response.body.count > maxPreview ? "\(shown)… (\(response.body.count) bytes)" : shown
    }
}
