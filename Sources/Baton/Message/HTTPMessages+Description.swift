/// Printed, a message shows what may be shown: no query, field or body, since any of them may hold a secret.
/// `CURLCommand` shows more.
extension HTTPRequest: CustomStringConvertible {
    public var description: String { "\(method) \(origin)\(path)" }
}

extension HTTPResponse: CustomStringConvertible {
    public var description: String { "status \(status), \(body.count) bytes" }
}
