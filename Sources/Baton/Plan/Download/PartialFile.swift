internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// A file that is not complete yet, beside the place where it belongs; locked, so that one download at a time, of
/// whatever process, writes to it. Used by one thread at a time.
final class PartialFile: Sendable {
    typealias Write = @Sendable (Int32, UnsafeRawPointer, Int, off_t) -> Int

    let url: URL
    private let noteURL: URL
    /// Whether later downloads look for it; otherwise another one was at work in that place.
    private let isKnown: Bool
    private let descriptor: LockBox<Int32>
    private let write: Write

    private init(_ url: URL, note: URL, isKnown: Bool, descriptor: Int32, write: @escaping Write) {
        self.url = url
        noteURL = note
        self.isKnown = isKnown
        self.descriptor = LockBox(descriptor)
        self.write = write
    }

    deinit { close() }

    /// Opens what an earlier download has left for that destination, or an empty file.
    static func open(
        for destination: URL, write: @escaping Write = { pwrite($0, $1, $2, $3) }
    ) throws(BatonError) -> PartialFile {
        let folder = destination.deletingLastPathComponent()
        // Names have at most 255 bytes; which file it is, the note says.
        let name = String(decoding: destination.lastPathComponent.utf8.prefix(180), as: UTF8.self)
        let note = folder.appendingPathComponent(".\(name).resume")
        let known = folder.appendingPathComponent(".\(name).partial")
        if let descriptor = try lockedDescriptor(known) {
            return PartialFile(known, note: note, isKnown: true, descriptor: descriptor, write: write)
        }
        let own = folder.appendingPathComponent(".\(name).\(UInt64.random(in: 0 ... .max)).partial")
        guard let descriptor = try lockedDescriptor(own) else {
            throw .file("cannot be locked", own, errno: EWOULDBLOCK)
        }
        return PartialFile(own, note: note, isKnown: false, descriptor: descriptor, write: write)
    }

    /// Nil when another download has the file.
    private static func lockedDescriptor(_ url: URL) throws(BatonError) -> Int32? {
        while true {
            #if canImport(Darwin)
                let descriptor = Darwin.open(url.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
            #elseif canImport(Glibc)
                let descriptor = Glibc.open(url.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
            #else
                let descriptor = Musl.open(url.path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
            #endif
            if descriptor < 0 {
                if errno == EINTR { continue }
                throw .file("cannot be made", url, errno: errno)
            }
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
                _ = Foundation.close(descriptor)
                return nil
            }
            // Whoever had it locked may have put it in its place meanwhile: then the name is another file's, or nobody's.
            var (opened, named) = (stat(), stat())
            if fstat(descriptor, &opened) == 0, lstat(url.path, &named) == 0, opened.st_ino == named.st_ino,
                opened.st_dev == named.st_dev
            {
                return descriptor
            }
            _ = Foundation.close(descriptor)
        }
    }

    private var open: Int32 { descriptor.withLock { $0 } }

    var size: Int64 {
        var status = stat()
        return fstat(open, &status) == 0 ? Int64(status.st_size) : 0
    }

    func write(_ bytes: Data, at offset: Int64) throws(BatonError) {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                write(open, buffer.baseAddress! + done, buffer.count - done, off_t(offset + Int64(done)))
            }
            if count > 0 {
                done += count
            } else if errno != EINTR {
                throw .file("cannot be written", url, errno: errno)
            }
        }
    }

    func truncate(to size: Int64) throws(BatonError) {
        while ftruncate(open, off_t(size)) != 0 {
            if errno != EINTR { throw .file("cannot be cut", url, errno: errno) }
        }
    }

    /// Returns when the bytes are on the disk.
    func sync() throws(BatonError) {
        if fsync(open) != 0, errno != EINVAL, errno != ENOTSUP, errno != EINTR {
            throw .file("cannot be written to the disk", url, errno: errno)
        }
    }

    func close() {
        let descriptor = descriptor.withLock { descriptor in
            defer { descriptor = -1 }
            return descriptor
        }
        if descriptor >= 0 { _ = Foundation.close(descriptor) }
    }

    /// The file is of no use.
    func discard() {
        _ = unlink(url.path)
        removeNote()
        close()
    }

    // MARK: The note

    /// What an earlier download noted; nil where there is nothing that can be trusted.
    func note() -> ResumeNote? {
        guard isKnown, let data = try? Data(contentsOf: noteURL), data.count <= 65_536,
            let note = try? JSONDecoder().decode(ResumeNote.self, from: data), note.version == 1, note.bytes > 0,
            note.bytes <= size, note.total.map({ note.bytes <= $0 }) ?? true
        else { return nil }
        return note
    }

    /// Notes how far it is, once the bytes are on the disk. URLs may be secret: the note is its owner's only.
    func keep(_ note: ResumeNote) {
        guard isKnown, (try? sync()) != nil, let data = try? JSONEncoder().encode(note) else { return }
        let fresh = noteURL.appendingPathExtension("new")
        _ = unlink(fresh.path)
        guard FileManager.default.createFile(atPath: fresh.path, contents: data, attributes: [.posixPermissions: 0o600])
        else { return }
        if rename(fresh.path, noteURL.path) != 0 { _ = unlink(fresh.path) }
    }

    func removeNote() {
        if isKnown { _ = unlink(noteURL.path) }
    }
}
