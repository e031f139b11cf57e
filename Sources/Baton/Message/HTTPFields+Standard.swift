internal import Foundation

extension HTTPFields {
    /// What a client says of itself where nothing else is configured: `User-Agent`, `Accept` and `Accept-Language`.
    ///
    /// The agent is the process and Baton; JSON is preferred, and everything taken; the languages are those that the user
    /// prefers. `Accept-Encoding` is none of them: each transport names the codings that it decodes, unless the request
    /// has that field, and then the body may come as it was coded. Set it to `identity` for bodies as they are.
    public static let standard: HTTPFields = [
        .userAgent: userAgent, .accept: "application/json, */*;q=0.8", .acceptLanguage: acceptLanguage,
    ]

    private static var userAgent: String {
        let name = String(ProcessInfo.processInfo.processName.utf8.filter(\.isTokenByte).map { Character(.init($0)) })
        return name.isEmpty ? "Baton" : "\(name) Baton"
    }

    /// Up to six languages, each a little less wanted than the one before (RFC 9110, 12.5.4).
    private static var acceptLanguage: String {
        let languages = Locale.preferredLanguages.filter { tag in
            !tag.isEmpty && tag.utf8.allSatisfy { $0.isTokenByte && $0 != UInt8(ascii: "_") }
        }
        guard !languages.isEmpty else { return "*" }
        return languages.prefix(6).enumerated().map { index, language in
            index == 0 ? language : "\(language);q=0.\(10 - index)"
        }.joined(separator: ", ")
    }

    /// `Authorization` with a name and a password (RFC 7617), as UTF-8. A name with a colon cannot be told from its
    /// password by the server.
    ///
    /// ```swift
    /// client.fields.merge(.basic(user: "ada", password: password))
    /// ```
    public static func basic(user: String, password: String) -> HTTPFields {
        [.authorization: "Basic \(Data("\(user):\(password)".utf8).base64EncodedString())"]
    }

    /// `Authorization` with a token (RFC 6750). For one that is renewed, see ``Authentication``.
    public static func bearer(_ token: String) -> HTTPFields {
        [.authorization: "Bearer \(token)"]
    }
}
