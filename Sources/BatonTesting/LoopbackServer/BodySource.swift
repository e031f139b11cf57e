internal import Baton
internal import Foundation

/// The body of a reply as something that steps can be made of.
struct BodySource {
    private let reply: LoopbackServer.Reply
    let length: Int64

    init(_ reply: LoopbackServer.Reply) {
        self.reply = reply
        switch reply.content {
        case .pieces(let pieces, _): length = pieces.reduce(0) { $0 + Int64($1.count) }
        case .generated(let length, _): self.length = max(length, 0)
        case .echo, .raw, .stall: length = 0
        }
    }

    /// Appends the steps that send a range of the body.
    ///
    /// - Parameter announcesWhole: a chunk that the range cuts off is announced with its whole size.
    func append(_ range: Range<Int64>, _ isChunked: Bool, announcesWhole: Bool, to script: inout ReplyScript) {
        guard !range.isEmpty else { return }
        switch reply.content {
        case .generated(_, let bytes):
            script.append(
                .generate(
                    Generation(range, isChunked: isChunked, bytesPerSecond: reply.bytesPerSecond, bytes: bytes)))
        case .pieces(let pieces, let interval):
            var start: Int64 = 0
            for (index, piece) in pieces.enumerated() where !piece.isEmpty {
                let end = start + Int64(piece.count)
                defer { start = end }
                let part = range.clamped(to: start..<end)
                guard !part.isEmpty else { continue }
                if index > 0, part.lowerBound == start, interval > .zero { script.append(.pause(interval)) }
                let bytes = piece.dropFirst(Int(part.lowerBound - start)).prefix(part.count)
                append(bytes, isChunked, size: announcesWhole ? Int(end - part.lowerBound) : part.count, to: &script)
            }
        case .echo, .raw, .stall: break
        }
    }

    private func append(_ bytes: Data, _ isChunked: Bool, size: Int, to script: inout ReplyScript) {
        if let rate = reply.bytesPerSecond {
            script.append(
                .generate(
                    Generation(
                        0..<Int64(bytes.count), isChunked: isChunked, bytesPerSecond: rate,
                        bytes: { bytes.dropFirst(Int($0)).prefix($1) })))
            return
        }
        if isChunked { script.send("\(String(size, radix: 16))\r\n".utf8) }
        script.send(bytes)
        if isChunked && size == bytes.count { script.send("\r\n".utf8) }
    }
}
