import Baton
import BatonTesting
import Foundation

/// A good transport with one fault.
final class Saboteur: Transport {
    struct State {
        var open: [ObjectIdentifier: SabotagedExchange] = [:]
        var calls = 0
        var hasFailed = false
        /// The threads that are inside an event.
        var telling: [ObjectIdentifier] = []
    }

    /// What `leaks` leaves behind, so that a test can clear it up.
    static let leaked = LockBox<[Pipe]>([])

    let fault: Fault?
    let inner: any Transport
    let state = LockBox(State())
    let lock = NSRecursiveLock()

    init(_ fault: Fault?, around inner: any Transport) {
        self.fault = fault
        self.inner = inner
        if fault == .leaks { Self.leaked.withLock { $0.append(Pipe()) } }
    }

    var isInEvent: Bool { state.withLock { $0.telling.contains(ObjectIdentifier(Thread.current)) } }

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        if fault == .locks { lock.lock() }
        defer { if fault == .locks { lock.unlock() } }
        let (call, hasFailed) = state.withLock { state in
            state.calls += 1
            return (state.calls, state.hasFailed)
        }
        if (fault == .refusesReentry && isInEvent) || (fault == .givesUp && hasFailed) {
            receiver.fail(BatonError(.transportFailed, "not now"))
            return FinishedTransmission.shared
        }
        let request = spoiled(request, call)
        let exchange = SabotagedExchange(self, request, receiver)
        state.withLock { $0.open[ObjectIdentifier(exchange)] = exchange }
        exchange.begin()
        return exchange
    }

    func shutdown() {
        switch fault {
        case .staysOpen: break
        case .ignoresShutdownInEvents where isInEvent: break
        case .leavesConnections:
            for exchange in state.withLock({ Array($0.open.values) }) {
                exchange.finish { $0.fail(BatonError(.transportClosed)) }
            }
        default: inner.shutdown()
        }
    }

    // MARK: Requests

    private func spoiled(_ request: HTTPRequest, _ call: Int) -> HTTPRequest {
        var request = request
        switch fault {
        case .shoutsMethods: request.method = HTTPMethod(rawValue: request.method.rawValue.uppercased())
        case .decodesTargets: request.target = request.target.replacingOccurrences(of: "%2B", with: "+")
        case .dropsRequestFields: request.fields = Self.last(request.fields)
        case .shortensBodies: request.body = Self.cut(request.body, 1_000)
        case .shortensLargeBodies: request.body = Self.cut(request.body, 1_000_000)
        case .closesStreamsTwice: request.body = Self.wrapped(request.body) { SpoiledReader($0, closes: 2) }
        case .leavesStreamsOpen: request.body = Self.wrapped(request.body) { SpoiledReader($0, closes: 0) }
        case .swallowsStreamFailures:
            request.body = Self.wrapped(request.body) { SpoiledReader($0, closes: 1, swallows: true) }
        case .forgetsLengths: request.body = Self.wrapped(request.body) { $0 }
        case .typesEmptyBodies where request.body.isNone: request.fields[.contentType] = "text/plain"
        case .makesForms where request.body.contentType == nil:
            request.fields[.contentType] = "application/x-www-form-urlencoded"
        case .streamsMemory:
            if let bytes = request.body.bytes {
                let stream = HTTPBodyStream.data(bytes)
                request.body = .stream(HTTPBodyStream(isReplayable: false) { try stream.open() })
            }
        case .closesConnections: request.fields["Connection"] = "close"
        case .mixesUp where call % 7 == 0 && request.path.hasPrefix("/n/"): request.target = "/n/0"
        default: break
        }
        return request
    }

    static func last(_ fields: HTTPFields) -> HTTPFields {
        var kept = HTTPFields()
        for field in fields { kept[field.name] = field.value }
        return kept
    }

    private static func cut(_ body: HTTPBody, _ count: Int) -> HTTPBody {
        body.bytes.map { .data(Data($0.prefix(count))) } ?? body
    }

    /// The stream with another reader, and of unknown length.
    private static func wrapped(
        _ body: HTTPBody, _ wrap: @escaping @Sendable (any HTTPBodyReader) -> any HTTPBodyReader
    ) -> HTTPBody {
        guard let stream = body.bodyStream else { return body }
        return .stream(HTTPBodyStream(isReplayable: false) { wrap(try stream.open()) })
    }

    private final class SpoiledReader: HTTPBodyReader {
        private let inner: any HTTPBodyReader
        private let closes: Int
        private let swallows: Bool

        init(_ inner: any HTTPBodyReader, closes: Int, swallows: Bool = false) {
            (self.inner, self.closes, self.swallows) = (inner, closes, swallows)
        }

        func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
            do {
                return try inner.read(upTo: limit, whenReady: whenReady)
            } catch {
                if swallows { return .end }
                throw error
            }
        }

        func close() { for _ in 0..<closes { inner.close() } }
    }
}
