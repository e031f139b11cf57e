public import Foundation

extension Capture {
    /// What was kept as an HTTP Archive (HAR 1.2), which browsers and other tools open.
    public func har() -> Data {
        JSONValue.object([
            "log": .object([
                "version": .string("1.2"),
                "creator": .object(["name": .string("Baton"), "version": .string("1.0")]),
                "entries": .array(exchanges.map(\.harEntry)),
            ])
        ]).data
    }
}

extension Capture.Exchange {
    fileprivate var harEntry: JSONValue {
        let milliseconds = JSONValue.double((duration?.inSeconds ?? 0) * 1_000)
        return .object([
            "startedDateTime": .string(ISO8601.format(started)),
            "time": milliseconds,
            "request": .object(harRequest),
            "response": .object(harResponse),
            "cache": .object([:]),
            "timings": .object(["send": .int(0), "wait": milliseconds, "receive": .int(0)]),
        ])
    }

    private var harRequest: [String: JSONValue] {
        let query = url.firstIndex(of: "?").map { url[url.index(after: $0)...] } ?? ""
        let pairs = query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return Self.pair(
                PercentEncoding.decodeLeniently(parts[0]),
                parts.count > 1 ? PercentEncoding.decodeLeniently(parts[1]) : "")
        }
        var request: [String: JSONValue] = [
            "method": .string(method.rawValue), "url": .string(url), "httpVersion": .string("unknown"),
            "cookies": .array([]), "headers": Self.headers(requestFields), "queryString": .array(pairs),
            "headersSize": .int(-1), "bodySize": .int(Int64(requestBody?.count ?? 0)),
        ]
        if let requestBody { request["postData"] = Self.content(requestBody, requestFields, encoding: "_encoding") }
        return request
    }

    private var harResponse: [String: JSONValue] {
        [
            "status": .int(Int64(status ?? 0)), "statusText": .string(""), "httpVersion": .string("unknown"),
            "cookies": .array([]), "headers": Self.headers(responseFields),
            "content": Self.content(responseBody ?? Data(), responseFields, encoding: "encoding"),
            "redirectURL": .string(responseFields[.location] ?? ""), "headersSize": .int(-1),
            "bodySize": .int(Int64(responseBody?.count ?? -1)), "comment": .string(error ?? ""),
        ]
    }

    private static func headers(_ fields: HTTPFields) -> JSONValue {
        .array(fields.map { pair($0.name.rawName, $0.value) })
    }

    private static func pair(_ name: String, _ value: String) -> JSONValue {
        .object(["name": .string(name), "value": .string(value)])
    }

    /// Bytes that are no UTF-8 as Base64.
    private static func content(_ body: Data, _ fields: HTTPFields, encoding: String) -> JSONValue {
        var content: [String: JSONValue] = [
            "size": .int(Int64(body.count)), "mimeType": .string(fields[.contentType] ?? "application/octet-stream"),
        ]
        if let text = String(data: body, encoding: .utf8) {
            content["text"] = .string(text)
        } else {
            content["text"] = .string(body.base64EncodedString())
            content[encoding] = .string("base64")
        }
        return .object(content)
    }
}
