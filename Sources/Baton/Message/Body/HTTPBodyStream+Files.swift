public import Foundation

extension HTTPBodyStream {
    /// A file, opened anew for each attempt and read in pieces. Its length is taken now.
    ///
    /// - Throws: an error that names the file when it is not there, is no regular file or may not be read. A file
    ///   whose size changes afterwards fails the attempt.
    public static func file(_ url: URL) throws -> HTTPBodyStream {
        let length = try FileSource.length(of: url)
        return HTTPBodyStream(length: length, isReplayable: true) { try FileReader(url) }
    }
}

/// A file that is to be sent.
enum FileSource {
    /// The size of a regular file, in bytes.
    static func length(of url: URL) throws -> Int64 {
        guard url.isFileURL else { throw fault(url, "is no file URL") }
        let path = url.resolvingSymlinksInPath().path
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path) else {
            throw fault(url, "does not exist or cannot be looked at")
        }
        guard attributes[.type] as? FileAttributeType == .typeRegular else { throw fault(url, "is no regular file") }
        guard FileManager.default.isReadableFile(atPath: path) else { throw fault(url, "may not be read") }
        guard let size = attributes[.size] as? NSNumber else { throw fault(url, "has no size") }
        return size.int64Value
    }

    /// The name of the file only: what stands above it is nobody's business.
    static func fault(_ url: URL, _ reason: String) -> MessageFault {
        MessageFault("body", "needs the file \(url.lastPathComponent), which \(reason)")
    }
}

/// Reads one file from its start.
private final class FileReader: HTTPBodyReader {
    private let handle: LockBox<FileHandle?>
    private let url: URL

    init(_ url: URL) throws {
        self.url = url
        do {
            handle = LockBox(try FileHandle(forReadingFrom: url))
        } catch {
            throw FileSource.fault(url, "cannot be opened any more: \(error.localizedDescription)")
        }
    }

    func read(upTo limit: Int, whenReady: @escaping @Sendable () -> Void) throws -> HTTPBodyPiece {
        guard let handle = handle.withLock({ $0 }) else { return .end }
        do {
            guard let bytes = try handle.read(upToCount: max(limit, 1)), !bytes.isEmpty else { return .end }
            return .bytes(bytes)
        } catch {
            throw FileSource.fault(url, "cannot be read to its end: \(error.localizedDescription)")
        }
    }

    func close() {
        let open = handle.withLock { handle in
            defer { handle = nil }
            return handle
        }
        try? open?.close()
    }
}
