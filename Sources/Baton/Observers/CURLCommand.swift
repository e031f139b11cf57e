internal import Foundation

/// A request as a line for a POSIX shell that sends it with curl.
///
/// ```swift
/// print(CURLCommand(request))       // curl 'https://api.example.com/users' -H 'Accept: application/json'
/// ```
/// Secrets are replaced unless you say otherwise. A body that is too long or a stream is left out, and a remark says so.
public struct CURLCommand: Sendable, CustomStringConvertible {
    public let description: String

    /// - Parameters:
    ///   - redaction: what is secret; nil writes everything out, for your own eyes only.
    ///   - maxBody: the longest body that is written. Default: 4,096 bytes.
    public init(_ request: HTTPRequest, redaction: Redaction? = Redaction(), maxBody: Int = 4_096) {
        var words = ["curl"]
        let fields = redaction?.fields(request.fields) ?? request.fields
        switch request.method {
        case .get where request.body.isNone: break
        case .head: words.append("--head")
        default: words.append("-X \(Self.quoted(request.method.rawValue))")
        }
        words.append("--globoff \(Self.quoted(redaction?.url(request.urlString) ?? request.urlString))")
        for line in fields {
            // A field without value is written with a semicolon; a colon would remove it.
            let text = line.value.isEmpty ? "\(line.name);" : "\(line.name): \(line.value)"
            words.append("-H \(Self.quoted(text))")
        }
        var input = ""
        var remark = ""
        if let body = request.body.bytes {
            let clean = redaction?.body(body, contentType: request.fields[.contentType]) ?? body
            if clean.count > maxBody {
                remark = " # a body of \(body.count) bytes is left out"
            } else if let text = String(data: clean, encoding: .utf8), !text.contains("\0"), !text.hasPrefix("@") {
                words.append("--data-binary \(Self.quoted(text))")
            } else {
                input = "echo \(clean.base64EncodedString()) | base64 -d | "
                words.append("--data-binary @-")
            }
        } else if !request.body.isNone {
            remark = " # a body that is a stream is left out"
        }
        description = input + words.joined(separator: " ") + remark
    }

    /// The text as one word of a POSIX shell, whatever it holds.
    static func quoted(_ text: String) -> String {
        "'" + text.replacingOccurrences(of: "'", with: #"'\''"#) + "'"
    }
}
