public import Baton
public import Foundation

extension LoopbackServer {
    /// What the server answers: a status, fields and a body, and how they travel.
    ///
    /// A reply is a value. It is made by a static function and changed by methods that return a copy:
    /// ```swift
    /// .json(#"{"total": 3}"#)
    /// .text("slow").delayed(by: .milliseconds(50))
    /// .data(bytes).broken(.reset, at: .midBody)
    /// ```
    /// `Content-Length` is added by itself, and no body is sent where none may be: to HEAD, and with 1xx, 204 and 304.
    public struct Reply: Sendable {
        /// The status code.
        public var status: Int
        /// The reason phrase; nil sends the usual one.
        public var reason: String?
        /// The fields, sent in order and as they are. A `Content-Length` or `Transfer-Encoding` here takes the
        /// place of the one that the server would add.
        public var fields: HTTPFields
        /// How long the server waits before it sends the status line.
        public var delay: Duration = .zero
        /// Whether the connection stays open after the reply.
        public var connection = Persistence.keepAlive

        var content: Content
        var framing = Framing.length
        var bytesPerSecond: Int?
        var interim: [Interim] = []
        var cuts: [Cut] = []
        var challenge: Challenge?
        var omitsLastChunk = false

        /// A reply with a body in memory.
        public init(status: Int = 200, reason: String? = nil, fields: HTTPFields = [:], body: Data = Data()) {
            self.status = status
            self.reason = reason
            self.fields = fields
            content = .pieces([body], interval: .zero)
        }

        /// The body; empty when it is not one in memory. Setting it replaces whatever was there.
        public var body: Data {
            get {
                guard case .pieces(let pieces, _) = content else { return Data() }
                return pieces.count == 1 ? pieces[0] : pieces.reduce(into: Data()) { $0 += $1 }
            }
            set { content = .pieces([newValue], interval: .zero) }
        }
    }
}

extension LoopbackServer.Reply {
    /// What becomes of a connection after a reply.
    public enum Persistence: Sendable {
        /// It stays open. The server never closes an idle connection by itself.
        case keepAlive
        /// The server says `Connection: close` and closes it.
        case close
    }

    /// How the end of a body is made known.
    enum Framing: Sendable {
        case length
        case chunked
        case untilClose
    }

    /// Where the body comes from.
    enum Content: Sendable {
        case pieces([Data], interval: Duration)
        case generated(length: Int64, @Sendable (_ offset: Int64, _ count: Int) -> Data)
        case echo
        case raw([UInt8])
        case stall
    }

    /// A response before the final one, such as 100 Continue.
    struct Interim: Sendable {
        var status: Int
        var fields: HTTPFields
    }

    /// A place in the reply where something happens.
    struct Cut: Sendable {
        enum Action: Sendable {
            case breakOff(Break)
            case hold(LoopbackServer.Gate)
        }
        var place: Place
        var action: Action
    }

    /// How a connection ends in the middle of a reply.
    public enum Break: Sendable {
        /// It is closed; the client reads an end.
        case close
        /// It is reset; the client is told so.
        case reset
    }

    /// A place in a reply.
    public enum Place: Sendable, Hashable {
        /// Before the first byte.
        case beforeReply
        /// In the middle of the head.
        case midHead
        /// Between head and body.
        case afterHead
        /// In the middle of the body; after the head when there is no body.
        case midBody
        /// After so many bytes of the body.
        case bodyByte(Int)
        /// After the last byte.
        case afterReply
    }
}
