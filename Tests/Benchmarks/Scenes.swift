import Baton

/// What is measured. Titles begin with what goals look for.
enum Scenes {
    static func all(_ options: Options) -> [Scene] {
        batches(options) + [layers(options), hosts(options), backlog(options), shapes(options)] + chains(options)
            + [cancelling(options), memory(options)] + HTTPScenes.all(options)
    }

    // MARK: Batches

    private static func batches(_ options: Options) -> [Scene] {
        let count = options.scale
        let inline = InlineTransport()
        let queued = QueueTransport()
        let base = [
            Scene(
                title: "inline: batch of \(count), K = 64, transport inline",
                figures: [
                    Figure("loop", count) { await Peers.loop(count, over: inline) },
                    Figure("work", count) { Peers.work(count) },
                    Figure("baton", count) { await batch(count, 64, inline) },
                    Figure("task group", count) { await Peers.taskGroup(count, limit: 64, over: inline) },
                    Figure("semaphore", count) { await Peers.semaphore(count, limit: 64, over: inline) },
                    Figure("operation queue", count / 10) {
                        await Peers.operationQueue(count / 10, limit: 64, over: inline)
                    },
                ]),
            Scene(
                title: "queue: batch of \(count), K = 64, transport on another queue",
                figures: [
                    Figure("loop", count) { await Peers.loop(count, over: queued) },
                    Figure("baton", count) { await batch(count, 64, queued) },
                    Figure("task group", count) { await Peers.taskGroup(count, limit: 64, over: queued) },
                    Figure("semaphore", count) { await Peers.semaphore(count, limit: 64, over: queued) },
                    Figure("operation queue", count / 10) {
                        await Peers.operationQueue(count / 10, limit: 64, over: queued)
                    },
                ]),
            Scene(
                title: "one by one: batch of \(count), K = 1, transport on another queue",
                figures: [
                    Figure("loop", count) { await Peers.loop(count, over: queued) },
                    Figure("baton", count) { await batch(count, 1, queued) },
                    Figure("task group", count / 20) {
                        await Peers.taskGroup(count / 20, limit: 1, over: queued)
                    },
                    Figure("operation queue", count / 20) {
                        await Peers.operationQueue(count / 20, limit: 1, over: queued)
                    },
                ]),
        ]
        if options.isQuick { return base }
        let sizes = [1_000, 100_000, 1_000_000].flatMap { count in
            [1, 8, 64, 1_000].map { limit in
                Figure("\(count) at K = \(limit)", count) { await batch(count, limit, inline) }
            }
        }
        let slow = DelayedTransport()
        return base + [
            Scene(title: "sizes: batches, transport inline", figures: sizes),
            Scene(
                title: "after 1 ms: batch of 10000, K = 64, transport after 1 ms",
                figures: [
                    Figure("loop", 10_000) { await Peers.loop(10_000, over: slow) },
                    Figure("baton", 10_000) { await batch(10_000, 64, slow) },
                    Figure("task group", 10_000) { await Peers.taskGroup(10_000, limit: 64, over: slow) },
                ]),
        ]
    }

    /// The same batch with more and more around it.
    private static func layers(_ options: Options) -> Scene {
        let count = options.scale
        let queued = QueueTransport()
        let inline = InlineTransport()
        return Scene(
            title: "layers: batch of \(count), K = 64, with what may stand around it",
            figures: [
                Figure("inline, nothing", count) { await batch(count, 64, inline) },
                Figure("inline, observer", count) {
                    await batch(count, 64, inline) { $0.observers = [CountingObserver()] }
                },
                Figure("inline, adapter", count) {
                    await batch(count, 64, inline) { $0.interceptors = [Stamp()] }
                },
                Figure("inline, retries on 1 %", count) {
                    await batch(count, 64, FailingTransport()) {
                        $0.retry = RetryPolicy(attempts: 9, backoff: .none)
                        $0.retryBudget = nil
                    }
                },
                Figure("queue, nothing", count) { await batch(count, 64, queued) },
                Figure("queue, async interceptor", count) {
                    await batch(count, 64, queued) { $0.interceptors = [Pass()] }
                },
                Figure("queue, task group", count) { await Peers.taskGroup(count, limit: 64, over: queued) },
            ])
    }

    private static func hosts(_ options: Options) -> Scene {
        let count = options.scale
        return Scene(
            title: "hosts: batch of \(count), K = 64, transport on another queue",
            figures: [1, 100, 10_000].map { hosts in
                Figure("\(hosts) hosts", count) {
                    let client = Client(transport: QueueTransport())
                    let report = try? await client.run(
                        Batch((0..<count).map { Elsewhere(host: $0 % hosts) }, maxConcurrency: 64))
                    return report?.counts.succeeded == count
                }
            })
    }

