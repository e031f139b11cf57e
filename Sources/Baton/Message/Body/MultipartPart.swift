public import Foundation

/// One part of a `multipart/form-data` body (RFC 7578): a name, and what stands under it.
///
/// ```swift
/// .multipart([.text("title", "Notes"), .file("attachment", url), .data("icon", png, filename: "icon.png")])
/// ```
/// Names and file names are sent as UTF-8; a quote, CR, LF and NUL in them become `%22`, `%0D`, `%0A` and `%00`, as
/// browsers write them.
public struct MultipartPart: Sendable {
    enum Content: Sendable {
        case data(Data)
        case file(URL)
        case stream(HTTPBodyStream)
    }

    /// The name of the form's field.
    public var name: String
    /// The name of the file; nil when the part is none.
    public var filename: String?
    /// The value of the part's Content-Type; nil sends none, which means text.
    public var contentType: String?
    /// Further fields of the part; none by default. Content-Disposition is the part's own, and is refused here when
    /// the request is built, as is whatever would inject a field.
    public var fields: HTTPFields = [:]
    let content: Content

    private init(name: String, content: Content, filename: String?, contentType: String?) {
        self.name = name
        self.content = content
        self.filename = filename
        self.contentType = contentType
    }

    /// Text as UTF-8, without a file name.
    ///
    /// - Parameter contentType: nil, the default, sends none, as browsers do.
    public static func text(_ name: String, _ text: String, contentType: String? = nil) -> MultipartPart {
        MultipartPart(name: name, content: .data(Data(text.utf8)), filename: nil, contentType: contentType)
    }

    /// Bytes in memory.
    ///
    /// - Parameters:
    ///   - filename: nil, the default, sends none.
    ///   - contentType: nil, the default, goes by the extension of `filename`, and is `application/octet-stream` where
    ///     that says nothing.
    public static func data(
        _ name: String, _ data: Data, filename: String? = nil, contentType: String? = nil
    ) -> MultipartPart {
        MultipartPart(
            name: name, content: .data(data), filename: filename,
            contentType: contentType ?? filename.map(MediaType.ofFile(named:)) ?? MediaType.fallback)
    }

    /// A file, read while it is sent and opened anew for each attempt. Its length is taken when the request is built;
    /// a file that is missing or may not be read fails the request then.
    ///
    /// - Parameters:
    ///   - filename: nil, the default, is the name of the file.
    ///   - contentType: nil, the default, goes by the extension of the file name, and is `application/octet-stream`
    ///     where that says nothing.
    public static func file(
        _ name: String, _ url: URL, filename: String? = nil, contentType: String? = nil
    ) -> MultipartPart {
        let filename = filename ?? url.lastPathComponent
        return MultipartPart(
            name: name, content: .file(url), filename: filename,
            contentType: contentType ?? MediaType.ofFile(named: filename))
    }

    /// A stream. The body can be sent again only if the stream can, and its length is known only if the stream's is.
    ///
    /// - Parameters:
    ///   - filename: nil, the default, sends none.
    ///   - contentType: nil, the default, goes by the extension of `filename`, and is `application/octet-stream` where
    ///     that says nothing.
    public static func stream(
        _ name: String, _ stream: HTTPBodyStream, filename: String? = nil, contentType: String? = nil
    ) -> MultipartPart {
        MultipartPart(
            name: name, content: .stream(stream), filename: filename,
            contentType: contentType ?? filename.map(MediaType.ofFile(named:)) ?? MediaType.fallback)
    }

    /// Whether the part can be sent again.
    var isReplayable: Bool {
        if case .stream(let stream) = content { stream.isReplayable } else { true }
    }

    /// The part's fields with the empty line that ends them.
    func head() throws(MessageFault) -> String {
        var disposition = "form-data; name=\"\(Self.escape(name))\""
        if let filename { disposition += "; filename=\"\(Self.escape(filename))\"" }
        var lines: HTTPFields = ["Content-Disposition": disposition]
        if let contentType { lines[.contentType] = contentType }
        guard !fields.contains("Content-Disposition") else {
            throw MessageFault("field Content-Disposition of a part", "is made from its name and file name")
        }
        lines.merge(fields)
        if let (name, reason) = lines.firstInvalid { throw MessageFault("field \(name) of a part", reason) }
        return lines.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
    }

    private static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": escaped += "%22"
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            case "\0": escaped += "%00"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
