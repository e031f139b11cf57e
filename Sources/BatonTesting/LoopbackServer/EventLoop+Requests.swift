#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import Baton
internal import Foundation

/// What comes in.
extension EventLoop {
    /// Acts on what poll has reported.
    func handle(_ connection: Connection, events: Int16) {
        if events & ~Int16(POLLOUT) != 0 { receive(connection) }
        if connection.wantsOutput { connection.wait = .nothing }
        advance(connection)
    }

    /// Does whatever can be done for a connection without waiting.
    func advance(_ connection: Connection) {
        var goesOn = true
        while goesOn {
            switch connection.phase {
            case .closed: return
            case .lingering: goesOn = false
            case .reading: goesOn = readRequest(connection)
            case .replying: goesOn = sendReply(connection)
            }
        }
        if connection.phase != .closed { refresh(connection) }
    }

    /// Reads what has come. A client that has ended its side is gone, unless a reply is on its way to it.
    private func receive(_ connection: Connection) {
        guard connection.wantsInput else { return inputEnded(connection) }
        switch Socket.read(connection.descriptor, into: scratch) {
        case .wouldBlock: break
        case .bytes(let count):
            bytesReceived += Int64(count)
            guard connection.phase != .lingering else { return }
            connection.input.append(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
        case .broken: end(connection)
        case .end: inputEnded(connection)
        }
    }

    private func inputEnded(_ connection: Connection) {
        // Reported a second time, it is more than the end of the input.
        if connection.wantsOutput && !connection.inputEnded {
            connection.inputEnded = true
        } else if !connection.wantsOutput {
            end(connection)
        }
    }

    /// Takes what has come of a request. Returns false when more must come.
    private func readRequest(_ connection: Connection) -> Bool {
        guard case .nothing = connection.wait else { return false }
        switch connection.parser.next(&connection.input) {
        case .needsMore: return false
        case .head(let head): begin(head, connection)
        case .body(let count):
            takeBody(count, connection)
        case .end(let trailers):
            guard connection.request != nil else { return true }
            connection.request?.trailerLines = trailers
            if !connection.bodyPolicy.keepsBytes { connection.request?.bodyChecksum = connection.checksum.value }
            answer(connection)
        case .malformed(let error):
            connection.request = nil
            start(.text("The request \(error.reason).\n", status: 400).closing(), nil, connection)
        }
        return true
    }

    private func takeBody(_ count: Int, _ connection: Connection) {
        connection.input.withFirst(count) { bytes in
            connection.request?.bodyLength += Int64(bytes.count)
            switch connection.bodyPolicy {
            case .kept: connection.request?.body.append(contentsOf: bytes)
            case .discarded, .heldBack: connection.checksum.update(bytes)
            case .unread: break
            }
        }
        connection.input.drop(count)
    }

    private func begin(_ head: RequestHead, _ connection: Connection) {
        connection.request = LoopbackServer.ReceivedRequest(head, connection: connection.number)
        (connection.route, connection.bodyPolicy) = state.route(head)
        connection.keepsAlive = head.keepsAlive
        connection.checksum = Checksum()
        switch connection.bodyPolicy {
        case .unread:
            if head.framing != .length(0) { connection.keepsAlive = false }
            answer(connection)
        case .heldBack(let gate):
            if head.expectsContinue { writeAtOnce(connection, "HTTP/1.1 100 Continue\r\n\r\n") }
            come(to: gate, connection)
        case .kept, .discarded:
            if head.expectsContinue { writeAtOnce(connection, "HTTP/1.1 100 Continue\r\n\r\n") }
        }
    }

    private func answer(_ connection: Connection) {
        guard let request = connection.request else { return }
        connection.request = nil
        switch state.receive(request, route: connection.route) {
        case .reply(let prepared):
            if let bytes = prepared.bytes, connection.keepsAlive, !request.isHTTP10, request.method != .head {
                connection.steps = []
                connection.nextStep = 0
                connection.output = bytes
                connection.outputStart = 0
                connection.phase = .replying
            } else {
                start(prepared.reply, request, connection)
            }
        case .closure(let respond): start(respond(request), request, connection)
        case nil: start(.text("no route for \(request.method) \(request.path)\n", status: 404), request, connection)
        }
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
