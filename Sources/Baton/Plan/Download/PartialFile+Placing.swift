internal import Foundation

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

extension PartialFile {
    /// Puts the complete file where it belongs, in one step. Returns where that is.
    func place(at destination: URL, _ existing: ExistingFile) throws(BatonError) -> URL {
        switch existing {
        case .replace:
            guard rename(url.path, destination.path) == 0 else {
                throw .file("cannot be put in its place", destination, errno: errno)
            }
            return destination
        case .fail:
            guard try link(to: destination) else { throw Self.exists(destination) }
            return destination
        case .keepBoth:
            for number in 1...10_000 {
                let candidate = number == 1 ? destination : Self.numbered(destination, number)
                if try link(to: candidate) { return candidate }
            }
            throw Self.exists(destination)
        }
    }

    static func exists(_ url: URL) -> BatonError {
        .file("is there already; replace it, or keep both", url, errno: EEXIST)
    }

    private static func numbered(_ url: URL, _ number: Int) -> URL {
        let (name, suffix) = (url.deletingPathExtension().lastPathComponent, url.pathExtension)
        let numbered = "\(name) \(number)" + (suffix.isEmpty ? "" : ".\(suffix)")
        return url.deletingLastPathComponent().appendingPathComponent(numbered)
    }

    /// Gives the file its name unless that is taken: a rename would replace what came there meanwhile. False when it is.
    private func link(to target: URL) throws(BatonError) -> Bool {
        #if canImport(Darwin)
            let result = Darwin.link(url.path, target.path)
        #elseif canImport(Glibc)
            let result = Glibc.link(url.path, target.path)
        #else
            let result = Musl.link(url.path, target.path)
        #endif
        if result == 0 {
            _ = unlink(url.path)
            return true
        }
        if errno == EEXIST { return false }
        // Not every file system knows links.
        guard errno == EPERM || errno == ENOTSUP || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK else {
            throw .file("cannot be put in its place", target, errno: errno)
        }
        if access(target.path, F_OK) == 0 { return false }
        guard rename(url.path, target.path) == 0 else {
            throw .file("cannot be put in its place", target, errno: errno)
        }
        return true
    }
}
