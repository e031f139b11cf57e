#if os(Linux)
    internal import CBatonCurl
    internal import Foundation

    extension UnsafeMutablePointer where Pointee == baton_curl_handle {
        /// Tells libcurl what to send.
        func set(_ request: HTTPRequest, url: String, upload: CurlUpload?) throws(BatonError) {
            let method = request.method
            guard request.target.utf8.first == UInt8(ascii: "/") else {
                throw refused(request, "its target does not begin with a slash")
            }
            guard method.isToken else { throw refused(request, "its method is not a token (RFC 9110, 5.6.2)") }
            guard method != .connect else {
                throw CurlFailure.context(
                    BatonError(.unsupported, "CONNECT cannot be sent as a request"), request, self)
            }
            let bytes = request.body.bytes ?? (method.expectsBody ? Data() : nil)
            let kind: baton_curl_body_kind =
                if upload != nil { BATON_CURL_STREAM } else if method == .head { BATON_CURL_HEAD } else if bytes != nil
                {
                    BATON_CURL_BYTES
                } else { BATON_CURL_NO_BODY }
            if method == .head, request.body.length != 0 { throw refused(request, "a HEAD request has no body") }
            try setFields(request, hasBody: kind == BATON_CURL_STREAM || kind == BATON_CURL_BYTES)
            pointee.may_resend = method.isIdempotent

            let secure = request.origin.scheme == "https"
            let result: Int32
            switch kind {
            case BATON_CURL_NO_BODY:
                result = setTarget(url, secure, method == .get ? nil : method, kind)
            case BATON_CURL_HEAD:
                result = setTarget(url, secure, nil, kind)
            case BATON_CURL_STREAM:
                result = setTarget(url, secure, method == .put ? nil : method, kind, length: upload?.length ?? -1)
            default:
                let bytes = bytes ?? Data()
                result = bytes.withUnsafeBytes {
                    setTarget(
                        url, secure, method == .post ? nil : method, kind, $0.baseAddress, length: Int64($0.count))
                }
            }
            if result != 0 { throw CurlFailure.error(result, request, self) }
        }

        private func setTarget(
            _ url: String, _ secure: Bool, _ method: HTTPMethod?, _ kind: baton_curl_body_kind,
            _ bytes: UnsafeRawPointer? = nil, length: Int64 = 0
        ) -> Int32 {
            // A String that is passed as it is would be copied first.
            url.withCString { url in
                guard let method else { return baton_curl_request_set(self, url, secure, nil, kind, bytes, length) }
                return baton_curl_request_set(self, url, secure, method.rawValue, kind, bytes, length)
            }
        }

        /// The fields in their order. What frames the body is libcurl's to say; what it would add is kept out.
        private func setFields(_ request: HTTPRequest, hasBody: Bool) throws(BatonError) {
            var hasAccept = false
            var hasCodings = false
            var hasType = false
            var hasExpect = false
            for line in request.fields {
                switch line.name {
                case .contentLength where hasBody || line.value != "0": continue
                case .transferEncoding: continue
                case .accept: hasAccept = true
                case .acceptEncoding: hasCodings = true
                case .contentType: hasType = true
                case .expect: hasExpect = true
                default: break
                }
                guard line.name.isToken, add(line.name.rawName, line.value) else {
                    throw refused(
                        request,
                        "the field \(line.name.rawName.debugDescription) has a name or value that may not be sent")
                }
            }
            if !hasCodings { _ = baton_curl_request_codings(self) }
            if !hasAccept { _ = baton_curl_request_suppress(self, "Accept") }
            if hasBody, !hasExpect { _ = baton_curl_request_suppress(self, "Expect") }
            if hasBody, !hasType { _ = baton_curl_request_suppress(self, "Content-Type") }
        }

        private func add(_ name: String, _ value: String) -> Bool {
            name.withBytes { name in
                value.withBytes { value in
                    baton_curl_request_field(self, name.baseAddress, name.count, value.baseAddress, value.count)
                }
            }
        }

        private func refused(_ request: HTTPRequest, _ reason: String) -> BatonError {
            CurlFailure.context(BatonError(.invalidRequest, reason), request, self)
        }
    }

    extension HTTPFieldName {
        /// What the server is to agree to before the body is sent (RFC 9110, 10.1.1).
        fileprivate static let expect: HTTPFieldName = "Expect"
    }

    extension String {
        /// The text's UTF-8, without a copy where it is native.
        fileprivate func withBytes<Result>(_ body: (UnsafeBufferPointer<CChar>) -> Result) -> Result {
            var copy = self
            return copy.withUTF8 { bytes in bytes.withMemoryRebound(to: CChar.self, body) }
        }
    }
#endif
