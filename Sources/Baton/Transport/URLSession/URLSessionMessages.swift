internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension URLRequest {
    /// Attempts are timed by the engine. A week; Foundation on Linux counts it in milliseconds and needs a number.
    static let noTimeout: TimeInterval = 7 * 24 * 3600

    /// The request as the session wants it. Framing fields are the session's own business and are left out.
    init(_ request: HTTPRequest, _ body: URLSessionBody) throws(BatonError) {
        // Foundation drops or rewrites what is wrong in silence, and a method would be written as it is.
        guard request.method.isToken else {
            throw BatonError(.invalidRequest, "the method is not a token (RFC 9110, 5.6.2)")
        }
        guard request.target.utf8.first == UInt8(ascii: "/"), let url = request.url else {
            throw BatonError(.invalidRequest, "the target is no path with a leading slash, or not percent-encoded")
        }
        if let invalid = request.fields.firstInvalid {
            throw BatonError(.invalidRequest, "the field \(invalid.name) \(invalid.reason)")
        }
        if body.length > 0 && (request.method == .get || request.method == .head) {
            throw BatonError(.invalidRequest, "a \(request.method) request has a body: use another method")
        }
        #if canImport(FoundationNetworking)
            guard request.avoidedNetworks.isEmpty else { throw .networksUnknown }
        #endif
        self.init(url: url, timeoutInterval: Self.noTimeout)
        #if !canImport(FoundationNetworking)
            if request.avoidedNetworks.contains(.cellular) { allowsCellularAccess = false }
            if request.avoidedNetworks.contains(.expensive) { allowsExpensiveNetworkAccess = false }
            if request.avoidedNetworks.contains(.constrained) { allowsConstrainedNetworkAccess = false }
        #endif
        httpMethod = request.method.rawValue
        httpShouldHandleCookies = false
        for line in request.fields where line.name != .contentLength && line.name != .transferEncoding {
            addLine(line)
        }
        if !request.fields.contains(.contentType) && !request.body.isNone {
            // Without one, a POST would be called a form.
            let type = request.body.contentType ?? (body.length > 0 ? "application/octet-stream" : nil)
            setValue(type, forHTTPHeaderField: "Content-Type")
        }
        if body.length > 0 {
            body.attach(to: &self)
        } else if request.method.expectsBody {
            // Makes the session say that the body is empty.
            httpBody = Data()
        }
    }

    private mutating func addLine(_ line: HTTPFields.Line) {
        let name = line.name.rawName
        // Cookies are the one list that a comma does not separate (RFC 6265, 5.4).
        if line.name == .cookie, let before = value(forHTTPHeaderField: name) {
            setValue("\(before); \(line.value)", forHTTPHeaderField: name)
        } else {
            addValue(line.value, forHTTPHeaderField: name)
        }
    }
}

extension HTTPResponseHead {
    /// The head with its fields in the order of their names, because the session keeps none.
    init(_ response: HTTPURLResponse) {
        var lines: [HTTPFields.Line] = []
        lines.reserveCapacity(response.allHeaderFields.count)
        for (name, value) in response.allHeaderFields {
            guard let text = name as? String, let value = value as? String else { continue }
            let name = HTTPFieldName(text)
            // The session joins lines with commas, which is wrong for this field alone (RFC 6265, 3).
            let values = name == .setCookie ? SetCookie.lines(in: value) : [value]
            for value in values { lines.append(HTTPFields.Line(name: name, value: value)) }
        }
        lines.sort { $0.name.rawName < $1.name.rawName }
        self.init(status: response.statusCode, fields: HTTPFields(lines))
    }
}
