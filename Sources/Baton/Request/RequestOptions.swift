/// How a request or a plan is run, where that differs from what stands around it. Whatever is nil is left as it is.
///
/// Nearest wins: a request's own options, then those of the plans around it, innermost first, then the client's
/// configuration. Deadlines are the exception: the earliest holds.
public struct RequestOptions: Sendable {
    /// Most requests have none of these, so they live behind one reference.
    private final class Box: Sendable {
        let values: Values
        init(_ values: Values) { self.values = values }
    }

    private struct Values: Sendable {
        var timeout: Duration?
        var retry: RetryPolicy?
        var deadline: Duration?
        var priority: Priority?
        var tag: String?
        var interceptors: InterceptorSelection?
        var cacheMode: CacheMode?
        var presentation: Presentation?
        var idempotency: Idempotency?
        var hedging: Hedging?
        var coalescing: Coalescing?
        var validation: Validation?
        var envelope: Envelope?
        var coding: BodyCoding?
        var redirects: Redirects?
        var maxResponseBytes: Int?
        var avoidedNetworks: NetworkKinds?
    }

    private var box: Box?

    /// Nothing differs.
    public init() {}

    /// Options of which `configure` says what differs.
    public init(_ configure: (inout RequestOptions) -> Void) { configure(&self) }

    /// Whether nothing differs.
    package var isEmpty: Bool { box == nil }

    /// How long one attempt may take, from the moment it has its slot; nil: as around it. Client's default: 60 s.
    public var timeout: Duration? {
        get { box?.values.timeout }
        set { change { $0.timeout = newValue } }
    }

    /// Whether and when it is sent again; nil: as around it.
    public var retry: RetryPolicy? {
        get { box?.values.retry }
        set { change { $0.retry = newValue } }
    }

    /// How long it may take in all, from the moment it begins: queueing, attempts and waits. When that is over it ends
    /// with `deadlineExceeded`. Nil, the default: no deadline of its own.
    public var deadline: Duration? {
        get { box?.values.deadline }
        set { change { $0.deadline = newValue } }
    }

    /// How urgent it is among those that wait for a slot; nil: as around it. Client's default: normal.
    public var priority: Priority? {
        get { box?.values.priority }
        set { change { $0.priority = newValue } }
    }

    /// A name by which it can be cancelled, see `Client.cancel(tag:)`. Nil, the default: none of its own.
    public var tag: String? {
        get { box?.values.tag }
        set { change { $0.tag = newValue } }
    }

    /// Which interceptors stand around it; nil: as around it. Client's default: all.
    public var interceptors: InterceptorSelection? {
        get { box?.values.interceptors }
        set { change { $0.interceptors = newValue } }
    }

    /// What the client's cache does with it; nil: as around it. Client's default: that of its cache; without one, nothing.
    public var cacheMode: CacheMode? {
        get { box?.values.cacheMode }
        set { change { $0.cacheMode = newValue } }
    }

    /// What says that the request may reach the server twice; nil: its method. Belongs to requests, not to plans.
    public var idempotency: Idempotency? {
        get { box?.values.idempotency }
        set { change { $0.idempotency = newValue } }
    }

    /// Whether a second copy is sent when the first takes long; nil: as around it. Client's default: no.
    public var hedging: Hedging? {
        get { box?.values.hedging }
        set { change { $0.hedging = newValue } }
    }

    /// Whether identical safe requests under way at the same time are sent once; nil: as around it. Client's default: no.
    public var coalescing: Coalescing? {
        get { box?.values.coalescing }
        set { change { $0.coalescing = newValue } }
    }

    /// Where and whether it is shown that it is loading or has failed, where it is run by itself; nil: it is, in the usual
    /// place. Within a chain or batch, what counts is what that says, see `Plan.presentation`.
    public var presentation: Presentation? {
        get { box?.values.presentation }
        set { change { $0.presentation = newValue } }
    }

    /// Which responses are accepted; nil: as around it. Client's default: the statuses 200 to 299.
    public var validation: Validation? {
        get { box?.values.validation }
        set { change { $0.validation = newValue } }
    }

    /// What the server wraps its answer in; `.bare` for nothing, nil: as around it. Client's default: nothing.
    public var envelope: Envelope? {
        get { box?.values.envelope }
        set { change { $0.envelope = newValue } }
    }

    /// What encodes its body and decodes its response; nil: the client's. Belongs to requests, not to plans.
    public var coding: BodyCoding? {
        get { box?.values.coding }
        set { change { $0.coding = newValue } }
    }

    /// What is done about redirects; nil: as around it. Client's default: at most 10 are followed.
    public var redirects: Redirects? {
        get { box?.values.redirects }
        set { change { $0.redirects = newValue } }
    }

    /// How many bytes of a response are kept in memory at most; nil: as around it. Client's default: 256 MB.
    public var maxResponseBytes: Int? {
        get { box?.values.maxResponseBytes }
        set { change { $0.maxResponseBytes = newValue } }
    }

    /// Which kinds of networks it does not use; nil: as around it. Client's default: none are avoided.
    public var avoidedNetworks: NetworkKinds? {
        get { box?.values.avoidedNetworks }
        set { change { $0.avoidedNetworks = newValue } }
    }

    private mutating func change(_ body: (inout Values) -> Void) {
        var values = box?.values ?? Values()
        body(&values)
        box = Box(values)
    }

    /// Whether any of them says how responses are treated, or how outputs are read.
    package var concernsResponses: Bool {
        guard let values = box?.values else { return false }
        return values.validation != nil || values.envelope != nil || values.redirects != nil
    }
    package var concernsReading: Bool {
        guard let values = box?.values else { return false }
        return values.envelope != nil || values.coding != nil
    }

    /// What is wrong with the values; nil when nothing is.
    package var fault: String? {
        guard let values = box?.values else { return nil }
        if let timeout = values.timeout, timeout <= .zero {
            return "the timeout is \(timeout): it must be longer than nothing"
        }
        if let deadline = values.deadline, deadline <= .zero {
            return "the deadline is \(deadline): it must be longer than nothing"
        }
        if let limit = values.maxResponseBytes, limit < 0 {
            return "maxResponseBytes is \(limit): it must be 0 or more"
        }
        return values.retry?.fault ?? values.hedging?.fault ?? values.redirects?.fault
    }

    /// These options, and where they say nothing, the others. Deadline and tag stay with what they were given to.
    package func over(_ outer: RequestOptions?) -> RequestOptions {
        guard let outer = outer?.box?.values else { return self }
        var options = self
        options.change { values in
            values.timeout = values.timeout ?? outer.timeout
            values.retry = values.retry ?? outer.retry
            values.priority = values.priority ?? outer.priority
            values.interceptors = values.interceptors ?? outer.interceptors
            values.cacheMode = values.cacheMode ?? outer.cacheMode
            values.hedging = values.hedging ?? outer.hedging
            values.coalescing = values.coalescing ?? outer.coalescing
            values.validation = values.validation ?? outer.validation
            values.envelope = values.envelope ?? outer.envelope
            values.redirects = values.redirects ?? outer.redirects
            values.maxResponseBytes = values.maxResponseBytes ?? outer.maxResponseBytes
            values.avoidedNetworks = values.avoidedNetworks ?? outer.avoidedNetworks
        }
        return options
    }

    /// Whether the plan they belong to can end before what stands around it: it then runs as a job of its own.
    package var isFence: Bool { box.map { $0.values.deadline != nil || $0.values.tag != nil } ?? false }
}
