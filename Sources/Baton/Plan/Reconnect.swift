/// One pass over a batch: every item has landed, and at least one has failed.
public struct Round: Sendable {
    /// 1 after the first pass.
    public let number: Int
    /// The items that failed, by index.
    public let failures: [Failure]

    /// An item that failed in this pass.
    public struct Failure: Sendable {
        /// The item's place in the input.
        public let index: Int
        /// Why it failed in this pass.
        public let error: BatonError
        /// How often the item was sent so far, in all passes.
        public let attempts: Int
    }
}

/// What to do with the failures of a pass.
public enum Reconnection: Sendable {
    /// Send the named items again, after a wait. What did not fail is ignored; none at all is `accept`.
    case retry([Int], after: Duration = .zero)
    /// The failures stand: the batch is done.
    case accept
}
