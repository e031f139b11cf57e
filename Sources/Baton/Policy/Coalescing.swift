/// Lets identical requests that are under way at the same time share one exchange.
///
/// ```swift
/// Coalescing()
/// Coalescing(ignoring: ["X-Request-ID", "X-Screen"], identity: { _ in account.id })
/// ```
/// It is for safe methods only (RFC 9110, 9.2.1). Requests are identical when method, URL, body, identity and every
/// field agree but those that are ignored; the whole of it is compared. Each caller can cancel for itself, and the
/// last one that leaves cancels the exchange. A failure reaches those who wait and is not kept.
public struct Coalescing: Sendable {
    /// The fields that may differ. Default: those that only identify or trace one request.
    public var ignoredFields: Set<HTTPFieldName>
    /// Who asks, where no field of the request says so yet; for example a session that is added when the request is
    /// sent. Requests of different identities are never shared. Default: always the same.
    public var identity: @Sendable (HTTPRequest) -> String

    /// Coalescing; see the properties for what each value means.
    public init(
        ignoring ignoredFields: Set<HTTPFieldName> = Coalescing.tracingFields,
        identity: @escaping @Sendable (HTTPRequest) -> String = { _ in "" }
    ) {
        self.ignoredFields = ignoredFields
        self.identity = identity
    }

    /// `traceparent`, `tracestate`, `X-Request-ID` and `X-Correlation-ID`.
    public static let tracingFields: Set<HTTPFieldName> = [
        "traceparent", "tracestate", "X-Request-ID", "X-Correlation-ID",
    ]

    /// What a request shares an exchange by; nil for one that never does: its method is not safe, or its body is a
    /// stream or not encoded yet.
    package func key(of request: HTTPRequest) -> CoalescingKey? {
        guard request.method.isSafe, request.body.isNone || request.body.bytes != nil else { return nil }
        return CoalescingKey(request, ignoring: ignoredFields, identity: identity(request))
    }
}

/// A request as far as sharing its exchange goes. Equality compares all of it; the hash takes only part of it and
/// serves to find the few that might be equal.
package final class CoalescingKey: Hashable, Sendable {
    private let method: HTTPMethod
    private let origin: HTTPOrigin
    private let target: String
    /// Ordered by name; lines of one name keep their order, which can matter.
    private let fields: [HTTPFields.Line]
    private let body: HTTPBody
    private let identity: String

    init(_ request: HTTPRequest, ignoring ignored: Set<HTTPFieldName>, identity: String) {
        method = request.method
        origin = request.origin
        target = request.target
        fields = request.fields.enumerated()
            .filter { !ignored.contains($0.element.name) }
            .sorted { ($0.element.name.foldedHash, $0.offset) < ($1.element.name.foldedHash, $1.offset) }
            .map(\.element)
        body = request.body
        self.identity = identity
    }

    package static func == (a: CoalescingKey, b: CoalescingKey) -> Bool {
        a.method == b.method && a.origin.isSameOrigin(as: b.origin) && a.target == b.target
            && a.identity == b.identity && a.fields == b.fields
            && a.body.isNone == b.body.isNone && a.body.bytes == b.body.bytes
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(origin.host)
        hasher.combine(target)
        hasher.combine(identity)
    }
}
