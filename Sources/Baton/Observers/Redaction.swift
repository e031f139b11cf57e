/// What is a secret, and what stands in its place in logs, errors and recordings.
///
/// ```swift
/// var redaction = Redaction()
/// redaction.add("X-Internal-Ticket", "iban")
/// redaction.url("https://u:pw@h/a?access_token=1")        // https://REDACTED@h/a?access_token=REDACTED
/// ```
/// A secret is known by its name: that of a field, of a parameter of a query or form, or of a key in JSON. Names are
/// compared without regard to case, `-`, `_` and `.`. Whatever is not a secret keeps its bytes.
public struct Redaction: Sendable {
    /// What stands in the place of a secret. It may stand in a URL.
    public static let placeholder = "REDACTED"

    /// Names that are secret as they are, without case and separators.
    private var names: Set<String> = [
        "auth", "bearer", "cookie", "cookies", "csrf", "cvc", "cvv", "jwt", "otp", "pass", "passcode", "pin", "pwd",
        "sessionid", "setcookie", "sid", "ssn", "xsrf",
    ]
    /// Parameters that are secret in a URL or a form, where such short names stand for credentials.
    private var parameterNames: Set<String> = ["key", "sig"]
    private static let parts = ["password", "passwd", "passphrase", "secret", "apikey", "accesstoken", "credential"]
    private static let endings = [
        "token", "authorization", "cookie", "signature", "sessionid", "accesskey", "accesskeyid", "accountkey",
        "authkey", "privatekey", "sharedkey", "subscriptionkey", "encryptionkey", "masterkey", "tokens",
    ]
    /// Names that end like a secret and are none: counts of tokens.
    private static let innocent: Set<String> = [
        "maxtokens", "totaltokens", "prompttokens", "completiontokens", "inputtokens", "outputtokens",
    ]

    /// The usual secrets: credentials, cookies, tokens, passwords, API keys, signatures.
    public init() {}

    /// Makes further names secret, wherever they stand.
    public mutating func add(_ names: String...) {
        self.names.formUnion(names.map { Self.folded($0) })
    }

    /// Whether what goes by this name is a secret.
    public func isSecret(_ name: String) -> Bool { isSecret(folded: Self.folded(name)) }

    private func isSecret(folded name: String) -> Bool {
        if names.contains(name) { return true }
        if Self.innocent.contains(name) { return false }
        return Self.endings.contains { name.hasSuffix($0) } || Self.parts.contains { name.contains($0) }
    }

    /// Whether a parameter of a query or form is a secret.
    func isSecretParameter(_ name: String) -> Bool {
        let name = Self.folded(name)
        return parameterNames.contains(name) || isSecret(folded: name)
    }

    /// Small ASCII letters, digits, and whatever is not ASCII.
    private static func folded(_ name: String) -> String {
        var bytes: [UInt8] = []
        for byte in name.utf8 where byte.isASCIIAlphanumeric || byte >= 0x80 { bytes.append(byte.asciiLowercased) }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Fields

    /// The fields with the values of secrets replaced; of others, what looks like a secret in their text.
    public func fields(_ fields: HTTPFields) -> HTTPFields {
        HTTPFields(
            fields.map { line in
                HTTPFields.Line(name: line.name, value: value(of: line.name.rawName, line.value))
            })
    }

    /// The value of one field. Of credentials the scheme stays: `Bearer REDACTED`.
    public func value(of name: String, _ value: String) -> String {
        guard isSecret(name) else { return text(value) }
        if let space = value.firstIndex(of: " "), value[..<space].allSatisfy(\.isLetter),
            ["authorization", "proxyauthorization"].contains(Self.folded(name))
        {
            return "\(value[..<space]) \(Self.placeholder)"
        }
        return value.isEmpty ? value : Self.placeholder
    }

    // MARK: URLs

    /// A URL, or a path with a query, with user info and secret parameters replaced.
    public func url(_ url: String) -> String {
        var head = url[...]
        var fragment: Substring = ""
        if let mark = head.firstIndex(of: "#") { (head, fragment) = (url[..<mark], url[mark...]) }
        var query: Substring = ""
        if let mark = head.firstIndex(of: "?") {
            query = head[head.index(after: mark)...]
            head = head[...mark]
        }
        // A fragment is not sent, but one with parameters can hold a token.
        if fragment.contains("=") { fragment = "#" + Substring(parameters(fragment.dropFirst())) }
        return withoutUser(head) + parameters(query) + fragment
    }

    private func withoutUser(_ url: Substring) -> String {
        guard let mark = url.firstRange(of: "://") else { return String(url) }
        let authority = url[mark.upperBound...].prefix { $0 != "/" && $0 != "?" }
        guard let at = authority.lastIndex(of: "@") else { return String(url) }
        return "\(url[..<mark.upperBound])\(Self.placeholder)\(url[at...])"
    }

    /// `name=value&…` with the values of secrets replaced.
    func parameters(_ text: some StringProtocol) -> String {
        Substring(text).split(separator: "&", omittingEmptySubsequences: false).map { pair in
            guard let mark = pair.firstIndex(of: "="), pair.index(after: mark) < pair.endIndex,
                isSecretParameter(PercentEncoding.decodeLeniently(pair[..<mark]))
            else { return String(pair) }
            return "\(pair[...mark])\(Self.placeholder)"
        }.joined(separator: "&")
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII letter or digit.
    var isASCIIAlphanumeric: Bool {
        self &- 48 < 10 || self.asciiLowercased &- 97 < 26
    }
}
