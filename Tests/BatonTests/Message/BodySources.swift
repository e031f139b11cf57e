import Baton
import Foundation

/// A file in a folder of its own, which goes away with it.
final class TemporaryFile: Sendable {
    let folder: URL
    let url: URL
    let contents: Data

    init(_ contents: Data, name: String) throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString)")
        url = folder.appendingPathComponent(name)
        self.contents = contents
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try contents.write(to: url)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}

/// Texts as an asynchronous sequence of data, which counts what was pulled.
struct Chunks: AsyncSequence, Sendable {
    let texts: [String]
    let error: CocoaError?
    private let count = LockBox(0)

    init(_ texts: [String], error: CocoaError? = nil) {
        self.texts = texts
        self.error = error
    }

    var pulled: Int { count.withLock { $0 } }

    struct AsyncIterator: AsyncIteratorProtocol {
        let chunks: Chunks
        var index = 0

        mutating func next() async throws -> Data? {
            await Task.yield()
            guard index < chunks.texts.count else {
                if let error = chunks.error { throw error }
                return nil
            }
            chunks.count.withLock { $0 += 1 }
            defer { index += 1 }
            return Data(chunks.texts[index].utf8)
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(chunks: self) }
}

/// A sequence whose first element never comes.
struct Stuck: AsyncSequence, Sendable {
    typealias Element = Data
    let started = Flag()
    let cancelled = Flag()

    struct AsyncIterator: AsyncIteratorProtocol {
        let stuck: Stuck

        mutating func next() async throws -> Data? {
            let cancelled = stuck.cancelled
            stuck.started.send()
            await withTaskCancellationHandler {
                await cancelled.wait()
            } onCancel: {
                cancelled.send()
            }
            throw CancellationError()
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stuck: self) }
}

/// An event that any number of tasks wait for.
struct Flag: Sendable {
    private let state = LockBox<(isSent: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))

    func send() {
        let waiting = state.withLock { state in
            defer { state = (true, []) }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isSent = state.withLock { state in
                if !state.isSent { state.waiting.append(continuation) }
                return state.isSent
            }
            if isSent { continuation.resume() }
        }
    }
}
