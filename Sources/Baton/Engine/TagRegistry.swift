/// The parts of runs that have a name by which they can be cancelled.
final class TagRegistry: Sendable {
    private let jobs = LockBox<[String: [ObjectIdentifier: ChainJob]]>([:])

    func add(_ job: ChainJob, _ tag: String) {
        jobs.withLock { $0[tag, default: [:]][ObjectIdentifier(job)] = job }
    }

    func remove(_ job: ChainJob, _ tag: String) {
        let removed = jobs.withLock { jobs in
            let removed = jobs[tag]?.removeValue(forKey: ObjectIdentifier(job))
            if jobs[tag]?.isEmpty == true { jobs[tag] = nil }
            return removed
        }
        withExtendedLifetime(removed) {}
    }

    func jobs(_ tag: String) -> [ChainJob] {
        jobs.withLock { $0[tag].map { Array($0.values) } ?? [] }
    }
}
