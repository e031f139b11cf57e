internal import Dispatch
internal import Foundation

/// Copies a streamed body to a temporary file, from which the session sends it.
///
/// Foundation on Linux reads an input stream on the queue that all sessions of the process share, takes "nothing
/// now" for the end, and sends it chunked whatever its length. A file has none of these faults.
final class BodySpool: Sendable {
    private struct Contents {
        var reader: (any HTTPBodyReader)?
        var handle: FileHandle?
        var length: Int64 = 0
        var isDiscarded = false
    }

    /// Where the body lies once it is complete.
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("baton-\(UUID().uuidString).body")
    private let stream: HTTPBodyStream
    /// Readers are not ours and may be slow: each has a queue of its own.
    let queue = DispatchQueue(label: "baton.urlsession.spool", qos: .utility)
    private let contents = LockBox(Contents())

    init(_ stream: HTTPBodyStream) { self.stream = stream }

    /// The number of bytes that were copied so far.
    var length: Int64 { contents.withLock { $0.length } }

    /// Copies the body, then says so once; nothing is said after `discard`.
    func fill(_ done: @escaping @Sendable (Result<Void, BatonError>) -> Void) {
        queue.async {
            guard !self.isDiscarded else { return }
            do throws(BatonError) {
                try self.open()
            } catch {
                self.close()
                return done(.failure(error))
            }
            self.copy(done)
        }
    }

    /// Removes the file at once, and closes the reader as soon as it is not being read. Safe at any time and often.
    func discard() {
        contents.withLock { $0.isDiscarded = true }
        try? FileManager.default.removeItem(at: file)
        queue.async { self.close() }
    }

    // MARK: On the queue

    private var isDiscarded: Bool { contents.withLock { $0.isDiscarded } }

    private func open() throws(BatonError) {
        do {
            let reader = try stream.open()
            contents.withLock { $0.reader = reader }
        } catch {
            throw .wrapping(error, as: .encodingFailed, "the body could not be opened")
        }
        // Readable by its owner only: bodies may be secret.
        let attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        guard FileManager.default.createFile(atPath: file.path, contents: nil, attributes: attributes),
            let handle = try? FileHandle(forWritingTo: file)
        else { throw BatonError(.transportFailed, "no temporary file could be made for the body") }
        contents.withLock { $0.handle = handle }
        // Discarded between the check and the making of the file.
        if isDiscarded { try? FileManager.default.removeItem(at: file) }
    }

    private func copy(_ done: @escaping @Sendable (Result<Void, BatonError>) -> Void) {
        let (reader, handle) = contents.withLock { ($0.reader, $0.handle) }
        guard let reader, let handle else { return }
        do throws(BatonError) {
            while true {
                if isDiscarded { return }
                switch try read(reader, done) {
                case .bytes(let bytes): try write(bytes, to: handle)
                case .later: return
                case .end:
                    try checkLength()
                    close()
                    return done(.success(()))
                }
            }
        } catch {
            close()
            done(.failure(error))
        }
    }

    private func read(
        _ reader: any HTTPBodyReader, _ done: @escaping @Sendable (Result<Void, BatonError>) -> Void
    ) throws(BatonError) -> HTTPBodyPiece {
        do {
            return try reader.read(upTo: 65_536) { self.queue.async { self.copy(done) } }
        } catch {
            throw .wrapping(error, as: .encodingFailed, "the body could not be read")
        }
    }

    private func write(_ bytes: Data, to handle: FileHandle) throws(BatonError) {
        do {
            try handle.write(contentsOf: bytes)
        } catch {
            throw BatonError(.transportFailed, "the body could not be copied to a temporary file", underlying: error)
        }
        contents.withLock { $0.length += Int64(bytes.count) }
    }

    private func checkLength() throws(BatonError) {
        guard let promised = stream.length, promised != length else { return }
        throw BatonError(
            .encodingFailed, "the body stream yields \(length) bytes where it promised \(promised)")
    }

    private func close() {
        let (reader, handle) = contents.withLock { contents in (contents.reader.take(), contents.handle.take()) }
        reader?.close()
        try? handle?.close()
    }
}
