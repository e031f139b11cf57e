/// What became of a batch: one outcome for each index of its input, in the input's order.
///
/// ```swift
/// let report = try await client.run(Batch(requests))
/// report[3].value                              // the fourth item's value, if it succeeded
/// for failure in report.failures { print(failure.index, failure.error) }
/// ```
/// A report is a snapshot that never changes.
public struct Report<Item: Sendable>: Sendable, RandomAccessCollection {
    package let results: BatchResults<Item>
    public let count: Int

    package init(_ results: BatchResults<Item>) {
        self.results = results
        count = results.log.count
    }

    /// An item that succeeded.
    public struct Success: Sendable {
        /// The item's place in the input.
        public let index: Int
        /// What the item yielded.
        public let value: Item
    }

    /// An item that failed for good.
    public struct Failure: Sendable {
        /// The item's place in the input.
        public let index: Int
        /// Why it failed.
        public let error: BatonError
        /// How often it went to the transport.
        public let attempts: Int
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { count }

    /// The outcome of the item at that index of the input.
    public subscript(index: Int) -> Outcome<Item> {
        precondition((0..<count).contains(index), "index \(index) is outside a report of \(count) items")
        return results.outcome(at: index)
    }

    /// The items that succeeded, by index.
    public var successes: [Success] {
        indices.compactMap { index in
            results.outcome(at: index).value.map { Success(index: index, value: $0) }
        }
    }

    /// The items that failed, by index; cancelled ones and those not begun are not among them.
    public var failures: [Failure] {
        results.log.failedIndices.map { index in
            let outcome = results.outcome(at: index)
            return Failure(
                index: index, error: outcome.error ?? BatonError(.cancelled), attempts: outcome.attempts)
        }
    }

    /// For each index the value, nil where the item did not succeed.
    public var values: [Item?] { map(\.value) }

    /// How many items there are of each kind.
    public var counts: BatchProgress { results.log.progress(total: count) }

    /// Whether every item succeeded.
    public var allSucceeded: Bool { counts.succeeded == count }
}

extension Report: CustomStringConvertible {
    public var description: String {
        let counts = counts
        var text = "\(counts.succeeded) succeeded, \(counts.failed) failed"
        if counts.cancelled > 0 { text += ", \(counts.cancelled) cancelled" }
        if counts.pending > 0 { text += ", \(counts.pending) not started" }
        return text
    }
}
