import Baton
import Foundation

/// Carries exchanges to a child process. A request is a line, `{"id": 1, "method": "GET", "path": "/words"}`; an answer is
/// one as well, `{"id": 1, "status": 200, "body": …}`, in any order.
final class ChildProcessTransport: Transport {
    private struct State {
        var open: [Int: TransportReceiver] = [:]
        var next = 1
        var isClosed = false
    }

    private let process = Process()
    private let input = Pipe()
    private let lock = NSLock()
    private nonisolated(unsafe) var state = State()

    init(_ program: URL, arguments: [String]) throws {
        let output = Pipe()
        process.executableURL = program
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // A thread of its own reads; no thread of the library's waits for the child.
        Thread.detachNewThread { [weak self] in
            var rest = Data()
            while case let bytes = output.fileHandleForReading.availableData, !bytes.isEmpty {
                rest.append(bytes)
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    self?.received(Data(rest[..<end]))
                    rest.removeSubrange(...end)
                }
            }
            self?.shutdown()
        }
    }

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        let id: Int? = lock.withLock {
            guard !state.isClosed else { return nil }
            defer { state.next += 1 }
            state.open[state.next] = receiver
            return state.next
        }
        guard let id else {
            receiver.fail(BatonError(.transportClosed, "the child process has ended"))
            return FinishedTransmission.shared
        }
        let line: JSONValue = [
            "id": .int(Int64(id)), "method": .string(request.method.rawValue), "path": .string(String(request.path)),
        ]
        try? input.fileHandleForWriting.write(contentsOf: line.data + Data("\n".utf8))
        return Cancelling { [weak self] in self?.end(id)?.fail(BatonError(.cancelled)) }
    }

    /// Whoever takes the receiver out ends the exchange; so it ends once.
    private func end(_ id: Int) -> TransportReceiver? { lock.withLock { state.open.removeValue(forKey: id) } }

    private func received(_ line: Data) {
        guard let answer = try? JSONValue(data: line), let id = answer["id"].int, let receiver = end(id) else { return }
        receiver.complete(HTTPResponse(status: answer["status"].int ?? 500, body: answer["body"].data))
    }

    func shutdown() {
        let open = lock.withLock {
            defer { (state.open, state.isClosed) = ([:], true) }
            return state.open
        }
        for receiver in open.values { receiver.fail(BatonError(.connectionLost, "the child process has ended")) }
        try? input.fileHandleForWriting.close()
    }
}

/// Cancels by a closure.
final class Cancelling: Transmission {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    func cancel() { body() }
}
