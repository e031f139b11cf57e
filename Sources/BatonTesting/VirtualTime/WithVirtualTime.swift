public import Baton
internal import Dispatch
internal import Foundation

/// How time moves in a test.
public enum VirtualTime: Sendable {
    /// By itself, to the next timer, whenever nothing can run and the test waits for the library.
    case automatic
    /// Only when the test says `advance`, or `run`.
    case manual
}

/// Runs a test on virtual time: no network, no waiting, and one order of events for each seed.
///
/// ```swift
/// try await withVirtualTime(transport: mock, seed: 7) { client, clock in
///     let report = try await client.run(plan)       // waits of hours pass by themselves
///     #expect(clock.elapsed == .seconds(3600))
/// }
/// ```
/// The body runs on the virtual executor too, so that its order is part of the seed's; on systems without task
/// executors (before macOS 15 and iOS 18) only the library's own work is.
///
/// - Parameters:
///   - transport: one in memory, such as `MockTransport`. A real one is refused: its time cannot be driven.
///   - seed: which interleaving of what could happen at the same time; nil, the default, is the order in which things
///     came up. When the body throws, the seed is printed, and the same seed runs the same interleaving again.
///   - time: whether time moves by itself. Default: automatic.
///   - audit: watches the client. It is not verified here; but what the transport has still to end when the body is
///     over is waited for, at most a second of virtual time.
///   - configure: changes the configuration of the client that the body gets.
/// - Throws: what the body throws; or a `BatonError` when time cannot go on, because nothing is left to happen that the
///   body waits for, or because a task was busy with something else than the library for a second of real time.
public func withVirtualTime<Result: Sendable>(
    transport: any Transport, seed: UInt64? = nil, time: VirtualTime = .automatic, baseURL: String? = "http://mock",
    audit: Audit? = nil, configure: (inout Client.Configuration) -> Void = { _ in },
    _ body: @escaping @Sendable (Client, VirtualClock) async throws -> Result
) async throws -> Result {
    guard (transport as? any ScheduledTransport)?.isInMemory == true else {
        throw BatonError(
            .unsupported,
            "\(type(of: transport)) cannot be driven by virtual time, because its replies take real time: use a MockTransport, or test it without withVirtualTime"
        )
    }
    let scheduler = VirtualScheduler(seed: seed)
    var configuration = Client.Configuration()
    configuration.baseURL = baseURL
    configure(&configuration)
    configuration.transport = transport
    let client = Client(configuration: configuration, scheduler: scheduler)
    audit?.attach(to: client)
    let outcome = LockBox<Swift.Result<Result, any Error>?>(nil)
    let task = scheduler.startTask("the test's body") {
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(client, VirtualClock(scheduler: scheduler)))
        } catch {
            result = .failure(error)
        }
        outcome.withLock { $0 = result }
        scheduler.end()
    }
    let standstill: Standstill? = await withCheckedContinuation { continuation in
        DispatchQueue(label: "baton.virtual-time").async {
            let standstill = scheduler.drive(movesTime: time == .automatic)
            if standstill != nil {
                // The body cannot be left waiting: it is told to end, and has until nothing more can run.
                task.cancel()
                _ = scheduler.drive(movesTime: true)
            }
            if let audit { scheduler.driveOn(for: .seconds(1)) { audit.log.awaitsTransport } }
            continuation.resume(returning: standstill)
        }
    }
    do {
        if let standstill { throw standstill.explained(time) }
        guard let result = outcome.withLock({ $0 }) else { throw Standstill.nothingLeft.explained(time) }
        return try result.get()
    } catch {
        if let seed {
            FileHandle.standardError.write(Data("withVirtualTime failed with seed \(seed)\n".utf8))
        }
        throw error
    }
}

extension Standstill {
    fileprivate func explained(_ time: VirtualTime) -> BatonError {
        switch self {
        case .nothingLeft where time == .manual:
            BatonError(
                .virtualTimeStopped,
                "the test waits, and nothing can happen until time moves: call clock.advance(by:) or clock.run() from a task beside the one that waits, or let time move by itself"
            )
        case .nothingLeft:
            BatonError(
                .virtualTimeStopped,
                "the test waits for something that nothing will bring about: a reply that is held and not released, or a continuation of its own"
            )
        case .busy(let name):
            BatonError(
                .virtualTimeStopped,
                "\(name) was busy for a second of real time with something that virtual time does not drive, such as Task.sleep or real I/O: wait with context.sleep or clock.sleep instead"
            )
        }
    }
}