    private static func backlog(_ options: Options) -> Scene {
        let count = options.scale
        return Scene(
            title: "backlog: single requests to one host, all given to start at once", unit: "µs",
            figures: [count, 2 * count].map { count in
                Figure(value: "\(count) requests") {
                    let start = ContinuousClock.now
                    guard await Peers.singles(count, over: QueueTransport()) else { return nil }
                    return (ContinuousClock.now - start).nanoseconds / 1_000
                }
            })
    }

    private static func shapes(_ options: Options) -> Scene {
        let count = options.scale
        let inline = InlineTransport()
        return Scene(
            title: "shapes: \(count) requests, transport inline",
            figures: [
                Figure("one batch", count) { await batch(count, 64, inline) },
                Figure("batch of batches of 100", count) {
                    let client = Client(baseURL: "http://bench.example", transport: inline)
                    let report = try? await client.run(
                        Batch(
                            (0..<count / 100).map { _ in
                                Batch(Array(repeating: Ping(), count: 100), maxConcurrency: 8)
                            }, maxConcurrency: 8))
                    return report?.successes.allSatisfy { $0.value.counts.succeeded == 100 } ?? false
                },
                Figure("streamed", count) { await Memory.stream(count, over: inline) },
                Figure("singles awaited", count / 10) {
                    let client = Client(baseURL: "http://bench.example", transport: inline)
                    for _ in 0..<count / 10 { if (try? await client.run(Ping())) == nil { return false } }
                    return true
                },
            ])
    }

    // MARK: Chains

    private static func chains(_ options: Options) -> [Scene] {
        let steps = options.scale
        let inline = InlineTransport()
        let queued = QueueTransport()
        var scenes = [
            Scene(
                title: "steps: chain of \(steps) steps",
                figures: [
                    Figure("closures", steps) { await Chains.closures(steps) },
                    Figure("map", steps) { await Chains.map(steps) },
                    Figure("then, immediate", steps) { await Chains.immediate(steps) },
                    Figure("then, request inline", steps) { await Chains.requests(steps, inline) },
                ]),
            Scene(
                title: "chain over a queue: \(steps / 10) requests",
                figures: [
                    Figure("continuations", steps / 10) { await Chains.continuations(steps / 10, queued) },
                    Figure("chain", steps / 10) { await Chains.requests(steps / 10, queued) },
                ]),
        ]
        let lengths = options.isQuick ? [1_000, 100_000] : [10, 1_000, 100_000, 1_000_000]
        scenes.append(
            Scene(
                title: "lengths: chains of immediate steps, built and run",
                figures: lengths.map { length in Figure("\(length) steps", length) { await Chains.immediate(length) } })
        )
        return scenes
    }

    // MARK: Cancelling and memory

    private static func cancelling(_ options: Options) -> Scene {
        let count = 100_000
        return Scene(
            title: "cancel: a batch of \(count) that is under way", unit: "µs",
            figures: [
                Figure(value: "until everybody knows") {
                    let client = Client(baseURL: "http://bench.example", transport: SilentTransport())
                    let run = client.start(Batch(Array(repeating: Ping(), count: count), maxConcurrency: 64))
                    while client.counts.inFlight < 64 { await Task.yield() }
                    let start = ContinuousClock.now
                    run.cancel()
                    var isCancelled = false
                    do throws(BatonError) { _ = try await run.value } catch { isCancelled = error.isCancelled }
                    let time = (ContinuousClock.now - start).nanoseconds / 1_000
                    guard isCancelled else { return nil }
                    return time
                }
            ])
    }

    private static func memory(_ options: Options) -> Scene {
        Scene(
            title: "memory: bytes and threads", unit: "",
            figures: [
                Figure(value: "bytes per waiting item of a lazy batch") { await Memory.perLazyItem() },
                Figure(value: "bytes per queued single request") { await Memory.perQueuedSingle() },
                Figure(value: "MB resident after streaming") {
                    Memory.ofStreaming(options.isQuick ? 100_000 : 1_000_000)
                },
                Figure(value: "threads") { Memory.threads },
            ])
    }

    static func batch(
        _ count: Int, _ limit: Int, _ transport: any Transport,
        _ configure: (inout Client.Configuration) -> Void = { _ in }
    ) async -> Bool {
        let client = Client(baseURL: "http://bench.example", transport: transport, configure: configure)
        let report = try? await client.run(
            Batch(Array(repeating: Ping(), count: count), maxConcurrency: limit))
        return report?.counts.succeeded == count
    }
}
