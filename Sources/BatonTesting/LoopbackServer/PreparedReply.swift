/// A reply of a route, with its bytes where they are always the same, so that small replies cost no more than a
/// write.
final class PreparedReply: Sendable {
    let reply: LoopbackServer.Reply
    /// The whole reply, head and body, for HTTP/1.1 requests other than HEAD that keep the connection open.
    let bytes: [UInt8]?

    init(_ reply: LoopbackServer.Reply) {
        self.reply = reply
        guard reply.connection == .keepAlive, reply.challenge == nil, case .pieces = reply.content else {
            bytes = nil
            return
        }
        let steps = ReplyScript(reply, to: nil, keepsAlive: true).steps
        if steps.count == 1, case .send(let bytes) = steps[0] { self.bytes = bytes } else { bytes = nil }
    }
}
