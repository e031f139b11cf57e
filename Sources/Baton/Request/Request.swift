/// A typed description of one HTTP exchange: what is sent, and what comes back.
///
/// **Choose** a type of your own for a request that an app sends in many places, and ``Call`` for one that it does
/// not want to name.
///
/// ```swift
/// struct GetOrder: Request {
///     typealias Output = Order
///     let id: Int
///     var path: String { "/orders/\(id)" }
/// }
/// let order = try await client.run(GetOrder(id: 7))
/// ```
/// **Implement** what differs from the defaults. The members are read when the request is about to be sent, once for
/// all of its attempts, on any thread; they must not block. A request is a plan: it can stand wherever one can.
public protocol Request<Output>: Plan where Output: Response {
    /// Default: GET.
    var method: HTTPMethod { get }
    /// What follows the client's base URL, with or without a leading slash; it may have a query of its own. An
    /// absolute URL is accepted where the client has no base URL, or the same origin.
    var path: String { get }
    /// Parameters that follow those of the base URL and the path. Default: none.
    var query: QueryParameters { get }
    /// Header fields; each replaces the client's field of that name. Default: none.
    var fields: HTTPFields { get }
    /// Default: none. GET, HEAD and TRACE may have none.
    var body: HTTPBody { get }
    /// How it is sent, where that differs from the client's configuration. Default: no difference.
    var options: RequestOptions { get }
}

extension Request {
    public var method: HTTPMethod { .get }
    public var query: QueryParameters { QueryParameters() }
    public var fields: HTTPFields { HTTPFields() }
    public var body: HTTPBody { .none }
    public var options: RequestOptions { RequestOptions() }

    public var chain: Chain<Output> { Chain(node: .plan(self)) }

    public func _node(in context: _PlanContext) throws(BatonError) -> _PlanNode {
        .call(try CallDescription(self, in: context))
    }
}
