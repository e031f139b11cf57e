public import Foundation

/// Signs each attempt: a closure of the app's makes fields out of the canonical form of the request.
///
/// ```swift
/// Signing(fields: ["Host-Date"]) { request in ["X-Signature": hmac(request.text, key)] }
/// ```
/// Put it last, so that it sees what is sent. The algorithm is the app's; nothing here knows keys. A body that is a stream
/// is not part of what is signed.
public struct Signing: RequestAdapter {
    public var id: InterceptorID { "Signing" }
    private let names: [HTTPFieldName]
    private let sign: @Sendable (CanonicalRequest) throws -> HTTPFields

    /// - Parameters:
    ///   - fields: the fields that are signed as well. Default: Content-Type.
    ///   - sign: the fields to add; each replaces the request's own of that name.
    public init(
        fields: [HTTPFieldName] = [.contentType], sign: @escaping @Sendable (CanonicalRequest) throws -> HTTPFields
    ) {
        names = fields
        self.sign = sign
    }

    public func adapt(_ request: inout HTTPRequest, context: AttemptContext) throws {
        let canonical = CanonicalRequest(request, fields: names, date: context.date)
        request.fields.merge(try sign(canonical))
    }
}

/// A request in a form that both sides come to: everything in one order.
public struct CanonicalRequest: Sendable {
    /// The method, such as GET.
    public let method: HTTPMethod
    /// Host, with the port where it is not the usual one.
    public let host: String
    /// Percent-encoded, as it is sent.
    public let path: String
    /// The pairs of the query, percent-encoded as they are sent, sorted, joined with `&`; empty when there is none.
    public let query: String
    /// `name:value` of the signed fields, names in small letters, sorted, blanks around values gone, repeats joined with a
    /// comma.
    public let fields: [String]
    /// The bytes of the body; empty without one and for a stream.
    public let body: Data
    /// The wall clock.
    public let date: Date

    init(_ request: HTTPRequest, fields names: [HTTPFieldName], date: Date) {
        method = request.method
        host = request.origin.authority
        path = String(request.path)
        query = (request.query ?? "").split(separator: "&").sorted().joined(separator: "&")
        fields = names.compactMap { name in
            let values = request.fields.values(for: name).map { $0.trimmingCharacters(in: .whitespaces) }
            return values.isEmpty ? nil : "\(name.rawName.lowercased()):\(values.joined(separator: ","))"
        }.sorted()
        body = request.body.bytes ?? Data()
        self.date = date
    }

    /// Method, host, path, query and fields, a line each. The body is not in it: add its digest.
    public var text: String {
        ([method.rawValue, host, path, query] + fields).joined(separator: "\n")
    }
}

extension AttemptContext {
    /// The wall clock, for dates that are sent; a test moves it.
    public var date: Date { scheduler.date }
}
