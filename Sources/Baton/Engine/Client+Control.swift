extension Client {
    /// Cancels every run of this client and of those that share its queue.
    public func cancelAll() {
        for run in engine.activeRuns { run.cancel() }
    }

    /// Cancels everything that has that tag, wherever it runs, in this client and in those that share its queue.
    ///
    /// A request or plan gets a tag by its options. The rest of the run it belongs to goes on, or fails because of it.
    public func cancel(tag: String) {
        let reason = BatonError(.cancelled, "what has the tag \(tag) was cancelled")
        Cancellation.begin(at: engine.tags.jobs(tag), because: reason, engine.scheduler)
    }

    /// Sends nothing new until `resume`; what is in flight goes on. It holds for all clients that share the queue.
    public func suspend() { engine.queue.suspend() }

    /// Goes on after `suspend`.
    public func resume() { engine.queue.resume() }

    /// Changes how many requests are in flight at once, at least 1: a raise sends more at once, a cut drains.
    public func setMaxConcurrency(_ limit: Int) { engine.queue.setLimit(limit) }

    /// Changes how many requests are in flight at each host at once; nil for no limit.
    public func setMaxConcurrencyPerHost(_ limit: Int?) { engine.setHostLimit(limit) }

    /// How many requests are in flight, and how many wait for a slot.
    public var counts: (inFlight: Int, waiting: Int) { engine.queue.counts }
}
