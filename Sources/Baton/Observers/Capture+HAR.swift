public import Foundation

extension Capture {
    /// What was kept as an HTTP Archive (HAR 1.2), which browsers and other tools open.
    public func har() -> Data { HARLog(pages: [], entries: exchanges).data }
}

/// An HTTP Archive of exchanges whose secrets are gone.
struct HARLog {
    /// What entries belong to: a run.
    struct Page {
        var name: String
        var started: Date
    }

    var pages: [Page]
    var entries: [Capture.Exchange]

    var data: Data {
        var log: [String: JSONValue] = [
            "version": .string("1.2"),
            "creator": .object(["name": .string("Baton"), "version": .string("1.0")]),
            "entries": .array(entries.map(\.harEntry)),
        ]
        if !pages.isEmpty {
            log["pages"] = .array(
                pages.map { page in
                    .object([
                        "id": .string(page.name), "title": .string(page.name), "pageTimings": .object([:]),
                        "startedDateTime": .string(ISO8601.format(page.started)),
                    ])
                })
        }
        return JSONValue.object(["log": .object(log)]).data
    }
}

extension Capture.Exchange {
    fileprivate var harEntry: JSONValue {
        let milliseconds = JSONValue.double((duration?.inSeconds ?? 0) * 1_000)
        var entry: [String: JSONValue] = [
            "startedDateTime": .string(ISO8601.format(started)),
            "time": milliseconds,
            "request": .object(harRequest),
            "response": .object(harResponse),
            "cache": .object([:]),
            "timings": .object(harTimings),
        ]
        if let page { entry["pageref"] = .string(page) }
        if let address = metrics?.remoteAddress {
            // Without its port.
            let host = address.lastIndex(of: ":").map { address[..<$0] } ?? address[...]
            entry["serverIPAddress"] = .string(host.filter { $0 != "[" && $0 != "]" })
        }
        return .object(entry)
    }

    /// Times in milliseconds that sum to the whole; -1 where the transport could not tell. The time of `connect` holds
    /// that of `ssl`.
    private var harTimings: [String: JSONValue] {
        func value(_ duration: Duration?) -> JSONValue {
            duration.map { .double($0.inSeconds * 1_000) } ?? .int(-1)
        }
        let queued = queued ?? .zero
        let travel = (duration ?? .zero) - queued
        var connect = metrics?.connect
        if let secure = metrics?.secureConnect { connect = (connect ?? .zero) + secure }
        let send = metrics?.send ?? .zero
        let receive = metrics?.receive ?? .zero
        // What is left is the wait, so that the parts are the whole also where clocks differ.
        let wait = max(.zero, travel - (metrics?.nameLookup ?? .zero) - (connect ?? .zero) - send - receive)
        return [
            "blocked": queued > .zero ? value(queued) : .int(-1), "dns": value(metrics?.nameLookup),
            "connect": value(connect), "ssl": value(metrics?.secureConnect), "send": value(send),
            "wait": value(wait), "receive": value(receive),
        ]
    }

    private var httpVersion: JSONValue { .string(metrics?.protocolName ?? "unknown") }

    private var harRequest: [String: JSONValue] {
        let query = url.firstIndex(of: "?").map { url[url.index(after: $0)...] } ?? ""
        let pairs = query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return Self.pair(
                PercentEncoding.decodeLeniently(parts[0]),
                parts.count > 1 ? PercentEncoding.decodeLeniently(parts[1]) : "")
        }
        var request: [String: JSONValue] = [
            "method": .string(method.rawValue), "url": .string(url), "httpVersion": httpVersion,
            "cookies": .array([]), "headers": Self.headers(requestFields), "queryString": .array(pairs),
            "headersSize": .int(-1), "bodySize": .int(Int64(requestBody?.count ?? 0)),
        ]
        if let requestBody { request["postData"] = Self.content(requestBody, requestFields, encoding: "_encoding") }
        return request
    }

    private var harResponse: [String: JSONValue] {
        [
            "status": .int(Int64(status ?? 0)), "statusText": .string(""), "httpVersion": httpVersion,
            "cookies": .array([]), "headers": Self.headers(responseFields),
            "content": Self.content(responseBody ?? Data(), responseFields, encoding: "encoding"),
            "redirectURL": .string(responseFields[.location] ?? ""), "headersSize": .int(-1),
            "bodySize": .int(Int64(responseBody?.count ?? responseSize ?? -1)), "comment": .string(error ?? ""),
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
