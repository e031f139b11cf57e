internal import Baton
internal import Foundation

/// One exchange on the tape.
struct Recording: Sendable {
    /// What is replayed.
    var entry: HAR.Entry
    /// What is written: without secrets.
    var clean: HAR.Entry
    /// The request in the form in which it is compared; nil when it is none that could be sent.
    var request: HTTPRequest?
    /// The place in the order in which the requests were made.
    var number: Int
    var isPlayed = false

    init(_ entry: HAR.Entry, number: Int, _ redaction: Redaction) {
        self.entry = entry
        self.number = number
        clean = entry.redacted(by: redaction)
        request = clean.httpRequest
    }
}

extension Cassette {
    /// Same method, same URL with the parameters in any order, same body (of JSON, the same values).
    public static let methodURLAndBody: Match = { recorded, request in
        guard methodAndURL(recorded, request) else { return false }
        let (a, b) = (recorded.body.bytes ?? Data(), request.body.bytes ?? Data())
        if a == b { return true }
        guard let a = JSONText.canonical(a), let b = JSONText.canonical(b) else { return false }
        return a == b
    }

    /// Same method, same URL with the parameters in any order; the body does not matter.
    public static let methodAndURL: Match = { recorded, request in
        methodAndPath(recorded, request)
            && RequestMatcher.sorted(recorded.query ?? "") == RequestMatcher.sorted(request.query ?? "")
    }

    /// Same method, host and path; the parameters and the body do not matter.
    public static let methodAndPath: Match = { recorded, request in
        recorded.method == request.method && recorded.origin.isSameOrigin(as: request.origin)
            && recorded.path == request.path
    }

    /// Replays a request whose body was read, or begins to record it.
    func reply(to request: HTTPRequest, _ exchange: ScriptedExchange, _ number: Int) -> MockReply {
        let comparable = comparable(request)
        if mode != .all, let entry = claim(comparable) {
            let count = Int64(request.body.bytes?.count ?? 0)
            if count > 0 { exchange.tell { $0.sent(count, of: count) } }
            guard var response = entry.httpResponse else {
                return MockReply(
                    .failure(BatonError(.connectionLost, "the recording of this request holds no response")))
            }
            response.url = request.urlString
            return MockReply(.response(response))
        }
        guard !isReplayOnly else { return MockReply(.failure(complaint(comparable))) }
        guard let transport else {
            return MockReply(
                .failure(
                    BatonError(
                        .invalidConfiguration,
                        "the cassette has to record \(request.summary) and was given no transport for it")))
        }
        let recorder = CassetteRecorder(self, request, exchange, number: number)
        recorder.begin(over: transport)
        return MockReply(.nothing)
    }

    /// The request as it would be written.
    private func comparable(_ request: HTTPRequest) -> HTTPRequest {
        var copy = request
        copy.target = redaction.url(request.target)
        copy.fields = redaction.fields(request.fields)
        if let bytes = request.body.bytes {
            let type = request.fields[.contentType]
            copy.body = .data(redaction.body(bytes, contentType: type), contentType: type)
        }
        return copy
    }

    /// The first recording of the request that was not played yet. The comparison is not ours, so it is made outside
    /// the lock, and the recording may be gone when it is to be taken.
    private func claim(_ request: HTTPRequest) -> HAR.Entry? {
        for recording in state.withLock({ $0.tape }) where !recording.isPlayed {
            guard let recorded = recording.request, match(recorded, request) else { continue }
            let isOurs = state.withLock { state in
                guard let index = state.tape.firstIndex(where: { $0.number == recording.number }),
                    !state.tape[index].isPlayed
                else { return false }
                state.tape[index].isPlayed = true
                return true
            }
            if isOurs { return recording.entry }
        }
        return nil
    }

    private func complaint(_ request: HTTPRequest) -> BatonError {
        let tape = state.withLock { $0.tape }
        let played = tape.count { $0.request.map { match($0, request) } ?? false }
        let asked = "\(request.method) \(request.urlString)"
        let name = file.lastPathComponent
        if played > 0 {
            return BatonError(
                .unmatchedRequest,
                "\(asked) was asked for once more than it was recorded: \(name) holds it \(played == 1 ? "once" : "\(played) times")"
            )
        }
        let others = tape.compactMap(\.request).prefix(3).map { "\($0.method) \($0.urlString)" }
        return BatonError(
            .unmatchedRequest,
            "\(name) holds no recording of \(asked)"
                + (others.isEmpty ? ": it is empty" : "; it holds \(others.joined(separator: ", "))")
                + (tape.count > 3 ? " and \(tape.count - 3) more" : ""))
    }
}
