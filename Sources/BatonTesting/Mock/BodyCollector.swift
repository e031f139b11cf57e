internal import Baton
internal import Foundation

/// Reads a body that is a stream to its end, without holding a thread while there is nothing to read.
final class BodyCollector: Job {
    private struct State {
        var reader: (any HTTPBodyReader)?
        var data = Data()
        var isReading = false
        var isReady = false
        var isOver = false
    }

    private let stream: HTTPBodyStream
    private let scheduler: any Scheduler
    private let progress: @Sendable (Int64, Int64?) -> Void
    private let completion: @Sendable (Result<Data, any Error>) -> Void
    private let state = LockBox(State())

    init(
        _ stream: HTTPBodyStream, _ scheduler: any Scheduler,
        progress: @escaping @Sendable (Int64, Int64?) -> Void = { _, _ in },
        completion: @escaping @Sendable (Result<Data, any Error>) -> Void
    ) {
        self.stream = stream
        self.scheduler = scheduler
        self.progress = progress
        self.completion = completion
    }

    /// Opens the stream and begins.
    func read() {
        do {
            let reader = try stream.open()
            state.withLock { $0.reader = reader }
            readOn()
        } catch {
            finish(.failure(error))
        }
    }

    /// Reads no further; the completion is not called any more.
    func cancel() {
        let reader: (any HTTPBodyReader)? = state.withLock { state in
            state.isOver = true
            // One call at a time: while a read is under way, whoever reads closes.
            guard !state.isReading else { return nil }
            defer { state.reader = nil }
            return state.reader
        }
        reader?.close()
    }

    func run(_ signal: Signal) { readOn() }

    private func readOn() {
        while true {
            let reader: (any HTTPBodyReader)? = state.withLock { state in
                guard !state.isOver, !state.isReading else { return nil }
                state.isReading = true
                state.isReady = false
                return state.reader
            }
            guard let reader else { return }
            let piece = Result { try reader.read(upTo: 65_536) { [self] in becameReady() } }
            switch piece {
            case .success(.bytes(let bytes)):
                let count: Int? = landed { state in
                    state.data.append(bytes)
                    return state.data.count
                }
                guard let count else { return }
                progress(Int64(count), stream.length)
            case .success(.later):
                guard landed({ $0.isReady }) == true else { return }
            case .success(.end):
                if let data = landed({ $0.data }) { finish(.success(data)) }
                return
            case .failure(let error):
                if landed({ _ in true }) != nil { finish(.failure(error)) }
                return
            }
        }
    }

    /// A read has returned; nil when it was cancelled meanwhile.
    private func landed<T>(_ change: (inout State) -> T) -> T? {
        let (result, abandoned): (T?, (any HTTPBodyReader)?) = state.withLock { state in
            state.isReading = false
            guard state.isOver else { return (change(&state), nil) }
            defer { state.reader = nil }
            return (nil, state.reader)
        }
        abandoned?.close()
        return result
    }

    private func becameReady() {
        let isIdle = state.withLock { state in
            state.isReady = true
            return !state.isReading && !state.isOver
        }
        if isIdle { scheduler.post(self, Signal(kind: 0)) }
    }

    private func finish(_ result: Result<Data, any Error>) {
        let (reader, isFirst) = state.withLock { state in
            defer { (state.reader, state.isOver) = (nil, true) }
            return (state.reader, !state.isOver)
        }
        reader?.close()
        if isFirst { completion(result) }
    }
}
