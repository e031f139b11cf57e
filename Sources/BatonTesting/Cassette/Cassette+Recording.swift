internal import Baton
internal import Foundation

extension Cassette {
    /// Puts an exchange on the tape, and the tape on the disk. It blocks while it writes.
    func record(_ entry: HAR.Entry, number: Int) throws(BatonError) {
        var recording = Recording(entry, number: number, redaction)
        // It was answered already: what is recorded in this run is not replayed in it.
        recording.isPlayed = true
        recording.entry = recording.clean
        let version = state.withLock { state in
            let place = state.tape.firstIndex { $0.number > number } ?? state.tape.endIndex
            state.tape.insert(recording, at: place)
            state.version += 1
            return state.version
        }
        try write(atLeast: version)
    }

    private func write(atLeast version: Int) throws(BatonError) {
        do {
            try written.withLock { written throws in
                // Whoever had the lock before may have written this version with its own.
                guard written < version else { return }
                let (tape, version) = state.withLock { ($0.tape, $0.version) }
                let encoder = JSONEncoder()
                encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
                let data = try encoder.encode(HAR.Document(log: HAR.Log(entries: tape.map(\.clean))))
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try data.write(to: file, options: .atomic)
                written = version
            }
        } catch {
            throw BatonError(
                .transportFailed, "the recording could not be written to \(file.lastPathComponent)", underlying: error)
        }
    }
}

/// One request that is being recorded: it passes on what comes, and its end when the recording is on the disk.
final class CassetteRecorder: TransportEvents, Job {
    private struct State {
        var inner: (any Transmission)?
        var head: HTTPResponseHead?
        var headInstant: Instant?
        var body = Data()
        /// What came last, while it is being written.
        var landed: (response: HTTPResponse, wasWhole: Bool, at: Instant)?
        var isOver = false
    }

    private let cassette: Cassette
    private let request: HTTPRequest
    private let outer: ScriptedExchange
    private let number: Int
    private let scheduler: any Scheduler
    private let start: Instant
    private let date: Date
    private let state = LockBox(State())

    init(_ cassette: Cassette, _ request: HTTPRequest, _ outer: ScriptedExchange, number: Int) {
        self.cassette = cassette
        self.request = request
        self.outer = outer
        self.number = number
        scheduler = cassette.scheduler
        start = scheduler.now
        date = scheduler.date
    }

    func begin(over transport: any Transport) {
        outer.follow(onResume: { [self] in state.withLock { $0.inner }?.resume() }, onEnd: { [self] in outerEnded() })
        let inner = transport.send(request, to: TransportReceiver(self))
        let isOver = state.withLock { state in
            if !state.isOver { state.inner = inner }
            return state.isOver
        }
        if isOver { inner.cancel() }
    }

    private func outerEnded() {
        let inner = state.withLock { state in
            defer { state = State(isOver: true) }
            return state.inner
        }
        inner?.cancel()
    }

    // MARK: What the wrapped transport says

    func receiveHead(_ head: HTTPResponseHead, token: UInt64) {
        let now = scheduler.now
        state.withLock { ($0.head, $0.headInstant) = (head, now) }
        outer.tell { $0.head(head) }
    }

    func receiveChunk(_ bytes: Data, token: UInt64) -> Demand {
        state.withLock { $0.body.append(bytes) }
        var demand = Demand.more
        outer.tell { demand = $0.chunk(bytes) }
        return demand
    }

    func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64) {
        outer.tell { $0.sent(bytes, of: total) }
    }

    func receiveEnd(_ metrics: TransportMetrics?, token: UInt64) {
        let (head, body) = state.withLock { ($0.head, $0.body) }
        guard let head else {
            return outer.end(
                with: BatonError(.invalidResponse, "the transport ended the exchange without a response"))
        }
        var response = HTTPResponse(head: head, body: body)
        if let metrics { response.metrics = metrics }
        land(response, wasWhole: false)
    }

    func receiveResponse(_ response: HTTPResponse, token: UInt64) { land(response, wasWhole: true) }

    func receiveFailure(_ error: BatonError, token: UInt64) { outer.end(with: error) }

    /// Writing blocks, so it is done where that is allowed.
    private func land(_ response: HTTPResponse, wasWhole: Bool) {
        let now = scheduler.now
        state.withLock { if !$0.isOver { $0.landed = (response, wasWhole, now) } }
        scheduler.execute(self, Signal(kind: 0))
    }

    func run(_ signal: Signal) {
        let (landed, headInstant) = state.withLock { ($0.landed, $0.headInstant) }
        guard let (response, wasWhole, end) = landed else { return }
        let timings = HAR.Timings(response.metrics, start: start, head: headInstant ?? end, end: end)
        do throws(BatonError) {
            try cassette.record(HAR.Entry(request, response, date: date, timings: timings), number: number)
        } catch {
            return outer.end(with: error)
        }
        outer.finish { wasWhole ? $0.complete(response) : $0.end(response.metrics) }
    }
}

extension HAR.Timings {
    /// What the transport measured, and from the clock what it did not.
    init(_ metrics: TransportMetrics?, start: Instant, head: Instant, end: Instant) {
        func milliseconds(_ duration: Duration) -> Double { max(0, duration.inSeconds * 1_000) }
        dns = metrics?.nameLookup.map(milliseconds) ?? -1
        ssl = metrics?.secureConnect.map(milliseconds) ?? -1
        // The format's `connect` contains `ssl`; the transport's does not.
        connect = metrics?.connect.map { milliseconds($0) + max(0, ssl) } ?? -1
        send = metrics?.send.map(milliseconds) ?? 0
        wait = milliseconds(metrics?.wait ?? start.duration(to: head))
        receive = milliseconds(metrics?.receive ?? head.duration(to: end))
    }
}
