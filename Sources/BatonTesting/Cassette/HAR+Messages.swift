internal import Baton
internal import Foundation

/// From our messages to a recording, and back.
extension HAR.Entry {
    init(_ request: HTTPRequest, _ response: HTTPResponse, date: Date, timings: HAR.Timings) {
        let version =
            switch response.metrics?.protocolName?.lowercased() {
            case "h2", "http/2", "http/2.0": "HTTP/2"
            case "h3": "HTTP/3"
            case "http/1.0": "HTTP/1.0"
            case "http/1.1": "HTTP/1.1"
            default: "unknown"
            }
        startedDateTime = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        self.timings = timings
        time = timings.total
        self.request = HAR.Request(
            method: request.method.rawValue, url: request.urlString, httpVersion: version,
            headers: request.fields.map { HAR.Header(name: $0.name.rawName, value: $0.value) },
            queryString: QueryText.pairs(request.query ?? "").map { HAR.Header(name: $0.name, value: $0.value) },
            postData: request.body.bytes.map { HAR.PostData($0, request.fields[.contentType]) },
            bodySize: request.body.bytes?.count ?? 0)
        self.response = HAR.Response(
            status: response.status, httpVersion: version,
            headers: response.fields.map { HAR.Header(name: $0.name.rawName, value: $0.value) },
            content: HAR.Content(response.body, response.fields[.contentType]),
            redirectURL: response.fields[.location] ?? "",
            bodySize: response.metrics?.bodyBytesReceived.map { Int($0) } ?? response.body.count)
    }

    /// The recording as it may reach the disk.
    func redacted(by redaction: Redaction) -> HAR.Entry {
        var copy = self
        copy.request.url = redaction.url(request.url)
        copy.request.headers = Self.redacted(request.headers, redaction)
        copy.request.queryString = QueryText.pairs(copy.request.url.drop { $0 != "?" }.dropFirst().prefix { $0 != "#" })
            .map { HAR.Header(name: $0.name, value: $0.value) }
        if let post = request.postData {
            copy.request.postData = HAR.PostData(redaction.body(post.bytes, contentType: post.mimeType), post.mimeType)
        }
        copy.response.headers = Self.redacted(response.headers, redaction)
        copy.response.redirectURL = redaction.url(response.redirectURL)
        let type = response.content.mimeType
        copy.response.content = HAR.Content(redaction.body(response.content.bytes, contentType: type), type)
        return copy
    }

    private static func redacted(_ headers: [HAR.Header], _ redaction: Redaction) -> [HAR.Header] {
        headers.map { HAR.Header(name: $0.name, value: redaction.value(of: $0.name, $0.value)) }
    }

    /// The request that was recorded; nil when it is none that a client could send, such as a `data:` URL.
    var httpRequest: HTTPRequest? {
        let fields = HTTPFields(
            request.headers.filter { !$0.name.hasPrefix(":") }
                .map { HTTPFields.Line(name: HTTPFieldName($0.name), value: $0.value) })
        var body = HTTPBody.none
        if let post = request.postData { body = .data(post.bytes, contentType: post.mimeType) }
        return try? HTTPRequest(
            method: HTTPMethod(rawValue: request.method), url: Self.withoutUser(request.url), fields: fields, body: body
        )
    }

    private static func withoutUser(_ url: String) -> String {
        guard let mark = url.firstRange(of: "://") else { return url }
        let authority = url[mark.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return url }
        return String(url[..<mark.upperBound] + url[url.index(after: at)...])
    }

    /// The response that was recorded; nil when there was none.
    ///
    /// The body is recorded as it was decoded, so the fields that tell how it travelled are left out when they no
    /// longer fit.
    var httpResponse: HTTPResponse? {
        guard response.status > 0 else { return nil }
        let body = response.content.bytes
        var fields = HTTPFields(
            response.headers.filter { !$0.name.hasPrefix(":") }
                .map { HTTPFields.Line(name: HTTPFieldName($0.name), value: $0.value) })
        fields[.transferEncoding] = nil
        if fields.contains(.contentEncoding) || fields[.contentLength] != String(body.count) {
            fields[.contentEncoding] = nil
            if request.method != "HEAD" { fields[.contentLength] = nil }
        }
        return HTTPResponse(status: response.status, fields: fields, body: body)
    }
}

extension HAR.PostData {
    init(_ bytes: Data, _ contentType: String?) {
        mimeType = contentType ?? "application/octet-stream"
        (text, encoding) = RecordedText.encode(bytes)
    }

    var bytes: Data {
        if let text { return RecordedText.decode(text, encoding) }
        let pairs = (params ?? []).map { (PercentEncoding.encode($0.name, for: .form), $0.value) }
        return Data(pairs.map { "\($0)=\(PercentEncoding.encode($1, for: .form))" }.joined(separator: "&").utf8)
    }
}

extension HAR.Content {
    init(_ bytes: Data, _ contentType: String?) {
        size = bytes.count
        mimeType = contentType ?? "x-unknown"
        (text, encoding) = RecordedText.encode(bytes)
    }

    var bytes: Data { RecordedText.decode(text ?? "", encoding) }
}

/// Bytes as text of JSON.
enum RecordedText {
    /// UTF-8 as it is, everything else as Base64.
    static func encode(_ bytes: Data) -> (text: String, encoding: String?) {
        // Not decoded with repairs, which takes milliseconds for each of them; and compared, because a byte order mark
        // would be dropped.
        if let text = String(data: bytes, encoding: .utf8), Data(text.utf8) == bytes { return (text, nil) }
        return (bytes.base64EncodedString(), "base64")
    }

    static func decode(_ text: String, _ encoding: String?) -> Data {
        if encoding?.lowercased() == "base64", let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) {
            return data
        }
        return Data(text.utf8)
    }
}
