internal import Baton
internal import Foundation

extension EventLoop {
    /// How much of a body is made at once, and how much is sent before other connections get their turn.
    private static let sliceBytes = 65_536
    private static let turnBytes = 1_048_576

    /// Runs the steps of a reply. Returns false when it must wait, or when the connection is over.
    func sendReply(_ connection: Connection) -> Bool {
        var budget = Self.turnBytes
        while true {
            guard case .nothing = connection.wait else { return false }
            guard flush(connection, &budget) else { return false }
            if connection.generation != nil {
                generate(connection)
                if connection.phase != .replying { return false }
                continue
            }
            guard connection.nextStep < connection.steps.count else { break }
            let step = connection.steps[connection.nextStep]
            connection.nextStep += 1
            perform(step, connection)
            if connection.phase != .replying { return false }
        }
        connection.steps = []
        if connection.inputEnded {
            end(connection)
            return false
        }
        connection.phase = .reading
        return true
    }

    private func perform(_ step: Step, _ connection: Connection) {
        switch step {
        case .send(let bytes):
            connection.output = bytes
            connection.outputStart = 0
        case .generate(let generation): connection.generation = generation
        case .pause(let duration):
            connection.wait = .time
            setDeadline(connection, Socket.now.addingCapped(duration.clampedNanoseconds))
        case .gate(let gate):
            come(to: gate, connection)
        case .stall: connection.wait = .forever
        case .close:
            if connection.inputEnded { return end(connection) }
            Socket.finishWriting(connection.descriptor)
            connection.phase = .lingering
            setDeadline(connection, Socket.now + Connection.lingerTime)
        case .reset: end(connection, byReset: true)
        }
    }

    /// Writes what is there to write. Returns false when not all of it went out.
    private func flush(_ connection: Connection, _ budget: inout Int) -> Bool {
        while connection.outputStart < connection.output.count {
            guard budget > 0 else {
                connection.wait = .writable
                return false
            }
            let progress = connection.output.withUnsafeBytes { bytes in
                Socket.write(connection.descriptor, UnsafeRawBufferPointer(rebasing: bytes[connection.outputStart...]))
            }
            switch progress {
            case .bytes(let count):
                connection.outputStart += count
                bytesSent += Int64(count)
                budget -= count
            case .wouldBlock, .end:
                connection.wait = .writable
                return false
            case .broken:
                end(connection)
                return false
            }
        }
        return true
    }

    /// Makes the next slice of a generated body.
    private func generate(_ connection: Connection) {
        guard var generation = connection.generation else { return }
        var count = Int(min(generation.end - generation.offset, Int64(Self.sliceBytes)))
        if generation.bytesPerSecond != nil {
            let now = Socket.now
            count = min(count, generation.allowance(at: now))
            connection.wait = .time
            setDeadline(connection, now + generation.throttleTick)
        }
        let bytes = count > 0 ? generation.bytes(generation.offset, count).prefix(count) : Data()
        generation.offset += Int64(bytes.count)
        let isOver = generation.offset >= generation.end
        connection.generation = isOver ? nil : generation
        if bytes.isEmpty && count > 0 { return end(connection) }
        if bytes.isEmpty { return }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + 20)
        if generation.isChunked { output.append(contentsOf: "\(String(bytes.count, radix: 16))\r\n".utf8) }
        output.append(contentsOf: bytes)
        if generation.isChunked { output.append(contentsOf: "\r\n".utf8) }
        connection.output = output
        connection.outputStart = 0
    }
}

extension Generation {
    /// How long to wait for the next slice, in nanoseconds: 5 ms, or as long as one byte takes.
    fileprivate var throttleTick: Int64 {
        max(5_000_000, 1_000_000_000 / Int64(bytesPerSecond ?? 1_000_000_000))
    }

    /// How many bytes the rate allows now, at least one for a start.
    fileprivate mutating func allowance(at now: Int64) -> Int {
        let begin = startedAt ?? now
        startedAt = begin
        let seconds = Double(now - begin + throttleTick) / 1e9
        return Int(max(0, min(seconds * Double(bytesPerSecond ?? 0) - Double(offset - first), 1e9)))
    }
}

extension Int64 {
    fileprivate func addingCapped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
