import Baton
import Dispatch
import Foundation
import Testing

@Suite("Queue: counts, memory and growth") struct QueueScaleTests {
    @Test("invariant 3: in flight never exceeds the limit, and every slot comes back", arguments: 0..<10)
    func invariant3(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let hostLimit = 1 + random.below(4)
        var limit = 1 + random.below(20)
        let queue = QueueHarness(limit: limit, hostLimit: hostLimit)
        for step in 0..<1_000 {
            switch random.below(10) {
            case ..<5:
                queue.admit(
                    host: random.below(6), run: UInt64(random.below(8)), Priority.allCases[random.below(3)])
            case ..<9:
                queue.drain(1)
            default:
                // A cut drains, so only a limit that is not below what is in flight bounds it at once.
                limit = max(queue.state.inFlight, 1 + random.below(20))
                queue.change { $0.setLimit(limit, into: &$1) }
            }
            let isWithin =
                queue.state.inFlight <= limit && queue.state.inFlight == queue.inFlight.count
                && (0..<6).allSatisfy { queue.state.inFlight(at: queue.host($0)) <= hostLimit }
            guard isWithin else {
                Issue.record("step \(step) went beyond a limit")
                return
            }
        }
        queue.drain()
        #expect(queue.state.inFlight == 0)
        #expect(queue.state.waiting == 0)
        #expect(Set(queue.sent).count == queue.sent.count, "nobody was sent twice")
    }

