internal import Baton
internal import Foundation

extension LoopbackServer {
    /// What ``Reply/echo`` answers, as a JSON object with these members.
    ///
    /// ```json
    /// {"body": "a=1", "bodyBase64": "YT0x", "bodyLength": 3, "connection": 1,
    ///  "fields": [["Host", "127.0.0.1"]], "method": "POST", "path": "/x", "query": "b=2", "target": "/x?b=2"}
    /// ```
    /// `query` is absent where there is none, and `body` where it is no text.
    public struct Echo: Codable, Sendable, Hashable {
        /// The method.
        public var method: String
        /// The request target.
        public var target: String
        /// The target up to its query.
        public var path: String
        /// The query; nil when there is none.
        public var query: String?
        /// Name and value of each field, in order.
        public var fields: [[String]]
        /// The body as text; nil when it is not UTF-8.
        public var body: String?
        /// The body as Base64.
        public var bodyBase64: String
        /// The length of the body in bytes.
        public var bodyLength: Int64
        /// The number of the connection.
        public var connection: Int

        init(_ request: ReceivedRequest) {
            method = request.method.rawValue
            target = request.target
            path = request.path
            query = request.query
            fields = request.fields.map { [$0.name.rawName, $0.value] }
            body = String(data: request.body, encoding: .utf8)
            bodyBase64 = request.body.base64EncodedString()
            bodyLength = request.bodyLength
            connection = request.connection
        }

        var json: Data {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return (try? encoder.encode(self)) ?? Data()
        }

        /// The values of a field, whatever the case of its name.
        public func values(for name: String) -> [String] {
            fields.filter { $0.count == 2 && $0[0].lowercased() == name.lowercased() }.map { $0[1] }
        }
    }
}
