/// Fields and query parameters that are computed for each attempt, where the request has none of that name.
///
/// ```swift
/// Defaults(fields: { _ in ["X-Build": build.current] }, query: { context in ["attempt": .int(context.attempt)] })
/// ```
/// Those that never change belong in the client's `fields` and `query`, which cost nothing here. The closures run without a
/// lock, on whatever thread begins the attempt, a transport's included: they must not block. What they throw fails the
/// request before it is sent.
public struct Defaults: RequestAdapter {
    public let id: InterceptorID
    private let fields: (@Sendable (AttemptContext) throws -> HTTPFields)?
    private let query: (@Sendable (AttemptContext) throws -> QueryParameters)?

    /// Defaults that are worked out for each attempt.
    ///
    /// - Parameters:
    ///   - id: what a request names it by to do without it.
    ///   - fields: fields that a request has unless it sets them itself. Nil: none.
    ///   - query: parameters that follow those of the request. Nil: none.
    public init(
        id: InterceptorID = "Defaults", fields: (@Sendable (AttemptContext) throws -> HTTPFields)? = nil,
        query: (@Sendable (AttemptContext) throws -> QueryParameters)? = nil
    ) {
        self.id = id
        self.fields = fields
        self.query = query
    }

    public func adapt(_ request: inout HTTPRequest, context: AttemptContext) throws {
        if let fields = try fields?(context) { request.fields = request.fields.over(fields) }
        if let query = try query?(context) { request.target = CommonQuery(query).added(to: request.target) }
    }
}
