internal import Baton

extension LoopbackServer.Reply {
    /// Whether a reply with this status may have a body (RFC 9110, 6.4.1).
    var allowsBody: Bool { status >= 200 && status != 204 && status != 304 }

    /// Appends the status line and the fields.
    func appendHead(to bytes: inout [UInt8], bodyLength: Int64, says persistence: Persistence?) {
        bytes.reserveCapacity(bytes.count + 64 + 48 * fields.count)
        Self.appendStatusLine(status, reason, to: &bytes)
        Self.append(fields, to: &bytes)
        switch framing {
        case .length where allowsBody && !fields.contains(.contentLength) && !fields.contains(.transferEncoding):
            bytes.append(contentsOf: "Content-Length: ".utf8)
            bytes.append(contentsOf: String(bodyLength).utf8)
            bytes.append(contentsOf: "\r\n".utf8)
        case .chunked where allowsBody && !fields.contains(.transferEncoding):
            bytes.append(contentsOf: "Transfer-Encoding: chunked\r\n".utf8)
        default: break
        }
        switch persistence {
        case .close: bytes.append(contentsOf: "Connection: close\r\n".utf8)
        case .keepAlive: bytes.append(contentsOf: "Connection: keep-alive\r\n".utf8)
        case nil: break
        }
        bytes.append(contentsOf: "\r\n".utf8)
    }

    fileprivate static func appendStatusLine(_ status: Int, _ reason: String?, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: "HTTP/1.1 ".utf8)
        bytes.append(contentsOf: String(status).utf8)
        bytes.append(0x20)
        bytes.append(contentsOf: (reason ?? usualReason(status)).utf8)
        bytes.append(contentsOf: "\r\n".utf8)
    }

    fileprivate static func append(_ fields: HTTPFields, to bytes: inout [UInt8]) {
        for line in fields {
            bytes.append(contentsOf: line.name.rawName.utf8)
            bytes.append(contentsOf: ": ".utf8)
            bytes.append(contentsOf: line.value.utf8)
            bytes.append(contentsOf: "\r\n".utf8)
        }
    }

    private static func usualReason(_ status: Int) -> String {
        switch status {
        case 100: "Continue"
        case 101: "Switching Protocols"
        case 103: "Early Hints"
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 413: "Content Too Large"
        case 429: "Too Many Requests"
        case 500: "Internal Server Error"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        default: ""
        }
    }
}

extension LoopbackServer.Reply.Interim {
    func append(to bytes: inout [UInt8]) {
        LoopbackServer.Reply.appendStatusLine(status, nil, to: &bytes)
        LoopbackServer.Reply.append(fields, to: &bytes)
        bytes.append(contentsOf: "\r\n".utf8)
    }
}
