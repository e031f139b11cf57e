/// How one item of a batch ended, with how often it was sent and when.
public struct Outcome<Value: Sendable>: Sendable {
    /// How the item ended.
    public enum Result: Sendable {
        /// The item's value.
        case succeeded(Value)
        /// Why it failed for good.
        case failed(BatonError)
        /// It was under way when the batch was cancelled.
        case cancelled
        /// It was not begun when the batch ended.
        case notStarted
    }

    /// How the item ended.
    public let result: Result
    /// How often the item's request went to the transport; for an item that is a chain or a batch, 1 a round.
    public let attempts: Int
    /// When the item was begun, counted from the start of the batch; nil when it was not.
    public let started: Duration?
    /// How long the item took in all, waits and retries included; nil when it was not begun.
    public let duration: Duration?

    package init(result: Result, attempts: Int, started: Duration?, duration: Duration?) {
        self.result = result
        self.attempts = attempts
        self.started = started
        self.duration = duration
    }

    /// The value; nil unless the item succeeded.
    @inlinable
    public var value: Value? {
        if case .succeeded(let value) = result { value } else { nil }
    }

    /// The error; nil unless the item failed.
    @inlinable
    public var error: BatonError? {
        if case .failed(let error) = result { error } else { nil }
    }

    /// Whether the item succeeded.
    @inlinable
    public var isSuccess: Bool {
        if case .succeeded = result { true } else { false }
    }

    /// The value, or the error as a thrown one; cancelled and not started items throw `cancelled`.
    public func get() throws(BatonError) -> Value {
        switch result {
        case .succeeded(let value): return value
        case .failed(let error): throw error
        case .cancelled: throw BatonError(.cancelled, "the item was cancelled")
        case .notStarted: throw BatonError(.cancelled, "the item was not begun")
        }
    }
}
