internal import Baton
internal import Foundation

/// One thing that a connection does on the way to a finished reply.
enum Step {
    case send([UInt8])
    case generate(Generation)
    case pause(Duration)
    case gate(LoopbackServer.Gate)
    case stall
    /// Says that nothing more will be sent, and waits for the client to close.
    case close
    case reset
}

/// A stretch of a body that is made while it is sent.
struct Generation {
    let first: Int64
    let end: Int64
    let isChunked: Bool
    let bytesPerSecond: Int?
    let bytes: @Sendable (Int64, Int) -> Data
    /// How far it has come, and when it began; for the loop.
    var offset: Int64
    var startedAt: Int64?

    init(
        _ range: Range<Int64>, isChunked: Bool, bytesPerSecond: Int?, bytes: @escaping @Sendable (Int64, Int) -> Data
    ) {
        first = range.lowerBound
        offset = range.lowerBound
        end = range.upperBound
        self.isChunked = isChunked
        self.bytesPerSecond = bytesPerSecond
        self.bytes = bytes
    }
}

/// A reply to one request, taken apart into steps. Pure.
struct ReplyScript {
    private(set) var steps: [Step] = []

    init(_ reply: LoopbackServer.Reply, to request: LoopbackServer.ReceivedRequest?, keepsAlive: Bool) {
        var reply = reply
        if let challenge = reply.challenge, let request, !challenge.isMet(by: request) {
            var refusal = challenge.refusal
            refusal.connection = reply.connection
            reply = refusal
        }
        if case .echo = reply.content, let request {
            reply.content = .pieces([LoopbackServer.Echo(request).json], interval: .zero)
        }
        if reply.delay > .zero { steps.append(.pause(reply.delay)) }
        if append(reply.cuts, at: .beforeReply) { return }
        let closes: Bool
        switch reply.content {
        case .stall:
            steps.append(.stall)
            return
        case .raw(let bytes):
            send(bytes)
            closes = reply.connection == .close
        default:
            guard let end = appendMessage(reply, request, keepsAlive: keepsAlive) else { return }
            closes = end
        }
        if append(reply.cuts, at: .afterReply) { return }
        if closes { steps.append(.close) }
    }

    /// Head and body. Returns whether the connection is closed then, nil when the steps end here.
    private mutating func appendMessage(
        _ reply: LoopbackServer.Reply, _ request: LoopbackServer.ReceivedRequest?, keepsAlive: Bool
    ) -> Bool? {
        var reply = reply
        if reply.framing == .chunked, request?.isHTTP10 == true { reply.framing = .untilClose }
        let body = BodySource(reply)
        let hasBody = request?.method != .head && reply.allowsBody
        var closes = reply.connection == .close || reply.framing == .untilClose || !keepsAlive
        if let claimed = reply.fields[.contentLength].flatMap(Int64.init), hasBody, claimed > body.length {
            closes = true
        }
        var head: [UInt8] = []
        for interim in reply.interim { interim.append(to: &head) }
        reply.appendHead(
            to: &head, bodyLength: body.length, says: closes ? .close : request?.isHTTP10 == true ? .keepAlive : nil)
        let cutsInHead = reply.cuts.filter { $0.place == .midHead }
        if cutsInHead.isEmpty {
            send(head)
        } else {
            send(Array(head[..<(head.count / 2)]))
            if append(cutsInHead, at: .midHead) { return nil }
            send(Array(head[(head.count / 2)...]))
        }
        if append(reply.cuts, at: .afterHead) { return nil }
        let isChunked = reply.framing == .chunked
        var offset: Int64 = 0
        for (place, cut) in reply.cutsInBody(length: hasBody ? body.length : 0) {
            let isBreak = if case .breakOff = cut.action { true } else { false }
            if hasBody { body.append(offset..<place, isChunked, announcesWhole: isBreak, to: &self) }
            offset = place
            if append([cut], at: cut.place) { return nil }
        }
        if hasBody {
            body.append(offset..<body.length, isChunked, announcesWhole: false, to: &self)
            if isChunked && !reply.omitsLastChunk { send(Array("0\r\n\r\n".utf8)) }
        }
        return closes
    }

    /// Appends what happens at a place. Returns whether the connection is over then.
    private mutating func append(_ cuts: [LoopbackServer.Reply.Cut], at place: LoopbackServer.Reply.Place) -> Bool {
        for cut in cuts where cut.place == place {
            switch cut.action {
            case .hold(let gate): steps.append(.gate(gate))
            case .breakOff(.close):
                steps.append(.close)
                return true
            case .breakOff(.reset):
                steps.append(.reset)
                return true
            }
        }
        return false
    }

    /// Bytes; joined with those before them, so that a small reply is one write.
    mutating func send(_ bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty else { return }
        if case .send(var last)? = steps.last {
            steps.removeLast()
            last.append(contentsOf: bytes)
            steps.append(.send(last))
        } else {
            steps.append(.send(Array(bytes)))
        }
    }

    mutating func append(_ step: Step) { steps.append(step) }
}

extension LoopbackServer.Reply {
    fileprivate func cutsInBody(length: Int64) -> [(place: Int64, cut: Cut)] {
        guard !cuts.isEmpty else { return [] }
        let places: [(place: Int64, cut: Cut)] = cuts.compactMap { cut in
            switch cut.place {
            case .midBody: (length / 2, cut)
            case .bodyByte(let offset): (min(max(Int64(offset), 0), length), cut)
            default: nil
            }
        }
        return places.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
            .map(\.element)
    }
}
