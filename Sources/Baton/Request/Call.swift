/// A request without a type of its own.
///
/// ```swift
/// Call("/users", as: [User].self) { $0.query = ["page": 2] }
/// Call("/orders", as: Order.self) {
///     $0.method = .post
///     $0.body = .json(draft)
/// }
/// ```
public struct Call<Output: Response>: Request {
    public var method: HTTPMethod
    public var path: String
    public var query = QueryParameters()
    public var fields = HTTPFields()
    public var body = HTTPBody.none
    public var options = RequestOptions()

    /// A request to `path`, whose response is read as `Output`; `configure` changes what differs from the defaults.
    public init(
        _ path: String, method: HTTPMethod = .get, as output: Output.Type = Output.self,
        configure: (inout Call) -> Void = { _ in }
    ) {
        self.path = path
        self.method = method
        configure(&self)
    }
}
