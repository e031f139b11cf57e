/// Names each attempt for tracing, as W3C Trace Context has it: a `traceparent` whose trace is the run's and whose parent
/// is new each time.
///
/// ```swift
/// let client = Client(baseURL: "https://api.example.com", interceptors: [TraceContext()])
/// ```
/// A request that has a `traceparent` already stays in that trace. `tracestate` is left as it is.
public struct TraceContext: RequestAdapter {
    public var id: InterceptorID { "TraceContext" }
    private let isSampled: Bool
    private let current: @Sendable () -> String?
    /// Keeps the traces of processes apart.
    private let salt = LockBox<UInt64?>(nil)

    /// - Parameters:
    ///   - sampled: whether the receiver is asked to record. Default: yes.
    ///   - current: the `traceparent` of what the app is doing; nil, the default, begins a trace for each run. It is asked
    ///     where the attempt is sent, so task-local values of the caller are not there.
    public init(sampled: Bool = true, current: @escaping @Sendable () -> String? = { nil }) {
        isSampled = sampled
        self.current = current
    }

    public func adapt(_ request: inout HTTPRequest, context: AttemptContext) {
        let given = request.fields["traceparent"].flatMap(Self.parts) ?? current().flatMap(Self.parts)
        let trace = given?.trace ?? newTrace(context)
        let flags = given?.flags ?? (isSampled ? "01" : "00")
        let parent = Self.hex(max(1, context.scheduler.random()))
        request.fields["traceparent"] = "00-\(trace)-\(parent)-\(flags)"
    }

    private func newTrace(_ context: AttemptContext) -> String {
        let drawn = context.scheduler.random()
        let salt = salt.withLock { salt in
            if salt == nil { salt = drawn }
            return salt ?? drawn
        }
        return Self.hex(max(1, salt)) + Self.hex(context.run)
    }

    /// Trace and flags of a value that is right; nil for any other.
    static func parts(_ value: String) -> (trace: String, flags: String)? {
        let parts = value.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count >= 4, parts.count == 4 || parts[0] != "00", parts[0] != "ff",
            zip(parts, [2, 32, 16, 2]).allSatisfy({ part, count in
                part.utf8.count == count && part.utf8.allSatisfy { $0.isDigit || (97...102).contains($0) }
            }), parts[1].contains(where: { $0 != "0" }), parts[2].contains(where: { $0 != "0" })
        else { return nil }
        return (String(parts[1]), String(parts[3]))
    }

    private static func hex(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
