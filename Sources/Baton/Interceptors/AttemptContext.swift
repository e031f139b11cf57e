/// What an interceptor knows of the request in hand.
public struct AttemptContext: Sendable {
    /// The number of the run, unique in the process.
    public let run: UInt64
    /// The number of the request, unique in the process; its attempts share it.
    public let call: UInt64
    /// 1 for the first attempt; around a call, 1.
    public let attempt: Int
    /// What the request and the plans around it say about how it is run.
    public let options: RequestOptions
    package let scheduler: any Scheduler
    /// Who is told events; nil where nobody listens.
    package let events: (any EventSink)?
    /// The interceptor that asks, and what makes a client without it.
    private var interceptor: InterceptorID?
    private let source: (any RunnerSource)?

    package init(
        run: UInt64, call: UInt64, attempt: Int, options: RequestOptions = RequestOptions(),
        scheduler: any Scheduler, source: (any RunnerSource)? = nil, events: (any EventSink)? = nil
    ) {
        self.run = run
        self.call = call
        self.attempt = attempt
        self.options = options
        self.scheduler = scheduler
        self.source = source
        self.events = events
    }

    /// The same, for one of the interceptors.
    package func with(_ interceptor: InterceptorID) -> AttemptContext {
        var context = self
        context.interceptor = interceptor
        return context
    }

    /// The client that runs the request, without the interceptor that asks: for requests of the interceptor's own. They
    /// are runs of their own. An adapter, which cannot wait, gets one that refuses to run.
    public var runner: any Runner { source?.runner(without: interceptor) ?? NoRunner() }

    /// The client's monotonic time.
    public var now: Instant { scheduler.now }

    /// Waits on the client's clock, which a test may drive. Throws `cancelled` as soon as the request is cancelled.
    public func sleep(for duration: Duration) async throws(BatonError) {
        let sleeper = Sleeper()
        let finished = await scheduler.waiting {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    sleeper.begin(continuation, scheduler, until: scheduler.now.advanced(by: duration))
                }
            } onCancel: {
                sleeper.end(false)
            }
        }
        if !finished { throw BatonError(.cancelled, "the request was cancelled while it waited") }
    }
}

/// Stands where there is no client.
private struct NoRunner: Runner {
    func run<P: Plan>(_ plan: P) async throws(BatonError) -> P.Output {
        throw BatonError(.unsupported, "there is no client here to run a plan: use an interceptor that is no adapter")
    }
}

/// A Swift task that waits for a timer.
private final class Sleeper: Job {
    private struct State {
        var continuation: CheckedContinuation<Bool, Never>?
        var timer: (any Scheduler, TimerHandle)?
        var isOver = false
    }

    private let state = LockBox(State())

    func begin(_ continuation: CheckedContinuation<Bool, Never>, _ scheduler: any Scheduler, until instant: Instant) {
        let isOver = state.withLock { state in
            guard !state.isOver else { return true }
            state.continuation = continuation
            state.timer = (scheduler, scheduler.schedule(self, Signal(kind: 0), at: instant))
            return false
        }
        if isOver { continuation.resume(returning: false) }
    }

    func end(_ finished: Bool) {
        let (continuation, timer) = state.withLock { state in
            defer { (state.continuation, state.timer, state.isOver) = (nil, nil, true) }
            return (state.continuation, state.timer)
        }
        if let (scheduler, handle) = timer, !finished { scheduler.cancel(handle) }
        continuation?.resume(returning: finished)
    }

    func run(_ signal: Signal) { end(true) }
}
