public import Foundation

/// Keeps the last exchanges of each URL, for a screen in the app or a report; without their secrets.
///
/// ```swift
/// let capture = Capture(perURL: 5)
/// let client = Client(baseURL: "https://api.example.com", observers: [capture])
/// capture.exchanges(of: "https://api.example.com/news")
/// try capture.har().write(to: file)
/// ```
public final class Capture: EventObserver {
    /// One attempt, as it was sent and answered.
    public struct Exchange: Sendable {
        /// The place in the order in which they began.
        public let number: UInt64
        /// The method of the request.
        public let method: HTTPMethod
        /// The URL, with its query and without secrets.
        public let url: String
        /// The fields as they were sent, without secrets.
        public let requestFields: HTTPFields
        /// Nil without a body, and for one that is a stream or too long.
        public let requestBody: Data?
        /// By the wall clock.
        public let started: Date
        /// From the slot to the end.
        public internal(set) var duration: Duration?
        /// Nil as long as there is none.
        public internal(set) var status: Int?
        /// The fields of the response, without secrets; none without a response.
        public internal(set) var responseFields: HTTPFields = [:]
        /// Nil without a response, and for a body that is too long.
        public internal(set) var responseBody: Data?
        /// What went wrong, in a line; nil when nothing did.
        public internal(set) var error: String?
        let instant: Instant
        /// What the transport measured; nil when it did not.
        var metrics: TransportMetrics?
        /// How much of the duration was a wait for a slot.
        var queued: Duration?
        /// The size of a body that is not kept.
        var responseSize: Int?
        /// The page of an archive that it belongs to.
        var page: String?
    }

    private struct State {
        /// Copies of one attempt share its name.
        var open: [AttemptEvent.Name: [Exchange]] = [:]
        var ended: [String: [Exchange]] = [:]
    }

    private let state = LockBox(State())
    private let perURL: Int
    private let maxURLs: Int
    private let maxBody: Int
    private let redaction: Redaction

    /// - Parameters:
    ///   - perURL: how many exchanges of each URL are kept. Default: 10. The query belongs to the URL.
    ///   - maxURLs: how many URLs; the one whose last exchange is the oldest goes. Default: 200.
    ///   - maxBody: the longest body that is kept. Default: 64 KB.
    public init(perURL: Int = 10, maxURLs: Int = 200, maxBody: Int = 64 << 10, redaction: Redaction = Redaction()) {
        self.perURL = max(1, perURL)
        self.maxURLs = max(1, maxURLs)
        self.maxBody = maxBody
        self.redaction = redaction
    }

    public func observe(_ event: Event) {
        observe(event, at: LiveScheduler.shared.date)
    }

    public func _observe(_ event: Event, _ setting: _EventSetting) {
        observe(event, at: setting.scheduler.date)
    }

    private func observe(_ event: Event, at date: Date) {
        switch event {
        case .attemptStarted(let attempt):
            let exchange = begin(attempt, date)
            state.withLock { $0.open[attempt.name, default: []].append(exchange) }
        case .attemptEnded(let attempt, let result):
            let key = attempt.name
            let begun: Exchange? = state.withLock { state in
                guard let exchange = state.open[key]?.removeFirst() else { return nil }
                if state.open[key]?.isEmpty == true { state.open[key] = nil }
                return exchange
            }
            guard var exchange = begun else { return }
            exchange.duration = exchange.instant.duration(to: attempt.instant)
            note(result, in: &exchange)
            state.withLock { [exchange] in keep(exchange, &$0) }
        default: break
        }
    }

    private func begin(_ attempt: AttemptEvent, _ date: Date) -> Exchange {
        let request = attempt.request
        return Exchange(
            number: Numbering.next(), method: request.method, url: redaction.url(request.urlString),
            requestFields: redaction.fields(request.fields),
            requestBody: request.body.bytes.flatMap { body($0, request.fields) }, started: date,
            instant: attempt.instant)
    }

    private func body(_ body: Data, _ fields: HTTPFields) -> Data? {
        body.count > maxBody ? nil : redaction.body(body, contentType: fields[.contentType])
    }

    private func note(_ result: Result<HTTPResponse, BatonError>, in exchange: inout Exchange) {
        exchange.error = result.error.map { redaction.text("\($0)") }
        exchange.metrics = result.metrics
        guard let response = result.response else { return }
        exchange.status = response.status
        exchange.responseSize = response.body.count
        exchange.responseFields = redaction.fields(response.fields)
        exchange.responseBody = body(response.body, response.fields)
    }

    private func keep(_ exchange: Exchange, _ state: inout State) {
        state.ended[exchange.url, default: []].append(exchange)
        if let count = state.ended[exchange.url]?.count, count > perURL {
            state.ended[exchange.url]?.removeFirst(count - perURL)
        }
        guard state.ended.count > maxURLs else { return }
        let oldest = state.ended.min { ($0.value.last?.number ?? 0) < ($1.value.last?.number ?? 0) }
        if let oldest { state.ended[oldest.key] = nil }
    }

    /// Those of one URL that are over, in the order in which they began. Secrets in the URL are left out of account.
    public func exchanges(of url: String) -> [Exchange] {
        let url = redaction.url(url)
        return state.withLock { $0.ended[url] ?? [] }.sorted { $0.number < $1.number }
    }

    /// All that are over, in the order in which they began.
    public var exchanges: [Exchange] {
        state.withLock { $0.ended.values.flatMap { $0 } }.sorted { $0.number < $1.number }
    }

    /// Forgets what was kept.
    public func clear() {
        let old = state.withLock { state in
            defer { state.ended = [:] }
            return state.ended
        }
        withExtendedLifetime(old) {}
    }
}
