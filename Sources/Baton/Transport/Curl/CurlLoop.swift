#if os(Linux)
    internal import CBatonCurl

    /// The event loop: adds, removes and ends exchanges. It belongs to the one thread that runs it, and is the only
    /// place where libcurl is called.
    final class CurlLoop {
        private let inbox: CurlInbox
        private let waker: CurlWaker
        private let settings: CurlSettings
        private let loop: OpaquePointer
        /// The exchange of each slot.
        private var exchanges: [CurlExchange?] = []
        private var active = 0
        /// Exchanges with handles to be used again; an easy handle is costly to make.
        private var spare: [CurlExchange] = []
        private var freedSlots: [UInt32] = []

        private static let spareLimit = 256

        init(_ inbox: CurlInbox, _ configuration: CurlTransport.Configuration) throws(BatonError) {
            guard let waker = CurlWaker(),
                let loop = baton_curl_loop_make(waker.descriptor, configuration.maxIdleConnections)
            else { throw BatonError(.transportFailed, "the event loop could not be set up: no descriptors are left") }
            self.inbox = inbox
            self.waker = waker
            self.loop = loop
            settings = CurlSettings(configuration, callbacks: CurlExchange.callbacks)
        }

        deinit {
            for exchange in spare { baton_curl_handle_free(exchange.handle) }
            spare = []
            baton_curl_loop_free(loop)
            settings.free()
        }

        /// Returns when the inbox says so.
        func run() {
            var sendings: [CurlInbox.Sending?] = []
            var signals: [CurlInbox.Signal] = []
            while true {
                let end = inbox.take(&sendings, &signals, freed: &freedSlots, orSleepWith: waker)
                let isIdle = sendings.isEmpty && signals.isEmpty
                for place in sendings.indices {
                    // Moved out of its place rather than copied.
                    if let sending = sendings[place].take() { start(sending) }
                }
                sendings.removeAll(keepingCapacity: true)
                for signal in signals { act(on: signal) }
                signals.removeAll(keepingCapacity: true)
                if let end, end == .now || (isIdle && active == 0) { break }
                if !isIdle {
                    baton_curl_loop_run_due(loop)
                    report()
                }
                baton_curl_loop_wait(loop, !isIdle)
                report()
            }
            failEverything()
        }

        /// Ends what is done, and hands over what else was received, so that nothing is held back.
        private func report() {
            var result: Int32 = 0
            while let handle = baton_curl_loop_next_done(loop, &result) {
                finish(CurlExchange.of(handle), result)
            }
            while let handle = baton_curl_loop_next_dirty(loop) {
                let exchange = CurlExchange.of(handle)
                if !exchange.isHeld { exchange.deliver() }
            }
        }

        private func start(_ sending: consuming CurlInbox.Sending) {
            let slot = Int(sending.ticket.slot)
            var refused: UnsafePointer<CChar>?
            guard
                let exchange = spare.popLast()
                    ?? settings.makeHandle(loop: loop, refused: &refused).map(CurlExchange.init)
            else {
                freedSlots.append(sending.ticket.slot)
                return sending.receiver.fail(BatonError(.transportFailed, "libcurl has no memory for a handle"))
            }
            let acceptsAnyCertificate = settings.acceptsAnyCertificate(for: sending.request)
            do {
                try exchange.begin(sending, inbox, acceptsAnyCertificate: acceptsAnyCertificate)
            } catch {
                let receiver = exchange.receiver
                exchange.clear()
                spare.append(exchange)
                freedSlots.append(UInt32(slot))
                receiver?.fail(error)
                return
            }
            while exchanges.count <= slot { exchanges.append(nil) }
            exchanges[slot] = exchange
            active += 1
            let result = baton_curl_loop_add(loop, exchange.handle)
            if result != 0 {
                end(exchange, with: BatonError(.transportFailed, "libcurl took no further request (\(result))"))
            }
        }

        private func act(on signal: CurlInbox.Signal) {
            let slot = Int(signal.ticket.slot)
            guard slot < exchanges.count, let exchange = exchanges[slot], exchange.ticket == signal.ticket else {
                return
            }
            switch signal.kind {
            case .cancel:
                end(exchange, with: exchange.failure(.cancelled, "the request was cancelled"))
            case .readable:
                exchange.resumeSending()
            case .resume:
                exchange.resumeReceiving()
                if exchange.endsWhenResumed, !exchange.isHeld { finish(exchange, 0) }
            }
        }

        /// The transfer is over and off the loop.
        private func finish(_ exchange: CurlExchange, _ result: Int32) {
            // What came with the end belongs to a failure, too.
            if exchange.isHeadDelivered || result != 0, !exchange.isHeld { exchange.deliver() }
            if result != 0 { return end(exchange, with: exchange.failure(result)) }
            if exchange.isHeld {
                exchange.endsWhenResumed = true
                return
            }
            guard let ending = exchange.ending(), let receiver = exchange.receiver else {
                return end(
                    exchange, with: exchange.failure(.invalidResponse, "the response has no head that can be read"))
            }
            release(exchange, reuse: true)
            switch ending {
            case .complete(let response): receiver.complete(response)
            case .end(let metrics): receiver.end(metrics)
            }
        }

        private func end(_ exchange: CurlExchange, with error: BatonError) {
            let receiver = exchange.receiver
            if exchange.handle.pointee.active { baton_curl_loop_remove(loop, exchange.handle) }
            release(exchange, reuse: false)
            receiver?.fail(error)
        }

        /// After a failure a handle is not used again: it may still hold what it had paused or read ahead.
        private func release(_ exchange: CurlExchange, reuse: Bool) {
            let ticket = exchange.ticket
            exchange.clear()
            exchanges[Int(ticket.slot)] = nil
            active -= 1
            freedSlots.append(ticket.slot)
            if reuse, spare.count < Self.spareLimit {
                spare.append(exchange)
            } else {
                discard(exchange)
            }
        }

        private func discard(_ exchange: CurlExchange) {
            baton_curl_loop_forget(loop, exchange.handle)
            baton_curl_handle_free(exchange.handle)
        }

        private func failEverything() {
            for sending in inbox.refuse() { sending.receiver.fail(CurlFailure.closed(sending.request)) }
            for exchange in exchanges {
                if let exchange {
                    end(exchange, with: exchange.failure(.transportClosed, "the transport was shut down"))
                }
            }
        }
    }
#endif
