internal import Foundation

/// Reads an asynchronous sequence by demand: one task pulls one element, and the next only when that one was read.
final class AsyncSequenceReader: HTTPBodyReader {
    private let state = LockBox(AsyncSequenceReaderState())

    init<Source: AsyncSequence & Sendable>(_ source: Source) where Source.Element == Data {
        let state = state
        let task = Task {
            do {
                // The iterator stays inside the task; nothing is pulled before the first read.
                guard await Self.demand(state) else { return }
                for try await element in source where !element.isEmpty {
                    Self.perform(state.withLock { $0.receive(element) })
                    guard await Self.demand(state) else { return }
                }
                Self.perform(state.withLock { $0.finish(nil) })
            } catch {
                Self.perform(state.withLock { $0.finish(error) })
            }
        }
        if state.withLock({ $0.hold(task) }) { task.cancel() }
    }

    func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
        let (result, action) = state.withLock { $0.read(upTo: max(limit, 1), whenReady: whenReady) }
        Self.perform(action)
        return try result.get()
    }

    func close() {
        let (task, action) = state.withLock { $0.close() }
        task?.cancel()
        Self.perform(action)
    }

    deinit { close() }

    /// Whether another element is wanted; waits until that is known.
    private static func demand(_ state: LockBox<AsyncSequenceReaderState>) async -> Bool {
        await withCheckedContinuation { continuation in
            perform(state.withLock { $0.wait(continuation) })
        }
    }

    private static func perform(_ action: AsyncSequenceReaderState.Action) {
        switch action {
        case .nothing: break
        case .tell(let whenReady): whenReady()
        case .pull(let continuation, let isWanted): continuation.resume(returning: isWanted)
        }
    }
}

/// What an `AsyncSequenceReader` knows; every event says what to do once the lock is gone.
struct AsyncSequenceReaderState {
    typealias Puller = CheckedContinuation<Bool, Never>

    enum Action {
        case nothing
        case tell(@Sendable () -> Void)
        case pull(Puller, Bool)
    }

    private var element = Data()
    private var puller: Puller?
    private var whenReady: (@Sendable () -> Void)?
    private var end: Result<HTTPBodyPiece, any Error>?
    private var task: Task<Void, Never>?
    private var isClosed = false

    /// Keeps the task; returns whether it is to be cancelled because reading is over already.
    mutating func hold(_ task: Task<Void, Never>) -> Bool {
        if !isClosed && end == nil { self.task = task }
        return isClosed
    }

    mutating func read(
        upTo limit: Int, whenReady: @escaping @Sendable () -> Void
    ) -> (Result<HTTPBodyPiece, any Error>, Action) {
        if !element.isEmpty {
            let piece = element.prefix(limit)
            element = element.dropFirst(piece.count)
            return (.success(.bytes(piece)), .nothing)
        }
        if let end { return (end, .nothing) }
        self.whenReady = whenReady
        guard let puller else { return (.success(.later), .nothing) }
        self.puller = nil
        return (.success(.later), .pull(puller, true))
    }

    /// The task asks whether it shall pull; it is answered at once when someone waits or nobody ever will.
    mutating func wait(_ puller: Puller) -> Action {
        if isClosed { return .pull(puller, false) }
        if whenReady != nil { return .pull(puller, true) }
        self.puller = puller
        return .nothing
    }

    mutating func receive(_ element: Data) -> Action {
        self.element = element
        return takeNotice()
    }

    mutating func finish(_ error: (any Error)?) -> Action {
        end = error.map { .failure($0) } ?? .success(.end)
        task = nil
        return takeNotice()
    }

    mutating func close() -> (Task<Void, Never>?, Action) {
        isClosed = true
        whenReady = nil
        element = Data()
        defer {
            task = nil
            puller = nil
        }
        return (task, puller.map { .pull($0, false) } ?? .nothing)
    }

    private mutating func takeNotice() -> Action {
        defer { whenReady = nil }
        return whenReady.map { .tell($0) } ?? .nothing
    }
}
