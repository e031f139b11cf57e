#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif
internal import Baton

/// Everything that happens on a server's thread. It is made there and never leaves it.
final class EventLoop {
    let listener: Int32
    let waker: Waker
    let state: ServerState
    let bufferBytes: Int?
    /// The listener, the waker, and then one entry for each connection, in the same order.
    var polled: [pollfd] = []
    var connections: [Connection] = []
    /// Those that wait for a gate, in the order in which they came to it.
    var held: [Connection] = []
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 131_072, alignment: 16)
    var hasClosed = false
    var accepted = 0
    /// Set while the system has no descriptor left, so that the loop does not spin.
    var acceptsAgainAt: Int64?
    var bytesReceived: Int64 = 0
    var bytesSent: Int64 = 0

    init(_ listener: Int32, _ waker: Waker, _ state: ServerState, bufferBytes: Int?) {
        self.listener = listener
        self.waker = waker
        self.state = state
        self.bufferBytes = bufferBytes
        polled = [
            pollfd(fd: listener, events: Int16(POLLIN), revents: 0),
            pollfd(fd: waker.descriptor, events: Int16(POLLIN), revents: 0),
        ]
    }

    deinit {
        scratch.deallocate()
    }

    func run() {
        while !state.isStopped {
            let ready = poll(&polled, nfds_t(polled.count), timeout())
            if ready < 0 && errno != EINTR { break }
            if polled[1].revents != 0 {
                waker.drain()
                if state.isStopped { break }
                passGates()
            }
            if ready > 0 {
                for index in connections.indices where polled[index + 2].revents != 0 {
                    handle(connections[index], events: polled[index + 2].revents)
                }
                if polled[0].revents != 0 { acceptAll() }
            }
            runTimers()
            finishRound()
        }
        for connection in connections where connection.phase != .closed { close(connection.descriptor) }
        close(listener)
        waker.closePipe()
        state.note { $0.openConnections = 0 }
    }

    private func handle(_ connection: Connection, events: Int16) {
        if connection.phase == .closed { return }
        if Int32(events) & ~Int32(POLLOUT) != 0 { receive(connection) }
        if connection.wantsOutput { connection.wait = .nothing }
        advance(connection)
    }

    private func acceptAll() {
        while true {
            errno = 0
            guard let descriptor = Socket.acceptNext(listener, bufferBytes: bufferBytes) else {
                if errno == EMFILE || errno == ENFILE {
                    polled[0].events = 0
                    acceptsAgainAt = Socket.now + 10_000_000
                }
                return
            }
            accepted += 1
            connections.append(Connection(descriptor, number: accepted))
            polled.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
            state.note { activity in
                activity.connections += 1
                activity.openConnections += 1
            }
        }
    }

    /// Reads what has come. The end of the input closes a connection that has nothing to write.
    private func receive(_ connection: Connection) {
        guard connection.wantsInput else {
            // The connection is broken, or else nothing but output would have been reported.
            if !connection.wantsOutput { end(connection) }
            return
        }
        switch Socket.read(connection.descriptor, into: scratch) {
        case .wouldBlock: break
        case .bytes(let count):
            bytesReceived += Int64(count)
            if connection.phase == .lingering { return }
            connection.input.append(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
        case .broken: end(connection)
        case .end:
            connection.inputEnded = true
            switch (connection.phase, connection.wait) {
            case (.replying, .writable): break
            default: end(connection)
            }
        }
    }

    func end(_ connection: Connection, byReset: Bool = false) {
        guard connection.phase != .closed else { return }
        connection.phase = .closed
        hasClosed = true
        if byReset { Socket.reset(connection.descriptor) } else { close(connection.descriptor) }
        connection.deadline = nil
        if case .gate = connection.wait { held.removeAll { $0 === connection } }
        connection.wait = .nothing
    }

    private func passGates() {
        for connection in held {
            guard case .gate(let gate) = connection.wait, gate.pass(waker) else { continue }
            held.removeAll { $0 === connection }
            connection.wait = .nothing
            advance(connection)
        }
    }

    private func timeout() -> Int32 {
        var earliest = acceptsAgainAt ?? .max
        for connection in connections {
            if let deadline = connection.deadline, deadline < earliest { earliest = deadline }
        }
        guard earliest != .max else { return -1 }
        let wait = earliest - Socket.now
        return wait <= 0 ? 0 : Int32(clamping: (wait + 999_999) / 1_000_000)
    }

    private func runTimers() {
        var now: Int64?
        if let time = acceptsAgainAt {
            now = Socket.now
            if time <= now! {
                acceptsAgainAt = nil
                polled[0].events = Int16(POLLIN)
            }
        }
        for connection in connections {
            guard let deadline = connection.deadline else { continue }
            let time = now ?? Socket.now
            now = time
            guard deadline <= time else { continue }
            connection.deadline = nil
            if connection.phase == .lingering { end(connection) }
            connection.wait = .nothing
            advance(connection)
        }
    }

    /// Takes closed connections out, asks for the right events, and makes the counts known.
    private func finishRound() {
        if hasClosed {
            hasClosed = false
            let before = connections.count
            connections.removeAll { $0.phase == .closed }
            polled.removeSubrange(2...)
            for connection in connections {
                polled.append(pollfd(fd: connection.descriptor, events: 0, revents: 0))
            }
            let closed = before - connections.count
            state.note { $0.openConnections -= closed }
        }
        for (index, connection) in connections.enumerated() {
            polled[index + 2].events =
                (connection.wantsInput ? Int16(POLLIN) : 0) | (connection.wantsOutput ? Int16(POLLOUT) : 0)
        }
        if bytesReceived > 0 || bytesSent > 0 {
            let (received, sent) = (bytesReceived, bytesSent)
            (bytesReceived, bytesSent) = (0, 0)
            state.note { activity in
                activity.bytesReceived += received
                activity.bytesSent += sent
            }
        }
    }
}
