internal import Baton
internal import Foundation

extension EventLoop {
    /// Does whatever can be done for a connection without waiting.
    func advance(_ connection: Connection) {
        while true {
            switch connection.phase {
            case .closed, .lingering: return
            case .reading: guard readRequest(connection) else { return }
            case .replying: guard sendReply(connection) else { return }
            }
        }
    }

    /// Takes what has come of a request. Returns false when more must come.
    private func readRequest(_ connection: Connection) -> Bool {
        switch connection.parser.next(&connection.input) {
        case .needsMore: return false
        case .head(let head):
            connection.request = LoopbackServer.ReceivedRequest(head, connection: connection.number)
            (connection.route, connection.bodyPolicy) = state.route(head)
            connection.keepsAlive = head.keepsAlive
            connection.checksum = Checksum()
            if connection.bodyPolicy == .unread {
                connection.keepsAlive = connection.keepsAlive && head.framing == .length(0)
                answer(connection)
            } else if head.expectsContinue {
                writeAtOnce(connection, "HTTP/1.1 100 Continue\r\n\r\n")
            }
        case .body(let count):
            connection.input.withFirst(count) { bytes in
                connection.request?.bodyLength += Int64(bytes.count)
                if connection.bodyPolicy == .kept {
                    connection.request?.body.append(contentsOf: bytes)
                } else {
                    connection.checksum.update(bytes)
                }
            }
            connection.input.drop(count)
        case .end(let trailers):
            if connection.request == nil { return true }
            connection.request?.trailerLines = trailers
            if connection.bodyPolicy == .discarded { connection.request?.bodyChecksum = connection.checksum.value }
            answer(connection)
        case .malformed(let error):
            connection.request = nil
            start(.text("The request \(error.reason).\n", status: 400).closing(), nil, connection)
        }
        return true
    }

    private func answer(_ connection: Connection) {
        guard let request = connection.request else { return }
        connection.request = nil
        let reply: LoopbackServer.Reply
        switch state.receive(request, route: connection.route) {
        case .reply(let fixed): reply = fixed
        case .closure(let respond): reply = respond(request)
        case nil: reply = .text("no route for \(request.method) \(request.path)\n", status: 404)
        }
        start(reply, request, connection)
    }

    private func start(
        _ reply: LoopbackServer.Reply, _ request: LoopbackServer.ReceivedRequest?, _ connection: Connection
    ) {
        connection.steps = ReplyScript(reply, to: request, keepsAlive: connection.keepsAlive).steps
        connection.nextStep = 0
        connection.phase = .replying
    }

    /// Writes a few bytes outside of any reply. What does not fit is lost, which happens to no client that reads.
    private func writeAtOnce(_ connection: Connection, _ text: StaticString) {
        let bytes = UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        if case .bytes(let count) = Socket.write(connection.descriptor, bytes) { bytesSent += Int64(count) }
    }
}
