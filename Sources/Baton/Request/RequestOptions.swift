/// How one request is sent, where that differs from the client's configuration. Whatever is nil is the client's.
public struct RequestOptions: Sendable {
    /// Most requests have none of these, so they live behind one reference.
    private final class Box: Sendable {
        let values: Values
        init(_ values: Values) { self.values = values }
    }

    package struct Values: Sendable {
        var timeout: Duration?
        var retry: RetryPolicy?
    }

    private var box: Box?

    /// Nothing differs.
    public init() {}

    /// What is wrong with the values; nil when nothing is.
    package var fault: String? {
        guard let values = box?.values else { return nil }
        if let timeout = values.timeout, timeout <= .zero {
            return "the request's timeout is \(timeout): it must be longer than nothing"
        }
        return values.retry?.fault
    }

    private func with(_ change: (inout Values) -> Void) -> RequestOptions {
        var values = box?.values ?? Values()
        change(&values)
        var copy = self
        copy.box = Box(values)
        return copy
    }

    /// How long one attempt may take, from the moment it has its slot; nil: as the client says.
    public var timeout: Duration? {
        get { box?.values.timeout }
        set { self = with { $0.timeout = newValue } }
    }

    /// Whether and when it is sent again; nil: as the client says.
    public var retry: RetryPolicy? {
        get { box?.values.retry }
        set { self = with { $0.retry = newValue } }
    }
}
