public import Foundation

/// A response body that was written to a file.
public struct DownloadedFile: Sendable {
    /// Where it is; with `keepBoth` it may have another name than the one that was asked for.
    public let url: URL
    /// Its size in bytes.
    public let byteCount: Int64
    /// Status and fields of the response that completed it; 206 where a download was resumed.
    public let head: HTTPResponseHead
    /// How many of its bytes were there before the last exchange and did not have to travel again; 0 when it came in one.
    public let resumedFrom: Int64

    package init(url: URL, byteCount: Int64, head: HTTPResponseHead, resumedFrom: Int64) {
        self.url = url
        self.byteCount = byteCount
        self.head = head
        self.resumedFrom = resumedFrom
    }
}

extension BatonError {
    /// A failure of the file system. It names the file, and nothing that stands above it.
    package static func file(_ what: String, _ url: URL, errno number: Int32) -> BatonError {
        BatonError(
            .fileFailed, "\(url.lastPathComponent) \(what): \(String(cString: strerror(number)))",
            underlying: POSIXErrorCode(rawValue: number).map { POSIXError($0) })
    }
}
