internal import Baton
internal import Foundation

/// Reading what browsers and other tools wrote.
extension HAR {
    /// The recordings of a file. What is wrong with it is told with its place.
    static func read(_ data: Data, name: String) throws(BatonError) -> [Entry] {
        do {
            return try JSONDecoder().decode(Document.self, from: data).log.entries
        } catch let error as DecodingError {
            throw BatonError(.invalidConfiguration, "\(name) is no HAR file: \(place(of: error, in: data))")
        } catch {
            throw BatonError(.invalidConfiguration, "\(name) is no HAR file", underlying: error)
        }
    }

    private static func place(of error: DecodingError, in data: Data) -> String {
        switch error {
        case .keyNotFound(let key, let context): "\(path(context.codingPath + [key])) is missing"
        case .valueNotFound(_, let context): "\(path(context.codingPath)) is null"
        case .typeMismatch(_, let context): "\(path(context.codingPath)) has the wrong type"
        case .dataCorrupted(let context):
            if context.codingPath.isEmpty {
                "its JSON is broken at \(JSONFault.place(in: data))"
            } else {
                "\(path(context.codingPath)) is not valid"
            }
        @unknown default: "its content does not fit"
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String {
        keys.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined().trimmingPrefix(".").description
    }
}

/// A field by its name.
private struct HARKey: CodingKey, ExpressibleByStringLiteral {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringLiteral value: String) { stringValue = value }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer {
    /// A value that may be missing or of an unexpected type.
    fileprivate func lenient<T: Decodable>(_ key: Key, _ standard: T) -> T {
        ((try? decodeIfPresent(T.self, forKey: key)) ?? nil) ?? standard
    }
}

extension HAR.Log {
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: HARKey.self)
        entries = try values.decode([HAR.Entry].self, forKey: "entries")
    }
}

extension HAR.Entry {
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: HARKey.self)
        startedDateTime = values.lenient("startedDateTime", "1970-01-01T00:00:00.000Z")
        request = try values.decode(HAR.Request.self, forKey: "request")
        response = try values.decode(HAR.Response.self, forKey: "response")
        timings = values.lenient("timings", HAR.Timings())
        time = timings.total
    }
}

extension HAR.Header {
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: HARKey.self)
        name = try values.decode(String.self, forKey: "name")
        value = values.lenient("value", "")
    }
}

extension HAR.Request {
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: HARKey.self)
        method = try values.decode(String.self, forKey: "method")
        url = try values.decode(String.self, forKey: "url")
        httpVersion = values.lenient("httpVersion", "unknown")
        headers = values.lenient("headers", [])
        queryString = values.lenient("queryString", [])
        postData = try values.decodeIfPresent(HAR.PostData.self, forKey: "postData")
        bodySize = values.lenient("bodySize", -1)
    }
}

extension HAR.PostData {
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: HARKey.self)
        mimeType = values.lenient("mimeType", "")
        text = try values.decodeIfPresent(String.self, forKey: "text")
        params = values.lenient("params", [])
        encoding = values.lenient("_encoding", String?.none)
    }
}

extension HAR.Response {
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: HARKey.self)
        status = try values.decode(Int.self, forKey: "status")
        statusText = values.lenient("statusText", "")
        httpVersion = values.lenient("httpVersion", "unknown")
        headers = values.lenient("headers", [])
        content = try values.decodeIfPresent(HAR.Content.self, forKey: "content") ?? HAR.Content(size: 0, mimeType: "")
        redirectURL = values.lenient("redirectURL", "")
        bodySize = values.lenient("bodySize", -1)
    }
}

extension HAR.Content {
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: HARKey.self)
        size = values.lenient("size", 0)
        mimeType = values.lenient("mimeType", "")
        text = try values.decodeIfPresent(String.self, forKey: "text")
        encoding = values.lenient("encoding", String?.none)
    }
}

extension HAR.Timings {
    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: HARKey.self)
        blocked = max(-1, values.lenient("blocked", -1))
        dns = max(-1, values.lenient("dns", -1))
        connect = max(-1, values.lenient("connect", -1))
        ssl = max(-1, values.lenient("ssl", -1))
        send = max(0, values.lenient("send", 0))
        wait = max(0, values.lenient("wait", 0))
        receive = max(0, values.lenient("receive", 0))
    }
}
