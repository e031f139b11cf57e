public import Foundation

extension HTTPBody {
    /// A body that is read while it is sent.
    public static func stream(
        _ stream: HTTPBodyStream, contentType: String? = "application/octet-stream"
    ) -> HTTPBody {
        HTTPBody(content: .stream(stream), contentType: contentType)
    }

    /// The elements of an asynchronous sequence, one pulled at a time and only when it is wanted. The body is sent
    /// at most once: a failed request that has it is not sent again.
    ///
    /// - Parameters:
    ///   - length: the number of bytes in all; nil, the default, when it is not known (the body is then chunked).
    ///   - contentType: defaults to `application/octet-stream` (RFC 2046); nil sends none.
    public static func stream<Source: AsyncSequence & Sendable>(
        from source: Source, length: Int64? = nil, contentType: String? = "application/octet-stream"
    ) -> HTTPBody where Source.Element == Data {
        .stream(HTTPBodyStream(from: source, length: length), contentType: contentType)
    }

    /// A file, read while it is sent and opened anew for each attempt; nothing of it is kept in memory.
    ///
    /// A file that is missing, is no regular file or may not be read fails the request before anything is sent, with
    /// an error that names it. The length is taken when the request is built.
    ///
    /// - Parameter contentType: nil, the default, goes by the file's extension, and is `application/octet-stream`
    ///   where that says nothing.
    public static func file(_ url: URL, contentType: String? = nil) -> HTTPBody {
        HTTPBody(
            content: .prepare(isReplayable: true) { .stream(try HTTPBodyStream.file(url)) },
            contentType: contentType ?? MediaType.ofFile(named: url.lastPathComponent))
    }
}
