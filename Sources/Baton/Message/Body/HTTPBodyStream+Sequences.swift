public import Foundation

extension HTTPBodyStream {
    /// The elements of an asynchronous sequence, one pulled at a time and only when it is wanted. It is sent at most
    /// once: a second attempt would find the sequence used up.
    ///
    /// - Parameter length: the number of bytes in all; nil when it is not known (the body is then chunked).
    public init<Source: AsyncSequence & Sendable>(from source: Source, length: Int64?) where Source.Element == Data {
        let isOpened = LockBox(false)
        self.init(length: length, isReplayable: false) {
            let wasOpened = isOpened.withLock { isOpened in
                defer { isOpened = true }
                return isOpened
            }
            if wasOpened { throw MessageFault("body", "can be read once and was read already") }
            return AsyncSequenceReader(source)
        }
    }

    /// The elements of a new asynchronous sequence for each attempt; `makeSource` must yield the same bytes each
    /// time.
    ///
    /// - Parameter length: the number of bytes in all; nil when it is not known (the body is then chunked).
    public init<Source: AsyncSequence & Sendable>(
        length: Int64?, makeSource: @escaping @Sendable () throws -> Source
    ) where Source.Element == Data {
        self.init(length: length, isReplayable: true) { AsyncSequenceReader(try makeSource()) }
    }

    /// A new `InputStream` for each attempt. Reading must not wait for anything but a disk, because it happens on a
    /// thread that others need; what waits belongs into an asynchronous sequence.
    ///
    /// - Parameter length: the number of bytes in all; nil when it is not known (the body is then chunked).
    public static func inputStream(
        length: Int64?, _ makeStream: @escaping @Sendable () throws -> InputStream
    ) -> HTTPBodyStream {
        HTTPBodyStream(length: length, isReplayable: true) { InputStreamReader(try makeStream()) }
    }
}

/// Reads an `InputStream`.
private final class InputStreamReader: HTTPBodyReader {
    private let stream: LockBox<InputStream>

    init(_ stream: InputStream) {
        stream.open()
        self.stream = LockBox(stream)
    }

    func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
        // There is one caller at a time, so reading needs no lock.
        let stream = self.stream.withLock { $0 }
        var bytes = Data(count: max(limit, 1))
        let count = bytes.withUnsafeMutableBytes { buffer in
            buffer.baseAddress.map { stream.read($0.assumingMemoryBound(to: UInt8.self), maxLength: buffer.count) } ?? 0
        }
        if count > 0 { return .bytes(bytes.prefix(count)) }
        if count < 0 || stream.streamStatus == .error {
            throw stream.streamError ?? MessageFault("body", "could not be read from its InputStream")
        }
        return .end
    }

    func close() { stream.withLock { $0.close() } }
}
