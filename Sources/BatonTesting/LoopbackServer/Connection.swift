/// One connection, as the loop that owns it sees it.
final class Connection {
    enum Phase {
        /// Reads a request.
        case reading
        /// Runs the steps of a reply.
        case replying
        /// Has sent all it will send, and waits for the client to close.
        case lingering
        /// Is closed and will be taken out of the list.
        case closed
    }

    /// What it waits for; `nothing` while it reads what comes.
    enum Wait {
        case nothing
        case writable
        case time
        case gate(LoopbackServer.Gate)
        case forever
    }

    let descriptor: Int32
    let number: Int
    /// Its place in the loop's list.
    var index: Int
    var phase = Phase.reading
    var wait = Wait.nothing
    /// When the loop should look again, on the monotonic clock; nil when it need not.
    var deadline: Int64?
    /// Whether it is in the loop's list of those that have a deadline.
    var isTimed = false

    var input = ByteQueue()
    var parser = RequestParser()
    var request: LoopbackServer.ReceivedRequest?
    var route: Int?
    var bodyPolicy = LoopbackServer.BodyPolicy.kept
    var checksum = Checksum()
    var keepsAlive = true
    /// Whether the client has said that it sends no more.
    var inputEnded = false

    var steps: [Step] = []
    var nextStep = 0
    var output: [UInt8] = []
    var outputStart = 0
    var generation: Generation?

    init(_ descriptor: Int32, number: Int, index: Int) {
        self.descriptor = descriptor
        self.number = number
        self.index = index
    }

    /// How much unread input a connection holds while it is busy with a reply.
    static let inputLimit = 262_144
    /// How long a client may take to close a connection that the server has ended.
    static let lingerTime: Int64 = 1_000_000_000

    /// Whether the loop should read from the connection.
    var wantsInput: Bool {
        switch phase {
        case .reading:
            if case .nothing = wait { true } else { false }
        case .lingering: true
        case .replying: !inputEnded && input.count < Self.inputLimit
        case .closed: false
        }
    }

    /// Whether the loop should say when the connection takes bytes again.
    var wantsOutput: Bool {
        if case .writable = wait { phase == .replying } else { false }
    }
}
