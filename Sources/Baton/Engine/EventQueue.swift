/// The events of one run on their way to its observers: in order, one at a time, on worker threads.
final class EventQueue: Job, EventSink {
    private struct State {
        var events: [Event] = []
        /// The room of those that were delivered last.
        var spare: [Event] = []
        var isDelivering = false
        var completion: (@Sendable () -> Void)?
    }

    private let observers: [any EventObserver]
    private let scheduler: any Scheduler
    private let state = LockBox(State())

    init(_ observers: [any EventObserver], _ scheduler: any Scheduler) {
        self.observers = observers
        self.scheduler = scheduler
    }

    func append(_ event: Event) {
        if enter(event) { deliver() }
    }

    /// Takes an event and calls nobody, so that it may be told under the lock that decides its place in the order.
    ///
    /// - Returns: whether `deliver` has to follow, outside that lock.
    func enter(_ event: Event) -> Bool {
        state.withLock { state in
            state.events.append(event)
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
    }

    func deliver() { scheduler.execute(self, .resume) }

    /// Calls `completion` when every event was delivered.
    func finish(_ completion: @escaping @Sendable () -> Void) {
        let begins = state.withLock { state in
            state.completion = completion
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        if begins { scheduler.execute(self, .resume) }
    }

    func run(_ signal: Signal) {
        var (events, completion): ([Event], (@Sendable () -> Void)?) = state.withLock { state in
            var events: [Event] = []
            swap(&events, &state.spare)
            swap(&events, &state.events)
            guard events.isEmpty else { return (events, nil) }
            state.isDelivering = false
            let completion = state.completion
            state.completion = nil
            return (events, completion)
        }
        if !events.isEmpty {
            let setting = _EventSetting(scheduler: scheduler)
            // All in one call: whoever blocks there holds up what is told after it, and nothing else.
            UserCode.call(scheduler) {
                for event in events { for observer in observers { observer._observe(event, setting) } }
            }
            // What few events need is kept; a crowd's room is not.
            if events.count <= 256 {
                events.removeAll(keepingCapacity: true)
                state.withLock { swap(&$0.spare, &events) }
            }
            return scheduler.execute(self, .resume)
        }
        completion?()
    }
}
