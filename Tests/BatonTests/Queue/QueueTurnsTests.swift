import Baton
import Testing

@Suite("Queue: turns, priorities and pauses") struct QueueTurnsTests {
    @Test("a run with 10,000 waiting delays a run with one by one turn")
    func runsTakeTurns() {
        let queue = QueueHarness(limit: 4)
        queue.admit(10_000, run: 1)
        let single = queue.admit(run: 2)
        #expect(queue.drain(2).contains(single))
    }

    @Test("runs get a slot each in a round, however many they have waiting")
    func roundRobin() {
        let queue = QueueHarness(limit: 1)
        queue.admit(run: 0)
        queue.admit(50, run: 1)
        queue.admit(2, run: 2)
        queue.admit(50, run: 3)
        #expect(queue.drain(7) == [1, 51, 53, 2, 52, 54, 3])
    }

    @Test("single requests of many runs are sent in the order in which they came")
    func singlesInOrder() {
        let queue = QueueHarness(limit: 3, hostLimit: 2)
        for run in 0..<200 as Range<UInt64> { queue.admit(host: 0, run: run) }
        queue.drain()
        #expect(queue.sent == Array(0..<200))
    }

    @Test("runs take turns also at a host that is short of room")
    func roundRobinAtAHost() {
        let queue = QueueHarness(limit: 64, hostLimit: 1)
        queue.admit(1_000, host: 0, run: 1)
        let single = queue.admit(host: 0, run: 2)
        #expect(queue.drain(2).contains(single))
    }

    @Test("a run whose hosts are many and slow to get a turn does not keep a host's free slot from another run")
    func slotOfAHostIsNotHoarded() {
        let queue = QueueHarness(limit: 8, hostLimit: 1)
        // One run waits at 500 hosts, at the last of them behind one that is in flight.
        let first = queue.admit(host: 499, run: 9)
        for host in 0..<500 { queue.admit(2, host: host, run: 1) }
        let single = queue.admit(host: 499, run: 2)
        queue.release(first)
        // The host's first turn is the big run's, whose other hosts come before; the single goes ahead soon.
        #expect(queue.drain(8).contains(single))
    }

    @Test("among hosts that contend for slots and room, each run is served within a bound")
    func contendedFairness() {
        let queue = QueueHarness(limit: 8, hostLimit: 1)
        var random = SplitMix64(seed: 1)
        for _ in 0..<20 {
            for host in 0..<100 { queue.admit(host: host, run: UInt64(host % 5)) }
        }
        for round in 0..<50 {
            let host = random.below(100)
            let single = queue.admit(host: host, run: UInt64(1_000 + round))
            // Five runs with work everywhere, so a turn in six; and one who was before at the same host.
            #expect(queue.drain(40).contains(single), "round \(round)")
            queue.admit(40, host: random.below(100), run: UInt64(round % 5))
        }
    }

    @Test("a higher priority goes first")
    func priorityOrder() {
        let queue = QueueHarness(limit: 1)
        queue.admit()
        let low = queue.admit(run: 2, .low)
        let normal = queue.admit(run: 3, .normal)
        let high = queue.admit(run: 4, .high)
        #expect(queue.drain() == [high, normal, low])
    }

    @Test("a priority that could be served is passed over at most eight times in a row", arguments: Priority.allCases)
    func aging(priority: Priority) {
        let queue = QueueHarness(limit: 1)
        queue.admit(run: 0)
        var priorities: [Priority] = [.normal]
        for each in Priority.allCases {
            queue.admit(1_000, run: UInt64(each.rawValue) + 1, each)
            priorities += repeatElement(each, count: 1_000)
        }
        let sent = queue.drain(1_000).map { priorities[$0] }
        let gaps = sent.split(omittingEmptySubsequences: false) { $0 == priority }.map(\.count)
        #expect(gaps.max()! <= 8)
        #expect(sent.count { $0 == .high } >= 740)
    }

