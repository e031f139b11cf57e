/// Is told what happens while a client works; it changes nothing.
///
/// **Use** one by giving it to a client. **Implement** `observe` for what you want to know:
///
/// ```swift
/// struct PrintRetries: EventObserver {
///     func observe(_ event: Event) {
///         if case .retryScheduled(let attempt, let wait, _) = event { print(attempt.request.path, wait) }
///     }
/// }
/// ```
/// The events of one run come in their order, one at a time, on worker threads; events of different runs may come at
/// the same time. A run completes after its observers were told everything about it. An observer may block; it then
/// holds up the run that it observes and no other.
public protocol EventObserver: Sendable {
    /// Takes note of an event. It is called on a worker thread, for one run one event at a time.
    func observe(_ event: Event)
    /// The same for observers that need the client's time; part of the library's own machinery and not to be implemented.
    func _observe(_ event: Event, _ setting: _EventSetting)
}

extension EventObserver {
    public func _observe(_ event: Event, _ setting: _EventSetting) { observe(event) }
}

/// What a client's observers may use.
public struct _EventSetting: Sendable {
    package let scheduler: any Scheduler

    package init(scheduler: any Scheduler) {
        self.scheduler = scheduler
    }
}

/// Where interceptors tell what they do; there is one only where somebody listens.
package protocol EventSink: AnyObject, Sendable {
    func append(_ event: Event)
}
