#if os(Linux)
    internal import CBatonCurl

    /// What libcurl's result codes mean to callers.
    enum CurlFailure {
        /// The error for a transfer that ended with `result`.
        static func error(
            _ result: Int32, _ request: HTTPRequest?, _ handle: UnsafeMutablePointer<baton_curl_handle>
        ) -> BatonError {
            if handle.pointee.resend_refused {
                return context(
                    BatonError(
                        .connectionLost,
                        "a kept connection broke before an answer came; the request is not idempotent, so it was not "
                            + "sent again"), request, handle)
            }
            // A single line that is too long shows as a lack of memory, or as "too large" in newer versions.
            let isLineTooLong =
                [27, 100].contains(result) && handle.pointee.head_length > 0 && !handle.pointee.head_complete
            if handle.pointee.head_too_large || isLineTooLong {
                return context(BatonError(.invalidResponse, "the response's head is too large"), request, handle)
            }
            let text = text(of: result, handle)
            return context(BatonError(code(of: result, text), text), request, handle)
        }

        static func closed(_ request: HTTPRequest) -> BatonError {
            BatonError(.transportClosed, "the transport was shut down").with(phase: .send, request: summary(request))
        }

        /// The error with the request it is about, and whether that was under way or answered.
        static func context(
            _ error: BatonError, _ request: HTTPRequest?, _ handle: UnsafeMutablePointer<baton_curl_handle>
        ) -> BatonError {
            error.with(phase: handle.pointee.head_complete ? .receive : .send, request: request.map(summary))
        }

        private static func summary(_ request: HTTPRequest) -> String {
            "\(request.method) \(request.origin)\(request.path)"
        }

        private static func text(of result: Int32, _ handle: UnsafeMutablePointer<baton_curl_handle>) -> String {
            let general = baton_curl_describe(result).map { String(cString: $0) } ?? "result \(result)"
            let special = withUnsafePointer(to: &handle.pointee.error) { buffer in
                buffer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            return special.isEmpty ? general : special
        }

        /// The numbers are libcurl's (libcurl-errors). Some cover failures of several kinds, which only the text
        /// tells apart.
        private static func code(of result: Int32, _ text: String) -> BatonError.Code {
            switch result {
            case 1: text.contains("HTTP/0.9") || text.contains("in response") ? .invalidResponse : .unsupported
            case 3: .invalidRequest
            case 4, 48: .unsupported
            case 5, 6: .cannotFindHost
            case 7, 45, 97: .cannotConnect
            case 28: .timedOut
            case 35, 51, 53, 54, 58, 59, 60, 64, 66, 77, 80, 82, 83, 90, 91, 98: .secureConnectionFailed
            case 56 where text.contains("chunked-encoding"): .invalidResponse
            case 56 where text.contains("from proxy after CONNECT"): .cannotConnect
            case 16, 18, 52, 55, 56, 65, 92: .connectionLost
            case 8, 23, 43, 61, 63: .invalidResponse
            default: .transportFailed
            }
        }
    }
#endif
