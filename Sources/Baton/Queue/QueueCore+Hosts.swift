/// Hosts: their records, limits and pauses.
extension QueueCore {
    /// The record of a host. It stays the host's while that has something in flight or waiting, is paused or has a
    /// limit of its own; besides, as many idle ones are kept as the queue was told.
    mutating func host(for key: HostKey) -> Int32 {
        if let host = hostIndices[key] { return host }
        let host = disposableHost() ?? makeHost()
        hostKeys[Int(host)] = key
        hostIndices[key] = host
        listAsIdle(host)
        return host
    }

    private mutating func makeHost() -> Int32 {
        let host = Int32(hosts.count)
        hosts.append(QueueHost(limit: hostLimit))
        for _ in Priority.allCases { lanes.append(QueueLane()) }
        hostKeys.append(HostKey(host: ""))
        idleLinks.cover(host)
        thawLinks.cover(host)
        return host
    }

    /// A record that may be used for another host. The list holds hosts that were idle once; those that are not
    /// idle any more leave it here, so that work costs nothing.
    private mutating func disposableHost() -> Int32? {
        while idleHosts.count >= idleHostLimit {
            let host = idleHosts.head
            idleLinks.remove(host, from: &idleHosts)
            let record = hosts[host]
            hosts[host].isListedAsIdle = false
            guard record.isDisposable else { continue }
            hostIndices[hostKeys[Int(host)]] = nil
            hosts[host] = QueueHost(generation: record.generation &+ 1, limit: hostLimit)
            for lane in Int(host) * 3..<Int(host) * 3 + 3 { lanes[lane] = QueueLane() }
            return host
        }
        return nil
    }

    /// The host has nothing in flight or waiting any more.
    @inline(__always)
    mutating func retire(_ host: Int32) {
        activeHosts &-= 1
        listAsIdle(host)
    }

    @inline(__always)
    private mutating func listAsIdle(_ host: Int32) {
        if hosts[host].isListedAsIdle { return }
        hosts[host].isListedAsIdle = true
        idleLinks.append(host, to: &idleHosts)
    }

    /// O(hosts).
    mutating func setHostLimit(_ limit: Int?) {
        hostLimit = Self.clamped(limit)
        for host in 0..<hosts.count where !hosts[host].hasOwnLimit {
            hosts[host].limit = hostLimit
            settle(Int32(host))
        }
    }

    mutating func setLimit(_ limit: Int?, of host: Int32) {
        hosts[host].hasOwnLimit = limit != nil
        hosts[host].limit = limit.map { Self.clamped($0) } ?? hostLimit
        settle(host)
        listAsIdle(host)
    }

    mutating func pause(_ host: Int32) {
        hosts[host].isPaused = true
        settle(host)
    }

    mutating func resume(_ host: Int32, burst: Int?) {
        hosts[host].isPaused = false
        hosts[host].allowance = Self.clamped(burst)
        settle(host)
        listAsIdle(host)
    }
}
