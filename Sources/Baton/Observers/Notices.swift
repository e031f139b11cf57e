internal import Foundation

/// Has a presenter tell the user that a run failed, or that it found nothing.
///
/// ```swift
/// var texts = NoticeTexts()
/// texts.statuses[404] = "This page is gone."
/// let client = Client(baseURL: "https://api.example.com", observers: [Notices(presenter, texts)])
/// ```
/// One notice for each run at most, after all of its retries; none for a cancelled one. Whether and where stands in its
/// request's or plan's `presentation`.
public final class Notices: EventObserver {
    private let texts: NoticeTexts
    private let queue: PresenterQueue
    /// The runs whose last response had nothing to show.
    private let empty = LockBox<Set<UInt64>>([])

    /// Shows failures by the presenter, in these words.
    public init(_ presenter: any Presenter, _ texts: NoticeTexts = NoticeTexts()) {
        self.texts = texts
        queue = PresenterQueue(presenter)
    }

    public func observe(_ event: Event) {}

    public func _observe(_ event: Event, _ setting: _EventSetting) {
        switch event {
        case .attemptEnded(let attempt, .success(let response)) where texts.empty != nil:
            let isEmpty = texts.isEmpty(response)
            empty.withLock { empty in
                if isEmpty { empty.insert(attempt.run) } else { empty.remove(attempt.run) }
            }
        case .runEnded(let run, let error):
            let isEmpty = empty.withLock { $0.remove(run.run) } != nil
            guard run.presentation?.errors != .hidden else { return }
            if let notice = notice(for: run, error, isEmpty: isEmpty) {
                queue.add { $0.show(notice) }
                queue.deliver(1, setting.scheduler)
            }
        default: break
        }
    }

    private func notice(for run: RunEvent, _ error: BatonError?, isEmpty: Bool) -> Notice? {
        let place = run.presentation?.place
        guard let error else {
            return isEmpty ? texts.empty.map { Notice(.empty, $0, place: place) } : nil
        }
        guard !error.isCancelled, let text = texts.text(for: error) else { return nil }
        return Notice(.failure, text, place: place, code: error.code, status: error.response?.status)
    }
}

/// What the user is told. The first that has a text for an error counts: the rule, the business code, the message of a
/// business failure to warn of, the status, the error's code, and then the text for everything else.
public struct NoticeTexts: Sendable {
    /// Asked first; an empty text says nothing to the user, nil leaves it to the tables.
    public var rule: @Sendable (BatonError) -> String? = { _ in nil }
    /// Reads the app's own code out of a response. Default: `code` of a JSON object.
    public var businessCode: @Sendable (HTTPResponse) -> Int? = { response in
        (try? JSONValue(data: response.body)).flatMap { value in
            if case .object(let object) = value, case .int(let code)? = object["code"] { Int(code) } else { nil }
        }
    }
    /// The words for codes of a business envelope; they go before all others.
    public var businessCodes: [Int: String] = [:]
    /// The words for statuses.
    public var statuses: [Int: String] = [
        401: "Please sign in.", 403: "You may not do that.", 404: "That is not there any more.",
        429: "Too many requests. Please wait a little.", 500: "The server has a problem.",
        502: "The server cannot be reached.", 503: "The server is busy. Please try again later.",
        504: "The server does not answer.",
    ]
    /// The words for kinds of failures.
    public var codes: [BatonError.Code: String] = [
        .timedOut: "That took too long.", .deadlineExceeded: "That took too long.",
        .cannotFindHost: "The server cannot be found.", .cannotConnect: "The server cannot be reached.",
        .connectionLost: "The connection was lost.", .secureConnectionFailed: "The connection is not secure.",
        .notReachable: "There is no network.", .decodingFailed: "The server's answer cannot be read.",
    ]
    /// For every other failure; nil says nothing.
    public var other: String? = "Something went wrong."
    /// For a run that succeeded with nothing to show. Default: nil, nothing is said.
    public var empty: String?
    /// Whether a response has nothing to show; the last response of a run counts. Default: no body, `[]`, `{}` or `null`.
    public var isEmpty: @Sendable (HTTPResponse) -> Bool = { response in
        guard response.body.count < 16 else { return false }
        let text = String(decoding: response.body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return ["", "[]", "{}", "null"].contains(text)
    }

    /// English words for the most frequent failures.
    public init() {}

    /// Nil when the user is told nothing.
    func text(for error: BatonError) -> String? {
        let text =
            rule(error) ?? (error.business?.code.int ?? error.response.flatMap(businessCode)).flatMap {
                businessCodes[$0]
            }
            ?? (error.business?.action == .warn ? error.business?.message : nil)
            ?? error.response.flatMap { statuses[$0.status] } ?? codes[error.code] ?? other
        return text?.isEmpty == true ? nil : text
    }
}

extension BatonError.Code {
    /// There was no network for as long as the request could wait for it.
    public static let notReachable = BatonError.Code(rawValue: "notReachable")
}
