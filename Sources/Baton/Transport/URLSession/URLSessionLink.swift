internal import Dispatch
internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// A session's delegate: leads what the session says to the exchange that it is about, and stops tasks.
///
/// Both happen on one serial queue. That is what makes stopping safe on Linux; see `stopTasks`.
final class URLSessionLink: NSObject, URLSessionDataDelegate, Sendable {
    private struct Directory {
        var isClosed = false
        var lastID: UInt64 = 0
        /// Exchanges whose receiver has not had its end.
        var open: [UInt64: URLSessionExchange] = [:]
        /// Exchanges whose task is not over, by the task's identifier.
        var tasks: [Int: URLSessionExchange] = [:]
        var measured: [Int: TransportMetrics] = [:]
        var toStop: [URLSessionExchange] = []
    }

    /// Where the session calls, and every receiver is called.
    let queue = DispatchQueue(label: "baton.urlsession.events")
    private let directory = LockBox(Directory())

    #if canImport(Security)
        /// Whom servers have to convince; nil leaves that to the system.
        let trust: URLSessionTransport.Trust?

        init(trust: URLSessionTransport.Trust?) { self.trust = trust }
    #endif

    func nextID() -> UInt64 {
        directory.withLock {
            $0.lastID += 1
            return $0.lastID
        }
    }

    /// Notes the exchange as open; false when the transport was shut down.
    func open(_ exchange: URLSessionExchange) -> Bool {
        directory.withLock {
            guard !$0.isClosed else { return false }
            $0.open[exchange.id] = exchange
            return true
        }
    }

    func forget(_ exchange: URLSessionExchange) {
        _ = directory.withLock { $0.open.removeValue(forKey: exchange.id) }
    }

    /// Refuses what comes from now on; returns what was open, or nil when it had been closed before.
    func close() -> [URLSessionExchange]? {
        directory.withLock {
            guard !$0.isClosed else { return nil }
            $0.isClosed = true
            return Array($0.open.values)
        }
    }

    // MARK: Tasks

    func register(_ exchange: URLSessionExchange, for task: URLSessionTask) {
        exchange.attach(task)
        directory.withLock { $0.tasks[task.taskIdentifier] = exchange }
    }

    func exchange(of task: URLSessionTask) -> URLSessionExchange? {
        directory.withLock { $0.tasks[task.taskIdentifier] }
    }

    func note(_ metrics: TransportMetrics, of task: URLSessionTask) {
        directory.withLock { $0.measured[task.taskIdentifier] = metrics }
    }

    func finish(_ task: URLSessionTask, _ error: (any Error)?) {
        let (exchange, metrics) = directory.withLock {
            ($0.tasks.removeValue(forKey: task.taskIdentifier), $0.measured.removeValue(forKey: task.taskIdentifier))
        }
        exchange?.finish(task, error, metrics)
    }

    /// Stops the exchange's task soon, on the queue, together with others that are to be stopped.
    func stop(_ exchange: URLSessionExchange) {
        let isFirst = directory.withLock {
            $0.toStop.append(exchange)
            return $0.toStop.count == 1
        }
        if isFirst { queue.async { self.stopTasks() } }
    }

    /// `cancel` on Linux does its work in two later steps on the session's internal queue, and traps when the task's
    /// completion was told before the second. Completions are told on our queue, so that it is held until both steps
    /// are done: reading a task's priority waits behind all of the task's steps that were queued before.
    private func stopTasks() {
        let tasks = directory.withLock {
            let exchanges = $0.toStop
            $0.toStop = []
            return exchanges
        }.compactMap { $0.taskToStop() }
        for task in tasks { task.cancel() }
        #if canImport(FoundationNetworking)
            for _ in 1...2 {
                for task in tasks { _ = task.priority }
            }
        #endif
    }
}
