#if os(Linux)
    import BatonTesting
    import Foundation

    @testable import Baton

    /// A receiver that keeps what it is told, counts ends, and lets a test wait for both.
    final class CurlProbe: TransportEvents, Sendable {
        struct State {
            var head: HTTPResponseHead?
            var body = Data()
            var chunks = 0
            var sent: [Int64] = []
            var metrics: TransportMetrics?
            var error: BatonError?
            var isWhole = false
            var ends = 0
            var afterEnd = 0
            var waiters: [(@Sendable (State) -> Bool, CheckedContinuation<Void, Never>)] = []
        }

        private let box = LockBox(State())
        private let demand: @Sendable (Int) -> Demand
        private let onEvent: @Sendable (CurlProbe) -> Void

        /// - Parameters:
        ///   - demand: answers each chunk by its number, from 1.
        ///   - onEvent: is called after each event.
        init(
            demand: @escaping @Sendable (Int) -> Demand = { _ in .more },
            onEvent: @escaping @Sendable (CurlProbe) -> Void = { _ in }
        ) {
            self.demand = demand
            self.onEvent = onEvent
        }

        var state: State { box.withLock { $0 } }

        func wait(until condition: @escaping @Sendable (State) -> Bool) async {
            await withCheckedContinuation { continuation in
                let isMet = box.withLock { state in
                    if !condition(state) { state.waiters.append((condition, continuation)) }
                    return condition(state)
                }
                if isMet { continuation.resume() }
            }
        }

        /// What there is at the end.
        func end() async -> State {
            await wait { $0.ends > 0 }
            return state
        }

        /// The whole response, however it came.
        func response() async throws -> HTTPResponse {
            let state = await end()
            if let error = state.error { throw error }
            return HTTPResponse(head: state.head!, body: state.body)
        }

        private func change(_ body: (inout State) -> Void) {
            let due = box.withLock { state in
                if state.ends > 0 { state.afterEnd += 1 }
                body(&state)
                let waiters = state.waiters
                state.waiters = waiters.filter { !$0.0(state) }
                return waiters.filter { $0.0(state) }.map(\.1)
            }
            for waiter in due { waiter.resume() }
            onEvent(self)
        }

        func receiveHead(_ head: HTTPResponseHead, token: UInt64) { change { $0.head = head } }

        func receiveChunk(_ bytes: Data, token: UInt64) -> Demand {
            let number = box.withLock { state in
                state.chunks += 1
                return state.chunks
            }
            change { $0.body += bytes }
            return demand(number)
        }

        func receiveSent(_ bytes: Int64, of total: Int64?, token: UInt64) { change { $0.sent.append(bytes) } }

        func receiveEnd(_ metrics: TransportMetrics?, token: UInt64) {
            change {
                $0.metrics = metrics
                $0.ends += 1
            }
        }

        func receiveResponse(_ response: HTTPResponse, token: UInt64) {
            change {
                $0.head = response.head
                $0.body = response.body
                $0.metrics = response.metrics
                $0.isWhole = true
                $0.ends += 1
            }
        }

        func receiveFailure(_ error: BatonError, token: UInt64) {
            change {
                $0.error = error
                $0.ends += 1
            }
        }
    }

    /// A server and a transport for one test.
    struct CurlBench {
        let server: LoopbackServer
        let transport: CurlTransport
        let origin: HTTPOrigin

        init(recording: LoopbackServer.Recording = .all, bufferBytes: Int? = nil) throws {
            server = try LoopbackServer(recording: recording, socketBufferBytes: bufferBytes)
            var configuration = CurlTransport.Configuration()
            configuration.proxy = .none
            transport = try CurlTransport(configuration: configuration)
            origin = try HTTPOrigin.split(server.baseURL).0
        }

        func request(
            _ method: HTTPMethod = .get, _ target: String = "/", fields: HTTPFields = [:], body: HTTPBody = .none
        ) -> HTTPRequest {
            HTTPRequest(method: method, origin: origin, target: target, fields: fields, body: body)
        }

        func run(_ request: HTTPRequest) async throws -> HTTPResponse {
            let probe = CurlProbe()
            _ = transport.send(request, to: TransportReceiver(probe))
            return try await probe.response()
        }

        func failure(_ request: HTTPRequest) async -> BatonError? {
            let probe = CurlProbe()
            _ = transport.send(request, to: TransportReceiver(probe))
            return await probe.end().error
        }

        /// Ends both, and returns when the transport has left nothing behind.
        func close() async {
            transport.shutdown()
            await withCheckedContinuation { continuation in transport.whenClosed { continuation.resume() } }
            server.stop()
        }
    }

    /// A body that yields what a test puts in.
    final class PipeBody: HTTPBodyReader, Sendable {
        private struct State {
            var pieces: [Data] = []
            var isEnded = false
            var error: BatonError?
            var whenReady: (@Sendable () -> Void)?
            var closes = 0
        }

        private let box = LockBox(State())

        var closes: Int { box.withLock { $0.closes } }

        func put(_ text: String) { change { $0.pieces.append(Data(text.utf8)) } }
        func finish() { change { $0.isEnded = true } }
        func fail(_ error: BatonError) { change { $0.error = error } }

        private func change(_ body: (inout State) -> Void) {
            let ready = box.withLock { state in
                body(&state)
                defer { state.whenReady = nil }
                return state.whenReady
            }
            ready?()
        }

        func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
            try box.withLock { state throws(BatonError) in
                if let error = state.error { throw error }
                if !state.pieces.isEmpty { return .bytes(state.pieces.removeFirst()) }
                if state.isEnded { return .end }
                state.whenReady = whenReady
                return .later
            }
        }

        func close() { box.withLock { $0.closes += 1 } }
    }
#endif