    @Test("at each host a priority is passed over at most eight times, however its turns fall among other hosts")
    func agingAtAHost() {
        let queue = QueueHarness(limit: 8, hostLimit: 1)
        var places: [(host: Int, priority: Priority)] = []
        for host in 0...1 {
            for priority in [Priority.high, .low] {
                queue.admit(500, host: host, run: UInt64(host), priority)
                places += repeatElement((host: host, priority: priority), count: 500)
            }
        }
        // The hosts are served in turns, so every eighth slot is one of the same host.
        let sent = queue.drain(600).map { places[$0] }
        for host in 0...1 {
            let gaps = sent.filter { $0.host == host }.split { $0.priority == .low }.map(\.count)
            #expect(gaps.max()! <= 8)
        }
    }

    @Test("one that was sent before goes ahead of its own run")
    func retryGoesFirst() {
        let queue = QueueHarness(limit: 1)
        queue.admit(3)
        let again = queue.admit(run: 1, .normal, .front)
        #expect(queue.drain() == [again, 1, 2])
    }

    @Test("one that was sent before goes ahead of runs that had their turn, but cannot keep them from the next")
    func retriesOvertakeWithinBounds() {
        let queue = QueueHarness(limit: 1)
        queue.admit(run: 0)
        for run in 1...3 as ClosedRange<UInt64> { queue.admit(2, run: run) }
        queue.drain(1)
        let again = queue.admit(run: 50, .normal, .front)
        #expect(queue.drain(1) == [again])
        // Each retry is answered by another; the others are sent all the same.
        for run in 100..<200 as Range<UInt64> {
            queue.admit(run: run, .normal, .front)
            queue.drain(1)
        }
        #expect(Set(1...6).isSubset(of: queue.sent))
    }

    @Test("a suspended queue sends nothing new; what is in flight goes on")
    func suspend() {
        let queue = QueueHarness(limit: 2)
        queue.admit(3)
        queue.state.suspend()
        queue.drain()
        queue.admit()
        #expect(queue.sent == [0, 1])
        #expect(queue.state.inFlight == 0)
        queue.change { $0.resume(into: &$1) }
        #expect(queue.sent == [0, 1, 2, 3])
    }

    @Test("a paused host is sent nothing, and no other host waits for it")
    func pauseHost() {
        let queue = QueueHarness(limit: 8)
        let host = queue.host(0)
        queue.state.pause(host)
        queue.admit(3, host: 0)
        let other = queue.admit(host: 1)
        #expect(queue.sent == [other])
        queue.change { $0.resume(host, into: &$1) }
        #expect(queue.sent == [other, 0, 1, 2])
    }

    @Test("a host that is resumed with a burst gets so many, then one for each that comes back")
    func staggeredResumption() {
        let queue = QueueHarness(limit: 64)
        let host = queue.host(0)
        queue.state.pause(host)
        queue.admit(10)
        queue.change { $0.resume(host, burst: 2, into: &$1) }
        #expect(queue.sent == [0, 1])
        queue.release(0)
        #expect(queue.sent == [0, 1, 2])
        queue.drain()
        #expect(queue.sent.count == 10)
        queue.admit(5)
        #expect(queue.state.inFlight == 5, "one came back while nobody waited")
    }

    @Test("a host that is resumed with a burst while nobody waits takes no more than that at first")
    func staggeredResumptionOfAnEmptyHost() {
        let queue = QueueHarness(limit: 64)
        let host = queue.host(0)
        queue.state.pause(host)
        queue.change { $0.resume(host, burst: 1, into: &$1) }
        queue.admit(3)
        #expect(queue.state.inFlight == 1)
        queue.drain()
        #expect(queue.sent == [0, 1, 2])
    }

    @Test("a paused run is sent nothing, wherever it waits; others are")
    func pauseRun() {
        let queue = QueueHarness(limit: 64, hostLimit: 1)
        queue.admit(2, host: 0, run: 1)
        queue.admit(2, host: 1, run: 1)
        queue.admit(host: 0, run: 2)
        queue.state.pause(run: 1)
        queue.admit(host: 2, run: 1)
        #expect(queue.drain() == [4])
        #expect(queue.state.inFlight == 0)
        queue.change { $0.resume(run: 1, into: &$1) }
        queue.drain()
        #expect(Set(queue.sent) == Set(0..<6))
    }
}
