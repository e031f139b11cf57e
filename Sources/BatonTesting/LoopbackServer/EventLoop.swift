#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Everything that happens on a server's thread. It is made there and never leaves it.
final class EventLoop {
    let listener: Int32
    let waker: Waker
    let state: ServerState
    private let bufferBytes: Int?
    /// The listener, the waker, and then one entry for each connection, in the same order.
    private var polled: [pollfd]
    private var connections: [Connection] = []
    /// Those that have a deadline, or had one.
    private var timed: [Connection] = []
    /// Those that wait for a gate, in the order in which they came to it.
    var held: [Connection] = []
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 131_072, alignment: 16)
    private var hasClosed = false
    private var accepted = 0
    /// Set while the system has no descriptor left, so that the loop does not spin.
    private var acceptsAgainAt: Int64?
    /// Counts of this round, which are made known at its end.
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

    /// Serves until the server is stopped, and closes everything.
    func run() {
        while !state.isStopped {
            let ready = poll(&polled, nfds_t(polled.count), timeout())
            if ready < 0 && errno != EINTR { break }
            if ready > 0 {
                if polled[1].revents != 0 {
                    waker.drain()
                    passGates()
                }
                for index in connections.indices where polled[index + 2].revents != 0 {
                    handle(connections[index], events: polled[index + 2].revents)
                }
                if polled[0].revents != 0 { acceptAll() }
            }
            if acceptsAgainAt != nil || !timed.isEmpty { runTimers() }
            finishRound()
        }
        for connection in connections where connection.phase != .closed { close(connection.descriptor) }
        close(listener)
        waker.closePipe()
        state.note { $0.openConnections = 0 }
    }

    private func acceptAll() {
        let first = connections.count
        while true {
            errno = 0
            guard let descriptor = Socket.acceptNext(listener, bufferBytes: bufferBytes) else { break }
            accepted += 1
            connections.append(Connection(descriptor, number: accepted, index: connections.count))
            polled.append(pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0))
        }
        if errno == EMFILE || errno == ENFILE {
            polled[0].events = 0
            acceptsAgainAt = Socket.now + 10_000_000
        }
        let count = connections.count - first
        guard count > 0 else { return }
        state.note { activity in
            activity.connections += count
            activity.openConnections += count
        }
    }

    /// Closes a connection; it leaves the list at the end of the round.
    func end(_ connection: Connection, byReset: Bool = false) {
        guard connection.phase != .closed else { return }
        connection.phase = .closed
        hasClosed = true
        if byReset { Socket.reset(connection.descriptor) } else { close(connection.descriptor) }
        connection.deadline = nil
        if case .gate = connection.wait {
            held.removeAll { $0 === connection }
            // What it would have passed with is for those behind it.
            if !held.isEmpty { waker.wake() }
        }
        connection.wait = .nothing
        polled[connection.index + 2].fd = -1
    }

    /// Asks poll for what the connection is waiting for.
    func refresh(_ connection: Connection) {
        var events: Int16 = 0
        if connection.wantsInput {
            events |= Int16(POLLIN)
        } else if !connection.inputEnded {
            events |= Socket.peerEnded
        }
        if connection.wantsOutput { events |= Int16(POLLOUT) }
        polled[connection.index + 2].events = events
    }

    /// Takes closed connections out, and makes the counts known.
    private func finishRound() {
        if hasClosed {
            hasClosed = false
            let before = connections.count
            connections.removeAll { $0.phase == .closed }
            polled.removeAll { $0.fd < 0 }
            for (index, connection) in connections.enumerated() { connection.index = index }
            let closed = before - connections.count
            state.note { $0.openConnections -= closed }
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

/// Time.
extension EventLoop {
    /// Has the loop look at the connection again at a time on the monotonic clock.
    func setDeadline(_ connection: Connection, _ time: Int64) {
        connection.deadline = time
        guard !connection.isTimed else { return }
        connection.isTimed = true
        timed.append(connection)
    }

    /// How many milliseconds poll may wait; -1 for as long as it takes.
    private func timeout() -> Int32 {
        var earliest = acceptsAgainAt ?? .max
        for connection in timed {
            if let deadline = connection.deadline, deadline < earliest { earliest = deadline }
        }
        guard earliest != .max else { return -1 }
        let wait = earliest - Socket.now
        return wait <= 0 ? 0 : Int32(clamping: (wait - 1) / 1_000_000 + 1)
    }

    private func runTimers() {
        let now = Socket.now
        if let time = acceptsAgainAt, time <= now {
            acceptsAgainAt = nil
            polled[0].events = Int16(POLLIN)
        }
        for connection in timed {
            guard let deadline = connection.deadline, deadline <= now else { continue }
            connection.deadline = nil
            if connection.phase == .lingering {
                end(connection)
            } else {
                connection.wait = .nothing
                advance(connection)
            }
        }
        timed.removeAll { connection in
            guard connection.deadline == nil else { return false }
            connection.isTimed = false
            return true
        }
    }

    /// A connection comes to a gate: it passes, or waits behind those that came before.
    func come(to gate: LoopbackServer.Gate, _ connection: Connection) {
        let isBehind = held.contains { other in
            if case .gate(let ahead) = other.wait { ahead === gate } else { false }
        }
        guard isBehind || !gate.pass(waker) else { return }
        connection.wait = .gate(gate)
        held.append(connection)
    }

    /// Goes on with those whose gate has been released.
    private func passGates() {
        for connection in held {
            guard case .gate(let gate) = connection.wait, gate.pass(waker) else { continue }
            held.removeAll { $0 === connection }
            connection.wait = .nothing
            advance(connection)
        }
    }
}
