internal import Foundation

/// The HTTP Archive format, version 1.2, as far as it is read and written here.
///
/// Reading is lenient: what is not needed may be missing, and fields of browsers' own are passed over. Writing gives
/// every field that the format requires.
enum HAR {
    struct Document: Codable {
        var log: Log
    }

    struct Log: Codable {
        var version = "1.2"
        var creator = Creator()
        var entries: [Entry]
    }

    struct Creator: Codable {
        var name = "Baton"
        var version = "1.0"
    }

    struct Entry: Codable, Sendable {
        var startedDateTime: String
        /// In milliseconds, as all durations here: the sum of the timings, `ssl` excepted, which `connect` contains.
        var time: Double
        var request: Request
        var response: Response
        var cache = Cache()
        var timings: Timings
    }

    struct Cache: Codable, Sendable {}

    struct Header: Codable, Sendable {
        var name: String
        var value: String
    }

    struct Request: Codable, Sendable {
        var method: String
        var url: String
        var httpVersion: String
        /// Always empty when written: cookies are secrets.
        var cookies: [Header] = []
        var headers: [Header]
        var queryString: [Header]
        var postData: PostData?
        var headersSize = -1
        var bodySize: Int
    }

    struct PostData: Codable, Sendable {
        var mimeType: String
        var text: String?
        var params: [Header]?
        /// `base64` where the bytes are no UTF-8; the format has no place for that, so the name has an underscore.
        var encoding: String?

        enum CodingKeys: String, CodingKey {
            case mimeType, text, params
            case encoding = "_encoding"
        }
    }

    struct Response: Codable, Sendable {
        var status: Int
        var statusText = ""
        var httpVersion: String
        var cookies: [Header] = []
        var headers: [Header]
        var content: Content
        var redirectURL: String
        var headersSize = -1
        var bodySize: Int
    }

    struct Content: Codable, Sendable {
        var size: Int
        var mimeType: String
        var text: String?
        var encoding: String?
    }

    /// `send`, `wait` and `receive` are never below 0; of the others, -1 says that it does not apply.
    struct Timings: Codable, Sendable {
        var blocked: Double = -1
        var dns: Double = -1
        var connect: Double = -1
        var ssl: Double = -1
        var send: Double = 0
        var wait: Double = 0
        var receive: Double = 0

        var total: Double {
            [blocked, dns, connect, send, wait, receive].filter { $0 > 0 }.reduce(0, +)
        }
    }
}
