internal import Foundation

/// A stretch of a form: bytes, or what is read elsewhere.
enum MultipartSegment: Sendable {
    case bytes(Data)
    case stream(HTTPBodyStream)

    var length: Int64? {
        switch self {
        case .bytes(let data): Int64(data.count)
        case .stream(let stream): stream.length
        }
    }

    var isReplayable: Bool {
        if case .stream(let stream) = self { stream.isReplayable } else { true }
    }

    /// All bytes in one piece; nil when one of the segments is read elsewhere.
    static func joined(_ segments: [MultipartSegment]) -> Data? {
        var all = Data()
        for segment in segments {
            guard case .bytes(let data) = segment else { return nil }
            all += data
        }
        return all
    }
}

/// Reads the segments of a form one after the other; each is opened when its turn comes, and closed when it is over.
final class MultipartReader: HTTPBodyReader {
    private struct State {
        var next: ArraySlice<MultipartSegment>
        var current: (any HTTPBodyReader)?
    }

    private let state: LockBox<State>

    init(_ segments: [MultipartSegment]) {
        state = LockBox(State(next: segments[...]))
    }

    func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
        while true {
            guard let reader = try current() else { return .end }
            let piece = try reader.read(upTo: limit, whenReady: whenReady)
            guard case .end = piece else { return piece }
            replace(nil)?.close()
        }
    }

    func close() {
        let reader = state.withLock { state in
            state.next = []
            defer { state.current = nil }
            return state.current
        }
        reader?.close()
    }

    /// The reader whose turn it is; nil when all have been read. Opening is not ours, so no lock is held.
    private func current() throws -> (any HTTPBodyReader)? {
        let (reader, segment) = state.withLock { state in
            (state.current, state.current == nil ? state.next.popFirst() : nil)
        }
        guard let segment else { return reader }
        let opened: any HTTPBodyReader
        switch segment {
        case .bytes(let data): opened = try HTTPBodyStream.data(data).open()
        case .stream(let stream): opened = try stream.open()
        }
        _ = replace(opened)
        return opened
    }

    private func replace(_ reader: (any HTTPBodyReader)?) -> (any HTTPBodyReader)? {
        state.withLock { state in
            defer { state.current = reader }
            return state.current
        }
    }
}
