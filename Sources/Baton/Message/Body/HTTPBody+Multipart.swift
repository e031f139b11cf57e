internal import Foundation

extension HTTPBody {
    /// A form of parts as `multipart/form-data` (RFC 7578).
    ///
    /// Files and streams are read while they are sent, and nothing is written to disk. The length is announced
    /// exactly, unless a stream of unknown length is among the parts. Small forms that are all in memory are sent as
    /// bytes. The body can be sent again if all of its parts can.
    ///
    /// - Parameters:
    ///   - parts: in the order in which they are sent; none make an empty form.
    ///   - boundary: what separates the parts; nil, the default, makes a random one for this value, which all of its
    ///     attempts share. One of your own has 1 to 70 characters of a token and occurs in no part; else the request
    ///     fails before anything is sent.
    public static func multipart(_ parts: [MultipartPart], boundary: String? = nil) -> HTTPBody {
        let form = MultipartForm(parts: parts, boundary: boundary)
        return HTTPBody(
            content: .prepare(isReplayable: parts.allSatisfy(\.isReplayable)) { try form.content() },
            contentType: "multipart/form-data; boundary=\(form.boundary)")
    }

    /// A form whose parts are added one after the other:
    ///
    /// ```swift
    /// .multipart { form in
    ///     form.append(.text("title", title))
    ///     if let photo { form.append(.file("photo", photo)) }
    /// }
    /// ```
    public static func multipart(
        boundary: String? = nil, _ build: (inout [MultipartPart]) throws -> Void
    ) rethrows -> HTTPBody {
        var parts: [MultipartPart] = []
        try build(&parts)
        return .multipart(parts, boundary: boundary)
    }
}

/// A form that is to be sent.
private struct MultipartForm: Sendable {
    /// Up to this size a form that is all in memory is copied into one piece.
    private static let copyLimit = 1 << 20

    let parts: [MultipartPart]
    let boundary: String
    private let isOwnBoundary: Bool

    init(parts: [MultipartPart], boundary: String?) {
        self.parts = parts
        // 128 random bits occur in no content, so they need not be looked for.
        self.boundary =
            boundary ?? "baton-" + (0..<2).map { _ in String(UInt64.random(in: 0 ... .max), radix: 16) }.joined()
        isOwnBoundary = boundary != nil
    }

    func content() throws -> HTTPBody.Content {
        try checkBoundary()
        var segments: [MultipartSegment] = []
        var pending = Data()
        func flush() {
            if !pending.isEmpty { segments.append(.bytes(pending)) }
            pending = Data()
        }
        for part in parts {
            pending += Data("--\(boundary)\r\n".utf8)
            pending += Data(try part.head().utf8)
            switch part.content {
            case .data(let data) where data.count <= 65_536: pending += data
            case .data(let data):
                flush()
                segments.append(.bytes(data))
            case .file(let url):
                flush()
                segments.append(.stream(try .file(url)))
            case .stream(let stream):
                flush()
                segments.append(.stream(stream))
            }
            pending += Data("\r\n".utf8)
        }
        pending += Data("--\(boundary)--\r\n".utf8)
        flush()
        return Self.content(of: segments)
    }

    private static func content(of segments: [MultipartSegment]) -> HTTPBody.Content {
        var total: Int64? = 0
        for segment in segments { total = total.flatMap { sum in segment.length.map { sum + $0 } } }
        if let total, total <= copyLimit, let bytes = MultipartSegment.joined(segments) { return .data(bytes) }
        return .stream(
            HTTPBodyStream(length: total, isReplayable: segments.allSatisfy(\.isReplayable)) {
                MultipartReader(segments)
            })
    }

    private func checkBoundary() throws(MessageFault) {
        guard isOwnBoundary else { return }
        guard (1...70).contains(boundary.utf8.count), boundary.utf8.allSatisfy(\.isTokenByte) else {
            throw MessageFault("multipart boundary", "is no token of 1 to 70 characters")
        }
        let delimiter = Data("--\(boundary)".utf8)
        for case .data(let data) in parts.map(\.content) where data.range(of: delimiter) != nil {
            throw MessageFault("multipart boundary", "occurs in a part: leave it out to have a random one")
        }
    }
}
