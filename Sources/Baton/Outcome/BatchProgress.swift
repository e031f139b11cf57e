/// How far a batch is. The five counts sum to the total wherever the total is known.
public struct BatchProgress: Sendable, Hashable {
    /// The number of items; nil while an input of unknown length is still being read.
    public var total: Int?
    /// Items not begun yet; of an input of unknown length, those known to be waiting.
    public var pending = 0
    /// Items under way, those that wait for another attempt included.
    public var running = 0
    /// Items that succeeded.
    public var succeeded = 0
    /// Items that failed and are not being sent again.
    public var failed = 0
    /// Items that were cancelled.
    public var cancelled = 0

    /// Counts of zero.
    public init() {}

    /// Items that are over.
    public var completed: Int { succeeded + failed + cancelled }

    /// The share of items that are over, 0 to 1; nil while the total is unknown, 1 for an empty batch.
    public var fraction: Double? {
        total.map { $0 == 0 ? 1 : Double(completed) / Double($0) }
    }
}
