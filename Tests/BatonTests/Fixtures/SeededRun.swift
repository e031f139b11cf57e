import Baton
import Dispatch

@testable import BatonTesting

/// A job out of a closure.
final class ClosureJob: Job {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    func run(_ signal: Signal) { body() }
}

/// One interleaving of a client's work, on the thread that asks for it: cheap enough for ten thousand of them.
struct SeededRun {
    let scheduler: VirtualScheduler
    let client: Client
    let observer = RecordingObserver()

    init(
        seed: UInt64, _ transport: any ScheduledTransport, configure: (inout Client.Configuration) -> Void = { _ in }
    ) {
        scheduler = VirtualScheduler(seed: seed)
        var configuration = Client.Configuration()
        configuration.baseURL = "http://h"
        configuration.observers = [observer]
        configure(&configuration)
        configuration.transport = transport
        client = Client(configuration: configuration, scheduler: scheduler)
    }

    /// Does something at that time, as one of the jobs that the seed chooses from.
    func at(_ time: Duration, _ body: @escaping @Sendable () -> Void) {
        _ = scheduler.schedule(ClosureJob(body), Signal(kind: 0), at: Instant(nanoseconds: 0).advanced(by: time))
    }

    /// Runs everything until nothing is left to happen.
    func drive() { _ = scheduler.drive(movesTime: true) }

    var interleaving: UInt64 { scheduler.state.withLock { $0.choices } }
}
