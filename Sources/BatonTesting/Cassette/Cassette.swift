public import Baton
public import Foundation

/// A transport that records what another one receives, and replays it: a file in the HTTP Archive format (HAR 1.2).
///
/// ```swift
/// let cassette = try Cassette(file: url, around: CurlTransport())     // the first run records, later ones replay
/// let client = Client(baseURL: "https://api.example.com", transport: cassette)
/// ```
/// A file that a browser saved replays as well. Identical requests are replayed in the order in which they were
/// recorded, each recording once. Secrets are replaced before anything is written; a request is compared in that form
/// too, so that one with another password is the same one. A recording is on the disk before its response is complete.
/// Failures are not recorded.
public final class Cassette: ScheduledTransport {
    /// What is replayed and what is recorded.
    public enum Mode: Sendable, Hashable {
        /// Replays when there is a file, and records one when there is none. What is not in the file is an error.
        case once
        /// Replays only. A missing file is an error.
        case none
        /// Replays what is recorded, and records what is not.
        case newEpisodes
        /// Records everything anew; what the file held before is lost with the first response.
        case all
    }

    /// Whether a recorded request is the one that is made. Both have their secrets replaced and their bodies as bytes.
    public typealias Match = @Sendable (_ recorded: HTTPRequest, _ request: HTTPRequest) -> Bool

    struct State {
        var scheduler: any Scheduler = LiveScheduler.shared
        var tape: [Recording] = []
        var newest: Int
        var version = 0
        var open: [Int: ScriptedExchange] = [:]
        var isClosed = false
    }

    let file: URL
    let mode: Mode
    let transport: (any Transport)?
    let redaction: Redaction
    let match: Match
    /// Whether the file was there, where that decides between replay and recording.
    let isReplayOnly: Bool
    let state: LockBox<State>
    /// The version of the tape that is on the disk; whoever writes holds it.
    let written = LockBox(0)

    /// Opens or begins a cassette.
    ///
    /// - Parameters:
    ///   - file: where the recordings are, or will be. Folders that are missing are made.
    ///   - mode: what is replayed and what is recorded. Default: once.
    ///   - transport: what carries the requests that are recorded; nil when there will be none.
    ///   - redaction: what is a secret.
    ///   - match: how recordings are found. Default: by method, URL and body.
    /// - Throws: `invalidConfiguration` when the file is needed and missing, or is no HAR file; the message tells the
    ///   line and column, or the field, that is wrong.
    public init(
        file: URL, mode: Mode = .once, around transport: (any Transport)? = nil, redaction: Redaction = Redaction(),
        match: @escaping Match = Cassette.methodURLAndBody
    ) throws(BatonError) {
        self.file = file
        self.mode = mode
        self.transport = transport
        self.redaction = redaction
        self.match = match
        let exists = FileManager.default.fileExists(atPath: file.path)
        isReplayOnly = mode == .none || (mode == .once && exists)
        var tape: [Recording] = []
        if isReplayOnly || (mode == .newEpisodes && exists) {
            let data: Data
            do {
                data = try Data(contentsOf: file)
            } catch {
                throw BatonError(
                    .invalidConfiguration, "the cassette \(file.lastPathComponent) could not be read", underlying: error
                )
            }
            tape = try HAR.read(data, name: file.lastPathComponent).enumerated().map { number, entry in
                Recording(entry, number: number, redaction)
            }
        }
        state = LockBox(State(tape: tape, newest: tape.count))
    }

    /// The requests that were recorded and not replayed, in their order.
    public var unplayed: [HTTPRequest] {
        state.withLock { $0.tape.filter { !$0.isPlayed } }.compactMap(\.request)
    }

    package func attach(to scheduler: any Scheduler) {
        state.withLock { $0.scheduler = scheduler }
        (transport as? any ScheduledTransport)?.attach(to: scheduler)
    }

    package var isInMemory: Bool {
        isReplayOnly || (transport as? any ScheduledTransport)?.isInMemory ?? false
    }

    var scheduler: any Scheduler { state.withLock { $0.scheduler } }

    public func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        let opened: (ScriptedExchange, Int)? = state.withLock { state in
            guard !state.isClosed else { return nil }
            state.newest += 1
            let number = state.newest
            let exchange = ScriptedExchange(receiver, state.scheduler) { [self] in ended(number) }
            state.open[number] = exchange
            return (exchange, number)
        }
        guard let (exchange, number) = opened else {
            receiver.fail(Self.closed)
            return FinishedTransmission.shared
        }
        exchange.begin(request, tellsProgress: false) { [self] request in
            reply(to: request, exchange, number)
        }
        return exchange
    }

    public func shutdown() {
        let open = state.withLock { state in
            state.isClosed = true
            return state.open
        }
        for (_, exchange) in open.sorted(by: { $0.key < $1.key }) { exchange.end(with: Self.closed) }
        transport?.shutdown()
    }

    private static let closed = BatonError(.transportClosed, "the cassette was shut down")

    private func ended(_ number: Int) {
        let exchange = state.withLock { $0.open.removeValue(forKey: number) }
        withExtendedLifetime(exchange) {}
    }
}
