public import Baton
internal import Foundation

/// Watches a client under test, and says what it did that no client may do.
///
/// ```swift
/// let audit = Audit()
/// try await withVirtualTime(transport: mock, audit: audit) { client, clock in
///     _ = try await client.run(plan)
/// }
/// try audit.verify()
/// ```
/// or, on real time:
/// ```swift
/// let audit = Audit(client)
/// …
/// try await audit.verify(within: .seconds(5))
/// ```
/// It fails when
/// - a run, an item of a batch or an attempt completed twice, or never;
/// - more requests were in flight than the client allows, or more items open than their batch allows;
/// - a slot did not come back, or came back twice;
/// - a timer or a run outlived its end;
/// - something other than an undo was sent after a cancel;
/// - the transport completed an exchange twice, not at all, or late, or went on after its end.
///
/// It checks the runs that begin after it was attached, and costs each of their steps a lock. One audit watches one
/// client, and those that share the client's queue.
public final class Audit: Sendable {
    /// What a failed verification throws.
    public struct Failure: Error, CustomStringConvertible {
        /// Each a sentence.
        public let violations: [String]

        public var description: String {
            "the audit found \(violations.count) violations:\n" + violations.map { "- \($0)" }.joined(separator: "\n")
        }
    }

    package let log = AuditLog()
    private let engine = LockBox<Engine?>(nil)

    /// An audit that is not attached yet; `withVirtualTime` attaches it.
    public init() {}

    /// An audit of a client.
    public convenience init(_ client: Client) {
        self.init()
        attach(to: client)
    }

    /// Watches the runs of a client that begin from now on.
    public func attach(to client: Client) {
        engine.withLock { $0 = client.engine }
        client.engine.probe = log
    }

    /// What is wrong so far, each a sentence; empty is right.
    ///
    /// What is under way counts as not completed, so read it when everything is over that the client was asked for.
    public var violations: [String] {
        let facts = engine.withLock { $0 }.map(EngineFacts.init) ?? EngineFacts()
        return log.violations(facts)
    }

    /// How much was watched: runs, items of batches that were begun, and requests that went to the transport.
    public var counts: (runs: Int, items: Int, exchanges: Int) { log.counts }

    /// Throws a ``Failure`` when anything is wrong.
    public func verify() throws {
        let violations = violations
        if !violations.isEmpty { throw Failure(violations: violations) }
    }

    /// Waits until nothing is under way any more, at most so long of real time, and throws a ``Failure`` when anything
    /// is wrong then. For clients on real time: their transports may end what was cancelled a moment later.
    public func verify(within limit: Duration) async throws {
        let scheduler = LiveScheduler.shared
        let end = scheduler.now.advanced(by: limit)
        let context = AttemptContext(run: 0, call: 0, attempt: 0, scheduler: scheduler)
        var pause = Duration.milliseconds(1)
        while !violations.isEmpty, scheduler.now < end {
            try await context.sleep(for: pause)
            pause = min(pause * 2, .milliseconds(20))
        }
        try verify()
    }
}
