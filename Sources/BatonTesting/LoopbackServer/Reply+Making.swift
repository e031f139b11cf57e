public import Baton
public import Foundation

extension LoopbackServer.Reply {
    /// A status, without a body unless one is given.
    public static func status(_ status: Int, fields: HTTPFields = [:], body: String = "") -> Self {
        Self(status: status, fields: fields, body: Data(body.utf8))
    }

    /// Text as UTF-8.
    public static func text(_ text: String, status: Int = 200, fields: HTTPFields = [:]) -> Self {
        data(Data(text.utf8), contentType: "text/plain; charset=utf-8", status: status, fields: fields)
    }

    /// JSON text as it is.
    public static func json(_ json: String, status: Int = 200, fields: HTTPFields = [:]) -> Self {
        data(Data(json.utf8), contentType: "application/json", status: status, fields: fields)
    }

    /// A value as JSON, with sorted keys.
    public static func json<Value: Encodable>(
        encoding value: Value, status: Int = 200, fields: HTTPFields = [:]
    ) throws -> Self {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return data(
            try encoder.encode(value), contentType: "application/json", status: status, fields: fields)
    }

    /// Bytes. A `contentType` of nil sends none.
    public static func data(
        _ data: Data, contentType: String? = "application/octet-stream", status: Int = 200, fields: HTTPFields = [:]
    ) -> Self {
        var fields = fields
        if let contentType, !fields.contains(.contentType) { fields.append(contentType, for: .contentType) }
        return Self(status: status, fields: fields, body: data)
    }

    /// Chunks of a chunked body, with a pause between one and the next.
    public static func chunks(
        _ chunks: [String], every interval: Duration = .zero, status: Int = 200, fields: HTTPFields = [:]
    ) -> Self {
        Self.chunks(chunks.map { Data($0.utf8) }, every: interval, status: status, fields: fields)
    }

    /// Chunks of a chunked body, with a pause between one and the next.
    public static func chunks(
        _ chunks: [Data], every interval: Duration = .zero, status: Int = 200, fields: HTTPFields = [:]
    ) -> Self {
        var reply = Self(status: status, fields: fields)
        reply.content = .pieces(chunks, interval: interval)
        reply.framing = .chunked
        return reply
    }

    /// A redirect. The location is sent as it is: a path, or a URL such as one of a second server.
    public static func redirect(to location: String, status: Int = 302) -> Self {
        Self(status: status, fields: [.location: location])
    }

    /// A body that is made while it is sent and never held as a whole.
    ///
    /// - Parameter bytes: makes `count` bytes from `offset` on; called on the server's thread. Fewer bytes than
    ///   asked for are fine; none ends the connection.
    public static func generated(
        length: Int64, status: Int = 200, fields: HTTPFields = [:],
        bytes: @escaping @Sendable (_ offset: Int64, _ count: Int) -> Data
    ) -> Self {
        var reply = Self(status: status, fields: fields)
        reply.content = .generated(length: length, bytes)
        return reply
    }

    /// A body of any size with known bytes: the one at offset n is n modulo 251. See ``LoopbackServer/pattern(_:)``.
    public static func pattern(length: Int64, status: Int = 200, fields: HTTPFields = [:]) -> Self {
        generated(length: length, status: status, fields: fields) { offset, count in
            LoopbackServer.pattern(offset..<offset + Int64(count))
        }
    }

    /// What was received, as JSON. See ``LoopbackServer/Echo`` for its form.
    public static var echo: Self {
        var reply = Self(fields: [.contentType: "application/json"])
        reply.content = .echo
        return reply
    }

    /// Bytes in place of a whole reply, head included. Then the connection is closed, or kept open.
    public static func raw(_ bytes: Data, then connection: Persistence = .close) -> Self {
        var reply = Self()
        reply.content = .raw(Array(bytes))
        reply.connection = connection
        return reply
    }

    /// Text in place of a whole reply, head included. Then the connection is closed, or kept open.
    public static func raw(_ text: String, then connection: Persistence = .close) -> Self {
        raw(Data(text.utf8), then: connection)
    }

    /// Bytes that are no HTTP, and then the end of the connection.
    public static var garbage: Self { raw("\u{1}\u{2}\u{3} this is no HTTP\r\n\r\n") }

    /// No answer at all, until the client closes the connection or the server stops.
    public static var stall: Self {
        var reply = Self()
        reply.content = .stall
        return reply
    }

    /// The end of the connection in place of a reply.
    public static func broken(_ break: Break) -> Self {
        Self().broken(`break`, at: .beforeReply)
    }
}
