#if os(Linux)
    internal import CBatonCurl
    internal import Foundation

    /// One exchange on the loop's thread, from its request to its end; then the next one, on the same easy handle.
    final class CurlExchange {
        let handle: UnsafeMutablePointer<baton_curl_handle>
        private(set) var ticket = CurlInbox.Ticket(slot: 0, generation: 0)
        private(set) var receiver: TransportReceiver?
        private var request: HTTPRequest?
        private var url = ""
        private var upload: CurlUpload?
        private var inbox: CurlInbox?
        private var peer = CurlPeer()
        private(set) var isHeadDelivered = false
        private var isSendingPaused = false
        /// The receiver wants nothing before it says so; that includes the end.
        private(set) var isHeld = false
        /// The transfer is complete, but the receiver was not ready to hear of it.
        var endsWhenResumed = false

        init(_ handle: UnsafeMutablePointer<baton_curl_handle>) {
            self.handle = handle
            handle.pointee.context = Unmanaged.passUnretained(self).toOpaque()
        }

        static func of(_ handle: UnsafeMutablePointer<baton_curl_handle>) -> CurlExchange {
            Unmanaged<CurlExchange>.fromOpaque(handle.pointee.context).takeUnretainedValue()
        }

        /// Sets the handle up for a request.
        func begin(
            _ sending: consuming CurlInbox.Sending, _ inbox: CurlInbox, acceptsAnyCertificate: Bool
        ) throws(BatonError) {
            (ticket, receiver) = (sending.ticket, sending.receiver)
            let request = sending.request
            self.request = request
            url = request.urlString
            self.inbox = inbox
            baton_curl_request_begin(handle)
            // Before the handle is set up, and for each exchange: the one before it may have gone to another host.
            guard baton_curl_request_accept_any_certificate(handle, acceptsAnyCertificate) else {
                throw failure(.transportFailed, "libcurl does not take back that any certificate is accepted")
            }
            upload = request.body.isNone ? nil : try CurlUpload(request)
            try handle.set(request, url: url, upload: upload)
        }

        /// Forgets everything about the exchange, so that nothing of it outlives its end.
        func clear() {
            upload?.close()
            upload = nil
            receiver = nil
            request = nil
            inbox = nil
            url = ""
            isHeadDelivered = false
            isSendingPaused = false
            isHeld = false
            endsWhenResumed = false
        }

        // MARK: Receiving

        /// Hands over what has been received and sent since the last time.
        func deliver() {
            guard let receiver else { return }
            upload?.reportProgress(to: receiver)
            guard handle.pointee.head_complete else { return }
            if !isHeadDelivered {
                isHeadDelivered = true
                receiver.head(CurlHead.parse(handle) ?? HTTPResponseHead(status: 0))
            }
            guard let body = handle.takeBody() else { return }
            if receiver.chunk(body) == .wait {
                isHeld = true
                handle.pointee.held = true
            }
        }

        func resumeReceiving() {
            guard isHeld else { return }
            isHeld = false
            handle.pointee.held = false
            guard handle.pointee.active else { return }
            _ = baton_curl_handle_pause(handle, false, isSendingPaused)
        }

        enum Ending {
            case complete(HTTPResponse)
            case end(TransportMetrics)
        }

        /// What to tell the receiver at the end of a complete response; nil when its head makes no sense.
        func ending() -> Ending? {
            if let upload, let receiver { upload.reportProgress(to: receiver) }
            let metrics = handle.metrics(isUpload: upload != nil, peer: &peer)
            if isHeadDelivered { return .end(metrics) }
            guard let head = CurlHead.parse(handle) else { return nil }
            return .complete(HTTPResponse(head: head, body: handle.takeBody() ?? Data(), metrics: metrics, url: url))
        }

        func failure(_ result: Int32) -> BatonError {
            let error =
                upload?.failure.map { CurlFailure.context($0, request, handle) }
                ?? CurlFailure.error(result, request, handle)
            let metrics = handle.metrics(isUpload: upload != nil, isFailure: true, peer: &peer)
            return metrics == TransportMetrics() ? error : error.with(metrics: metrics)
        }

        func failure(_ code: BatonError.Code, _ message: String) -> BatonError {
            CurlFailure.context(BatonError(code, message), request, handle)
        }

        // MARK: Sending

        func resumeSending() {
            guard isSendingPaused, handle.pointee.active else { return }
            isSendingPaused = false
            _ = baton_curl_handle_pause(handle, isHeld, false)
        }

        private func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
            guard let upload, let inbox else { return Int(BATON_CURL_ABORT) }
            let ticket = ticket
            switch upload.read(into: buffer, whenReady: { inbox.signal(.readable, ticket) }) {
            case .bytes(let count): return count
            case .later:
                isSendingPaused = true
                return Int(BATON_CURL_PAUSE)
            case .failed: return Int(BATON_CURL_ABORT)
            }
        }

        static let callbacks = baton_curl_callbacks(
            deliver: { handle in
                let exchange = CurlExchange.of(handle!)
                exchange.deliver()
                return !exchange.isHeld
            },
            read: { handle, buffer, size in
                CurlExchange.of(handle!).read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size))
            },
            rewind: { handle in CurlExchange.of(handle!).upload?.rewind() ?? false })
    }

    extension UnsafeMutablePointer where Pointee == baton_curl_handle {
        /// The bytes of the body that were received and not taken yet; nil when there are none.
        fileprivate func takeBody() -> Data? {
            guard pointee.body_length > 0 else { return nil }
            defer { pointee.body_length = 0 }
            return Data(bytes: pointee.body, count: pointee.body_length)
        }
    }
#endif
