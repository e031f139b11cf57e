public import Foundation

/// A body that is read piece by piece while it is sent.
///
/// A stream is replayable when `open` can be called again and then yields the same bytes; only such a request
/// is sent again after a failure.
///
/// ```swift
/// HTTPBodyStream.data(bytes)                           // memory, replayable
/// HTTPBodyStream.file(url)                             // a file, opened for each attempt
/// HTTPBodyStream(from: chunks, length: nil)            // an AsyncSequence of Data, sent at most once
/// HTTPBodyStream(length: size) { makeChunks() }        // a new AsyncSequence for each attempt
/// ```
public struct HTTPBodyStream: Sendable {
    /// The number of bytes that a reader yields in all; nil when it is not known (the body is then chunked).
    public let length: Int64?
    /// Whether `open` may be called more than once.
    public let isReplayable: Bool
    private let makeReader: @Sendable () throws -> any HTTPBodyReader

    /// A stream of your own making.
    ///
    /// - Parameters:
    ///   - length: the number of bytes in all; nil, the default, when it is not known.
    ///   - isReplayable: whether `open` may be called more than once.
    ///   - open: starts at the beginning. What it throws fails the attempt before anything is sent.
    public init(
        length: Int64? = nil, isReplayable: Bool, open: @escaping @Sendable () throws -> any HTTPBodyReader
    ) {
        self.length = length
        self.isReplayable = isReplayable
        makeReader = open
    }

    /// Starts to read from the beginning. A transport calls it once for each attempt.
    ///
    /// Where the length is known, the reader yields exactly so many bytes or throws, because the length was
    /// announced already.
    public func open() throws -> any HTTPBodyReader {
        let reader = try makeReader()
        return if let length { ExactLengthReader(reader, length: length) } else { reader }
    }
}

/// Hands out the bytes of a body, in order. One caller reads it, one call at a time.
public protocol HTTPBodyReader: AnyObject, Sendable {
    /// At most `limit` further bytes, or the news that there are none now or no more at all.
    ///
    /// After `.later`, `whenReady` is called once, on any thread, as soon as reading again is worth while.
    func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece
    /// Reading is over, be it at the end or before; called once. Files are closed here.
    func close()
}

/// What a read yields.
public enum HTTPBodyPiece: Sendable {
    /// Bytes; never empty.
    case bytes(Data)
    /// Nothing now; the reader says when.
    case later
    /// Everything was read.
    case end
}
