internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// The body of a request as a session can take it: all of it is there, and its length is known.
enum URLSessionBody: Sendable {
    case none
    case bytes(Data)
    case file(BodySpool)

    init(_ body: HTTPBody, _ spool: BodySpool?) {
        if let spool, spool.length > 0 {
            self = .file(spool)
        } else if let bytes = body.bytes, !bytes.isEmpty {
            self = .bytes(bytes)
        } else {
            self = .none
        }
    }

    var length: Int64 {
        switch self {
        case .none: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let spool): spool.length
        }
    }

    /// The body from its beginning; nil when there is none.
    func openStream() -> InputStream? {
        switch self {
        case .none: nil
        case .bytes(let bytes): InputStream(data: bytes)
        case .file(let spool): InputStream(url: spool.file)
        }
    }

    #if canImport(FoundationNetworking)
        /// Foundation on Linux can rewind only a stream: when a connection that was kept open breaks, any other body
        /// is not sent again, and the request hangs. A file moreover traps when its upload is cancelled. A stream
        /// would be chunked; the blank field is left out by libcurl and keeps it from doing so.
        func attach(to message: inout URLRequest) {
            guard let stream = openStream() else { return }
            message.httpBodyStream = stream
            message.setValue(String(length), forHTTPHeaderField: "Content-Length")
            message.setValue(" ", forHTTPHeaderField: "Transfer-Encoding")
        }

        func makeTask(of session: URLSession, with message: URLRequest) -> URLSessionTask {
            session.dataTask(with: message)
        }
    #else
        func attach(to message: inout URLRequest) {
            if case .bytes(let bytes) = self { message.httpBody = bytes }
        }

        func makeTask(of session: URLSession, with message: URLRequest) -> URLSessionTask {
            guard case .file(let spool) = self else { return session.dataTask(with: message) }
            return session.uploadTask(with: message, fromFile: spool.file)
        }
    #endif
}
