/// Limits, pauses and counts.
extension QueueState {
    /// How many have a slot.
    package var inFlight: Int { Int(core.inFlight) }
    /// How many wait, those of paused hosts and runs included.
    package var waiting: Int { Int(core.waiting) }
    package var limit: Int { Int(core.limit) }
    package func inFlight(at host: HostID) -> Int { isCurrent(host) ? Int(core.hosts[host.index].inFlight) : 0 }
    package func waiting(at host: HostID) -> Int { isCurrent(host) ? Int(core.hosts[host.index].waiting) : 0 }

    /// Whether the host is paused, or has as many in flight as it may.
    package func isFull(_ host: HostID) -> Bool { isCurrent(host) && !core.hosts[host.index].hasRoom }

    /// The host's name in this queue. It can be kept, and given as `cached` the next time: the key is looked up only
    /// if the host was forgotten meanwhile, which happens to hosts that have nothing to do and are neither paused nor
    /// limited by themselves, the longest idle first. So ask again before each admission, under the same lock.
    @inline(__always)
    package mutating func host(for key: @autoclosure () -> HostKey, cached: HostID? = nil) -> HostID {
        if let cached, isCurrent(cached) { return cached }
        let index = core.host(for: key())
        return HostID(index: index, generation: core.hosts[index].generation)
    }

    @inline(__always)
    package func isCurrent(_ host: HostID) -> Bool {
        Int(host.index) < core.hosts.count && core.hosts[host.index].generation == host.generation
    }

    /// The present name of a host that has something in flight or waiting, which are not forgotten.
    package func host(at index: Int32) -> HostID {
        HostID(index: index, generation: core.hosts[index].generation)
    }

    /// Changes the limit, at least 1. A raise grants more at once; after a cut, slots that come back are kept.
    package mutating func setLimit(_ limit: Int, into granted: inout [Waiter]) {
        core.setLimit(limit)
        grant(into: &granted)
    }

    /// Changes the limit of the hosts that have none of their own; nil for no limit. O(hosts).
    package mutating func setHostLimit(_ limit: Int?, into granted: inout [Waiter]) {
        core.setHostLimit(limit)
        grant(into: &granted)
    }

    /// Gives a host a limit of its own, at least 1; nil takes it away. A host that has one is not forgotten.
    package mutating func setLimit(_ limit: Int?, of host: HostID, into granted: inout [Waiter]) {
        guard isCurrent(host) else { return }
        core.setLimit(limit, of: host.index)
        grant(into: &granted)
    }

    /// Grants nothing until the queue is resumed. What is in flight goes on.
    package mutating func suspend() { core.isSuspended = true }

    package mutating func resume(into granted: inout [Waiter]) {
        core.isSuspended = false
        grant(into: &granted)
    }

    /// Grants nothing at one host until it is resumed. A paused host is not forgotten.
    package mutating func pause(_ host: HostID) {
        if isCurrent(host) { core.pause(host.index) }
    }

    /// Resumes a host; with a `burst` (at least 1) only so many are sent at first, then one for each slot that comes
    /// back, until one comes back while nobody waits for the host.
    package mutating func resume(_ host: HostID, burst: Int? = nil, into granted: inout [Waiter]) {
        guard isCurrent(host) else { return }
        core.resume(host.index, burst: burst)
        grant(into: &granted)
    }

    /// Grants nothing to one run until it is resumed. A paused run is remembered until then, so resume it also when it
    /// has ended. O(hosts it waits for).
    package mutating func pause(run: UInt64) { core.pause(run: run) }

    /// Resumes a run; at each host it goes behind those who wait there. O(hosts it waits for).
    package mutating func resume(run: UInt64, into granted: inout [Waiter]) {
        core.resume(run: run)
        grant(into: &granted)
    }
}
