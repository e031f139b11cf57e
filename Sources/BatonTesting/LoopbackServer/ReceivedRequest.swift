public import Baton
public import Foundation

extension LoopbackServer {
    /// A request as the server received it.
    public struct ReceivedRequest: Sendable {
        /// The method.
        public let method: HTTPMethod
        /// The request target as it stood in the request line, query included.
        public let target: String
        /// The number of the connection that it came on; the first one is 1.
        public let connection: Int
        /// The body, freed from its transfer coding; empty when the route discards bodies.
        public internal(set) var body = Data()
        /// The length of the body in bytes, also when it was discarded.
        public internal(set) var bodyLength: Int64 = 0
        /// ``LoopbackServer/checksum(of:)`` of a body that was discarded; nil when it was kept.
        public internal(set) var bodyChecksum: UInt64?
        /// The trailer lines of a chunked body.
        public internal(set) var trailerLines: [String] = []

        let head: [UInt8]
        let isHTTP10: Bool

        init(_ head: RequestHead, connection: Int) {
            method = HTTPMethod(rawValue: head.method)
            target = head.target
            self.head = head.bytes
            isHTTP10 = head.isHTTP10
            self.connection = connection
        }

        /// The target up to its query, not decoded. Of an absolute target, the part after the authority.
        public var path: String { Self.path(of: target) }

        /// The query without its question mark, not decoded; nil when there is none.
        public var query: String? {
            target.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(target[target.index(after: $0)...]) }
        }

        /// The header fields, in order and with repeats.
        public var fields: HTTPFields {
            head.withUnsafeBufferPointer { buffer in
                var fields = HTTPFields()
                for line in HeadLines(buffer).dropFirst() {
                    guard let field = try? FieldLine(buffer, line) else { continue }
                    fields.append(field.value.string, for: HTTPFieldName(field.name.string))
                }
                return fields
            }
        }

        /// The field lines byte for byte, in order, without their line ends.
        public var rawFieldLines: [String] {
            head.withUnsafeBufferPointer { buffer in
                HeadLines(buffer).dropFirst().map { Text(buffer, $0).string }
            }
        }

        static func path(of target: String) -> String {
            let bytes = target.utf8
            let end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
            if bytes.first == UInt8(ascii: "/") { return end == bytes.endIndex ? target : String(target[..<end]) }
            guard let scheme = target[..<end].range(of: "://") else { return String(target[..<end]) }
            let slash = target[scheme.upperBound..<end].utf8.firstIndex(of: UInt8(ascii: "/"))
            return slash.map { String(target[$0..<end]) } ?? "/"
        }
    }
}
