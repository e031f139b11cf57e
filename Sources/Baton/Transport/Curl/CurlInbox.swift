#if os(Linux)
    internal import CBatonCurl

    /// What other threads have for the loop's. Whoever puts something in wakes the loop only when it sleeps.
    final class CurlInbox: Sendable {
        /// Names one exchange; the slot is used again, with another generation.
        struct Ticket: Sendable, Equatable {
            var slot: UInt32
            var generation: UInt32
        }

        struct Sending: Sendable {
            let ticket: Ticket
            let request: HTTPRequest
            let receiver: TransportReceiver
        }

        struct Signal: Sendable {
            enum Kind: Sendable { case cancel, resume, readable }
            let kind: Kind
            let ticket: Ticket
        }

        /// When a loop is to end.
        enum End: Sendable { case now, afterLastExchange }

        private enum Phase { case idle, running, ended }

        private struct State {
            var phase = Phase.idle
            var end: End?
            var sendings: [Sending?] = []
            var signals: [Signal] = []
            var generations: [UInt32] = []
            var freeSlots: [UInt32] = []
            /// Set while the loop sleeps.
            var sleeper: CurlWaker?
            var closeObservers: [@Sendable () -> Void] = []

            mutating func takeSleeper() -> CurlWaker? {
                defer { sleeper = nil }
                return sleeper
            }

            mutating func takeObservers() -> [@Sendable () -> Void] {
                defer { closeObservers = [] }
                return closeObservers
            }
        }

        private let configuration: CurlTransport.Configuration
        private let box = LockBox(State())

        init(_ configuration: CurlTransport.Configuration) { self.configuration = configuration }

        // MARK: Any thread

        func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
            enum Next { case refuse, start, wake(CurlWaker), nothing }
            let (ticket, next) = box.withLock { state -> (Ticket, Next) in
                guard state.phase != .ended, state.end == nil else {
                    return (Ticket(slot: 0, generation: 0), .refuse)
                }
                let slot: UInt32
                if let free = state.freeSlots.popLast() {
                    slot = free
                } else {
                    slot = UInt32(state.generations.count)
                    state.generations.append(0)
                }
                let ticket = Ticket(slot: slot, generation: state.generations[Int(slot)])
                state.sendings.append(Sending(ticket: ticket, request: request, receiver: receiver))
                if state.phase == .idle {
                    state.phase = .running
                    return (ticket, .start)
                }
                return (ticket, state.takeSleeper().map { .wake($0) } ?? .nothing)
            }
            switch next {
            case .refuse:
                receiver.fail(CurlFailure.closed(request))
                return FinishedTransmission.shared
            case .start: startLoop()
            case .wake(let waker): waker.wake()
            case .nothing: break
            }
            return CurlTransmission(inbox: self, ticket: ticket)
        }

        /// For an exchange that is over it does nothing.
        func signal(_ kind: Signal.Kind, _ ticket: Ticket) {
            let sleeper = box.withLock { state -> CurlWaker? in
                guard state.phase == .running, state.generations[Int(ticket.slot)] == ticket.generation else {
                    return nil
                }
                state.signals.append(Signal(kind: kind, ticket: ticket))
                return state.takeSleeper()
            }
            sleeper?.wake()
        }

        func close(_ end: End) {
            let (sleeper, observers) = box.withLock { state -> (CurlWaker?, [@Sendable () -> Void]) in
                if state.end != .now { state.end = end }
                guard state.phase == .idle else { return (state.takeSleeper(), []) }
                state.phase = .ended
                return (nil, state.takeObservers())
            }
            sleeper?.wake()
            for observer in observers { observer() }
        }

        func whenClosed(_ body: @escaping @Sendable () -> Void) {
            let isClosed = box.withLock { state in
                if state.phase != .ended { state.closeObservers.append(body) }
                return state.phase == .ended
            }
            if isClosed { body() }
        }

        private func startLoop() {
            let start = Unmanaged.passRetained(Start(inbox: self, configuration: configuration))
            let result = baton_curl_start_thread(
                "baton.curl", { Unmanaged<Start>.fromOpaque($0!).takeRetainedValue().run() }, start.toOpaque())
            guard result != 0 else { return }
            start.release()
            abandon(BatonError(.transportFailed, "the event loop's thread could not be started (errno \(result))"))
        }

        private final class Start: Sendable {
            let inbox: CurlInbox
            let configuration: CurlTransport.Configuration

            init(inbox: CurlInbox, configuration: CurlTransport.Configuration) {
                self.inbox = inbox
                self.configuration = configuration
            }

            func run() {
                do {
                    try CurlLoop(inbox, configuration).run()
                } catch {
                    return inbox.abandon(error)
                }
                inbox.finish()
            }
        }

        // MARK: The loop's thread

        /// Moves what came in to the arrays, which are empty, and takes the slots of finished exchanges back.
        /// Where nothing came in and the loop is not to end, the loop counts as asleep afterwards.
        func take(
            _ sendings: inout [Sending?], _ signals: inout [Signal], freed: inout [UInt32], orSleepWith waker: CurlWaker
        ) -> End? {
            box.withLock { state in
                for slot in freed {
                    state.generations[Int(slot)] &+= 1
                    state.freeSlots.append(slot)
                }
                freed.removeAll(keepingCapacity: true)
                swap(&state.sendings, &sendings)
                swap(&state.signals, &signals)
                let isIdle = sendings.isEmpty && signals.isEmpty && state.end == nil
                state.sleeper = isIdle ? waker : nil
                return state.end
            }
        }

        /// Refuses all that comes from now on.
        func refuse() -> [Sending] {
            box.withLock { state in
                state.end = .now
                state.sleeper = nil
                defer { state.sendings = [] }
                return state.sendings.compactMap { $0 }
            }
        }

        private func finish() {
            let observers = box.withLock { state in
                state.phase = .ended
                state.sleeper = nil
                return state.takeObservers()
            }
            for observer in observers { observer() }
        }

        /// No loop came about: what waits for it fails, and the next request tries again.
        private func abandon(_ error: BatonError) {
            let (sendings, observers) = box.withLock { state -> ([Sending], [@Sendable () -> Void]) in
                let sendings = state.sendings.compactMap { $0 }
                state.sendings = []
                state.signals = []
                for sending in sendings {
                    state.generations[Int(sending.ticket.slot)] &+= 1
                    state.freeSlots.append(sending.ticket.slot)
                }
                state.phase = state.end == nil ? .idle : .ended
                return (sendings, state.phase == .ended ? state.takeObservers() : [])
            }
            for sending in sendings { sending.receiver.fail(error) }
            for observer in observers { observer() }
        }
    }

    /// Ends the loop's sleep. The descriptor lives as long as anyone may still want to wake the loop.
    final class CurlWaker: Sendable {
        let descriptor: Int32

        /// Nil when there are no descriptors left.
        init?() {
            descriptor = baton_curl_waker_open()
            if descriptor < 0 { return nil }
        }

        deinit { if descriptor >= 0 { baton_curl_waker_close(descriptor) } }

        func wake() { baton_curl_waker_signal(descriptor) }
    }

    /// The handle that a caller has on its exchange.
    final class CurlTransmission: Transmission {
        private let inbox: CurlInbox
        private let ticket: CurlInbox.Ticket

        init(inbox: CurlInbox, ticket: CurlInbox.Ticket) {
            self.inbox = inbox
            self.ticket = ticket
        }

        func cancel() { inbox.signal(.cancel, ticket) }
        func resume() { inbox.signal(.resume, ticket) }
    }
#endif