    @Test("behind a lock, four threads admit, cancel and release; nobody is lost")
    func behindALock() {
        struct Shared {
            var queue = QueueState<Int>(limit: 8, hostLimit: 3)
            var inFlight: [Int] = []
            var ended = 0
        }
        let shared = LockBox(Shared())
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var random = SplitMix64(seed: UInt64(thread))
            for _ in 0..<2_000 {
                let host = random.below(5)
                let cancels = random.chance(30)
                shared.withLock { shared in
                    let id = shared.queue.host(for: HostKey(host: "\(host)"))
                    switch shared.queue.admit(host, host: id, run: UInt64(thread)) {
                    case .granted: shared.inFlight.append(host)
                    case .queued(let ticket) where cancels:
                        if shared.queue.cancel(ticket, into: &shared.inFlight) != nil { shared.ended += 1 }
                    case .queued, .rejected: break
                    }
                }
                shared.withLock { shared in
                    guard let host = shared.inFlight.popLast() else { return }
                    let id = shared.queue.host(for: HostKey(host: "\(host)"))
                    shared.queue.release(host: id, into: &shared.inFlight)
                    shared.ended += 1
                }
            }
        }
        shared.withLock { shared in
            while let host = shared.inFlight.popLast() {
                let id = shared.queue.host(for: HostKey(host: "\(host)"))
                shared.queue.release(host: id, into: &shared.inFlight)
                shared.ended += 1
            }
            #expect(shared.ended == 8_000)
            #expect(shared.queue.inFlight == 0)
            #expect(shared.queue.waiting == 0)
        }
    }

    /// The processor time that the calling thread has used, in nanoseconds: what else the machine does is not in it.
    private func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    /// Admits `backlog` to one host and lets them through; the best time of some.
    private func time(backlog: Int, runs: Int, hosts: Int = 1, hostLimit: Int? = nil) -> Double {
        func measured(_ body: () -> Void) -> Double {
            let start = processorTime()
            body()
            return processorTime() - start
        }
        return (0..<3).map { _ in
            measured {
                var state = QueueState<Int>(limit: 16, hostLimit: hostLimit, idleHosts: hosts)
                let ids = (0..<hosts).map { state.host(for: HostKey(host: "h\($0)")) }
                var inFlight: [Int] = []
                for waiter in 0..<backlog
                where state.admit(waiter, host: ids[waiter % hosts], run: UInt64(waiter % runs)) == .granted {
                    inFlight.append(waiter)
                }
                var next = 0
                while next < inFlight.count {
                    state.release(host: ids[inFlight[next] % hosts], into: &inFlight)
                    next += 1
                }
                precondition(inFlight.count == backlog)
            }
        }.min()!
    }

    @Test(
        "twice the backlog takes about twice the time",
        arguments: [(1, 1, nil), (1_000_000, 1, nil), (1_000_000, 1, 2), (3, 500, 1)] as [(Int, Int, Int?)])
    func linear(runs: Int, hosts: Int, hostLimit: Int?) {
        let count = Scale.count(2_000, everyday: 500)
        let base = time(backlog: count, runs: runs, hosts: hosts, hostLimit: hostLimit)
        let eightfold = time(backlog: 8 * count, runs: runs, hosts: hosts, hostLimit: hostLimit)
        // Anything that scans the backlog takes 64 times as long.
        #expect(eightfold / base < 24)
    }

    @Test("10,000 hosts with work, each with its own limit of 1, are all served")
    func manyHosts() {
        let queue = QueueHarness(limit: 64, hostLimit: 1)
        for _ in 0..<2 {
            for host in 0..<10_000 { queue.admit(host: host, run: UInt64(host % 7)) }
        }
        queue.drain()
        #expect(queue.sent.count == 20_000)
    }

    @Test("of hosts that have nothing to do, only so many are remembered")
    func idleHostsAreForgotten() {
        var state = QueueState<Int>(limit: 4, idleHosts: 10)
        var granted: [Int] = []
        var seen: Set<Int32> = []
        for number in 0..<20_000 {
            let host = state.host(for: HostKey(host: "h\(number)"))
            _ = state.admit(number, host: host, run: 1)
            state.release(host: host, into: &granted)
            seen.insert(host.index)
        }
        #expect(seen.count <= 11)
    }

    @Test("a host that was forgotten is known by its name again, and its old identifier is not current")
    func forgottenHost() {
        var state = QueueState<Int>(limit: 4, idleHosts: 2)
        let old = state.host(for: HostKey(host: "a"))
        let cached = state.host(for: HostKey(host: "unused"), cached: old)
        #expect(cached == old)
        for number in 0..<5 { _ = state.host(for: HostKey(host: "h\(number)")) }
        #expect(!state.isCurrent(old))
        let new = state.host(for: HostKey(host: "a"), cached: old)
        #expect(new != old)
        #expect(state.isCurrent(new))
        let found = state.host(for: HostKey(host: "a"))
        #expect(found == new)
    }

    @Test("a host with something in flight or waiting, paused or with a limit of its own is not forgotten")
    func hostsInUseAreKept() {
        let queue = QueueHarness(limit: 1, idleHosts: 4)
        queue.admit(host: 0)
        queue.admit(host: 1)
        let ids = (0...3).map { queue.host($0) }
        queue.state.pause(ids[2])
        queue.change { $0.setLimit(1, of: ids[3], into: &$1) }
        for number in 10..<50 { _ = queue.host(number) }
        for id in ids { #expect(queue.state.isCurrent(id)) }
        // As soon as nothing keeps them, they are.
        queue.change { $0.resume(ids[2], into: &$1) }
        queue.change { $0.setLimit(nil, of: ids[3], into: &$1) }
        queue.drain()
        for number in 50..<60 { _ = queue.host(number) }
        for id in ids { #expect(!queue.state.isCurrent(id)) }
    }

    @Test("hosts differ by scheme, name and port")
    func hostKeys() {
        var state = QueueState<Int>(limit: 1)
        let ids: Set<HostID> = [
            state.host(for: HostKey(host: "a")), state.host(for: HostKey(host: "b")),
            state.host(for: HostKey(host: "a", port: 8443)),
            state.host(for: HostKey(scheme: "http", host: "a", port: 443)),
        ]
        #expect(ids.count == 4)
        let found = state.host(for: HostKey(host: "a"))
        #expect(ids.contains(found))
    }
}
