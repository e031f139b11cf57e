internal import Dispatch

/// The threads on which user code runs: as many as there are cores while work flows, and more while closures block.
///
/// Each worker is a private serial queue, because Dispatch always finds a thread for one of those, even while
/// blocked work has used up its shared pool. When work waits and no worker has taken any for a moment, another
/// worker joins, so that a closure that waits for other work of ours is never what keeps it from running.
final class WorkerPool: Sendable {
    private struct State {
        var queue: [Work] = []
        var head = 0
        var active = 0
        /// Workers that a stall added; they leave when the queue is empty.
        var idleQueues: [DispatchQueue] = []
        var created = 0
        /// Changes whenever a worker gets on with something.
        var progress: UInt64 = 0
        /// Workers that were hired and have not come yet: on a machine that is short of time, more would not help.
        var coming = 0
        var isWatching = false

        var waiting: Int { queue.count - head }
    }

    private let state = LockBox(State())
    private let size: Int
    private let maximum = 128
    private let patience = DispatchTimeInterval.milliseconds(10)
    private let watch = DispatchQueue(label: "baton.watch", qos: .userInitiated)

    init(size: Int) {
        self.size = size
    }

    /// Whether work waits for a worker.
    var hasWaiting: Bool { state.withLock { $0.waiting > 0 } }

    func submit(_ work: Work) {
        let (queue, watches) = state.withLock { state in
            state.queue.append(work)
            return enlist(&state)
        }
        start(queue, watches)
    }

    func submit(_ works: [Work]) {
        guard !works.isEmpty else { return }
        let (queue, watches) = state.withLock { state in
            state.queue += works
            return enlist(&state)
        }
        start(queue, watches)
    }

    /// Another worker where there is room for one, and whether a watch on progress has to begin: whenever more waits
    /// than the new worker takes, because everyone else may be blocked.
    private func enlist(_ state: inout State) -> (DispatchQueue?, watches: Bool) {
        let queue = state.active < size ? hire(&state) : nil
        guard state.waiting > (queue == nil ? 0 : 1), !state.isWatching else { return (queue, false) }
        state.isWatching = true
        return (queue, true)
    }

    private func hire(_ state: inout State) -> DispatchQueue {
        state.active += 1
        state.coming += 1
        if let queue = state.idleQueues.popLast() { return queue }
        state.created += 1
        return DispatchQueue(label: "baton.worker.\(state.created)", qos: .userInitiated)
    }

    private func start(_ queue: DispatchQueue?, _ watches: Bool) {
        queue?.async { self.work(on: queue!) }
        if watches { watchOnce(seen: nil) }
    }

    private func work(on queue: DispatchQueue) {
        let loop = ThreadLoop.current
        loop.isWorker = true
        state.withLock { $0.coming -= 1 }
        while let work = take(returning: queue) {
            loop.next = work
            loop.drain(pool: self)
        }
        loop.isWorker = false
    }

    private func take(returning queue: DispatchQueue) -> Work? {
        let (work, help): (Work?, DispatchQueue?) = state.withLock { state in
            guard state.waiting > 0 else {
                state.active -= 1
                state.idleQueues.append(queue)
                return (nil, nil)
            }
            let work = state.queue[state.head]
            state.head += 1
            if state.head == state.queue.count {
                state.queue.removeAll(keepingCapacity: state.queue.capacity <= 4_096)
                state.head = 0
            } else if state.head >= 1_024 {
                state.queue.removeSubrange(..<state.head)
                state.head = 0
            }
            state.progress &+= 1
            let help = state.waiting > 0 && state.active < size ? hire(&state) : nil
            return (work, help)
        }
        start(help, false)
        return work
    }

    /// A worker with a long turn says now and then that it gets on.
    func noteProgress() { state.withLock { $0.progress &+= 1 } }

    /// Looks again after a moment. If work waits and no worker got on in between, every one is blocked; then half as
    /// many again join, so that a hundred closures that block are overcome in a few steps.
    private func watchOnce(seen: UInt64?) {
        watch.asyncAfter(deadline: .now() + patience) { [self] in
            let (queues, next): ([DispatchQueue], UInt64?) = state.withLock { state in
                guard state.waiting > 0 else {
                    state.isWatching = false
                    return ([], nil)
                }
                guard state.progress == seen, state.coming == 0 else { return ([], state.progress) }
                let wanted = min(state.waiting, max(1, state.active / 2), maximum - state.active)
                return ((0..<max(0, wanted)).map { _ in hire(&state) }, state.progress)
            }
            for queue in queues { start(queue, false) }
            if let next { watchOnce(seen: next) }
        }
    }
}

extension ThreadLoop {
    /// How much is done in a row before others get a turn.
    static let turn = 512

    /// Does on a worker what is in `next`, and what that gives rise to here. Each piece of work is released before the
    /// next one runs.
    func drain(pool: WorkerPool) {
        isDraining = true
        defer { isDraining = false }
        var done = 0
        while runNext() {
            done += 1
            if done % 64 == 0 { pool.noteProgress() }
            guard done % Self.turn == 0 else { continue }
            // User work waits no longer than that, even where engine work never ends.
            if let waiting = takeNext() { pool.submit(waiting) }
            if pool.hasWaiting { return pool.submit(takeAll()) }
        }
    }

    private func takeNext() -> Work? {
        // Mostly there is none.
        next == nil ? nil : next.take()
    }

    /// Does one piece of work; false when there is none.
    private func runNext() -> Bool {
        guard let work = popFirst() ?? takeNext() else { return false }
        work.job.run(work.signal)
        return true
    }

    /// Drains the ring on a thread that is not ours but may be kept: as a worker does, for one turn.
    func drainShared(pool: WorkerPool) {
        isDraining = true
        isWorker = true
        var done = 0
        while done < Self.turn, runNext() { done += 1 }
        let rest = takeAll()
        (isWorker, isDraining) = (false, false)
        pool.submit(rest)
    }

    /// Drains the ring on a thread that is not ours, and hands over what may not run here or is too much.
    func drainElsewhere(pool: WorkerPool) {
        isDraining = true
        var done = 0
        while done < Self.turn, let work = popFirst() {
            work.job.run(work.signal)
            done += 1
        }
        let rest = takeAll()
        isDraining = false
        pool.submit(rest)
    }
}
