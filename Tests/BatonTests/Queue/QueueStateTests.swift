import Baton
import Testing

@Suite("Queue: limits, order and cancelling") struct QueueStateTests {
    @Test("up to the limit, those who come are sent at once")
    func sendsUpToTheLimit() {
        let queue = QueueHarness(limit: 3)
        queue.admit(5)
        #expect(queue.sent == [0, 1, 2])
        #expect(queue.state.inFlight == 3)
        #expect(queue.state.waiting == 2)
        #expect(queue.state.inFlight(at: queue.host(0)) == 3)
        #expect(queue.state.waiting(at: queue.host(0)) == 2)
    }

    @Test("a limit below 1 counts as 1")
    func smallestLimit() {
        let queue = QueueHarness(limit: 0, hostLimit: -3)
        queue.admit(2)
        #expect(queue.sent == [0])
        queue.change { $0.setLimit(-1, into: &$1) }
        #expect(queue.state.limit == 1)
    }

    @Test("those of one run, host and priority are sent in the order in which they came")
    func firstComeFirstServed() {
        let queue = QueueHarness(limit: 1)
        queue.admit(100)
        queue.drain()
        #expect(queue.sent == Array(0..<100))
    }

    @Test("a full host delays no other")
    func fullHostDelaysNobody() {
        let queue = QueueHarness(limit: 10, hostLimit: 2)
        queue.admit(50, host: 0)
        let other = queue.admit(host: 1)
        #expect(queue.sent == [0, 1, other])
    }

    @Test("a slot that comes back to a full host goes to the one who waits there")
    func fullHostGoesOn() {
        let queue = QueueHarness(limit: 10, hostLimit: 1)
        queue.admit(2, host: 0)
        queue.admit(2, host: 1)
        queue.release(2)
        #expect(queue.sent == [0, 2, 3])
        queue.release(0)
        #expect(queue.sent == [0, 2, 3, 1])
    }

    @Test("a cancelled one is handed back once and never sent")
    func cancelHandsBackOnce() {
        let queue = QueueHarness(limit: 1)
        queue.admit(3)
        #expect(queue.cancel(1))
        #expect(!queue.cancel(1))
        #expect(queue.state.waiting == 1)
        queue.drain()
        #expect(queue.sent == [0, 2])
    }

    @Test("the ticket of one who was sent cancels nobody, also when its place was taken by another")
    func staleTicket() {
        let queue = QueueHarness(limit: 1)
        queue.admit(2)
        queue.release(0)
        let later = queue.admit()
        #expect(!queue.cancel(1))
        queue.release(1)
        #expect(queue.sent.last == later)
    }

    @Test("Z03: after three queued at a full host are cancelled, the fourth gets the slot")
    func emptiedLine() {
        let queue = QueueHarness(limit: 1)
        let first = queue.admit(host: 0, run: 1)
        let cancelled = (2...4).map { queue.admit(host: 0, run: $0) }
        for waiter in cancelled { #expect(queue.cancel(waiter)) }
        let fourth = queue.admit(host: 0, run: 5)
        queue.release(first)
        #expect(queue.sent == [first, fourth])
    }

    @Test("Z03: a parked run that is cancelled takes no turn from the one behind it", arguments: [1, 2, 3])
    func emptiedFlowAtTheHost(cancelled: Int) {
        let queue = QueueHarness(limit: 8, hostLimit: 1)
        queue.admit(host: 0, run: 1)
        let waiting = (2...4).map { queue.admit(host: 0, run: $0) }
        queue.cancel(cancelled)
        let sent = queue.drain()
        #expect(sent == waiting.filter { $0 != cancelled })
    }

    @Test("Z02: silent hosts cannot take every slot")
    func silentHosts() {
        let queue = QueueHarness(limit: 64, hostLimit: 6)
        for host in 0..<11 { queue.admit(20, host: host, run: UInt64(host)) }
        #expect(queue.state.inFlight < 64)
        let twelfth = queue.admit(host: 11, run: 99)
        #expect(queue.sent.last == twelfth)
    }

    @Test("a host that is alone may use every slot", arguments: [1, 2, 7, 8, 64])
    func reserveOfOneHost(limit: Int) {
        let queue = QueueHarness(limit: limit)
        queue.admit(limit + 1)
        #expect(queue.state.inFlight == limit)
    }

    @Test(
        "the last eighth, from a limit of 2 up at least one, is kept for hosts with nothing in flight",
        arguments: [(1, 1), (2, 1), (3, 2), (8, 7), (16, 14), (64, 56), (100, 88)])
    func reserve(limit: Int, busy: Int) {
        let queue = QueueHarness(limit: limit)
        queue.admit(host: 0)
        let paused = queue.host(1)
        queue.change { state, _ in state.pause(paused) }
        let other = queue.admit(host: 1)
        queue.admit(limit, host: 0)
        #expect(queue.state.inFlight(at: queue.host(0)) == busy)
        // Whoever is the last at the other host frees what was kept.
        queue.cancel(other)
        #expect(queue.state.inFlight(at: queue.host(0)) == limit)
    }

    @Test("a host whose last slot comes back gets a kept one at once, whoever had turns there before")
    func reserveAfterTurns() {
        let queue = QueueHarness(limit: 4)
        let first = queue.admit(host: 0, run: 9)
        let others = [queue.admit(host: 1, run: 9), queue.admit(host: 1, run: 9)]
        let many = [queue.admit(host: 0, run: 1), queue.admit(host: 0, run: 1)]
        let one = queue.admit(host: 0, run: 2)
        queue.release(others[0])
        #expect(queue.sent.last == many[0])
        queue.change { $0.setLimit(2, into: &$1) }
        queue.release(first)
        queue.release(many[0])
        #expect(queue.sent.last == one)
    }

    @Test("what is kept goes to hosts with nothing in flight, in turns between runs")
    func reserveTurns() {
        let queue = QueueHarness(limit: 8)
        queue.state.suspend()
        for host in 1...40 { queue.admit(host: host, run: 1) }
        queue.change { $0.resume(into: &$1) }
        let other = queue.admit(host: 50, run: 2)
        #expect(queue.drain(2).contains(other))
    }

    @Test("the slot of a request is in use until it comes back, also above a limit that was cut")
    func cutDrains() {
        let queue = QueueHarness(limit: 4)
        queue.admit(8)
        queue.change { $0.setLimit(2, into: &$1) }
        queue.release(0)
        queue.release(1)
        #expect(queue.sent.count == 4)
        queue.release(2)
        #expect(queue.sent.count == 5)
    }

    @Test("a raised limit sends more at once")
    func raiseSends() {
        let queue = QueueHarness(limit: 1, hostLimit: 3)
        queue.admit(8)
        queue.change { $0.setLimit(10, into: &$1) }
        #expect(queue.sent == [0, 1, 2])
        queue.change { $0.setHostLimit(4, into: &$1) }
        #expect(queue.sent.count == 4)
        let host = queue.host(0)
        queue.change { $0.setLimit(6, of: host, into: &$1) }
        #expect(queue.sent.count == 6)
        queue.change { $0.setHostLimit(1, into: &$1) }
        #expect(queue.drain(1).count == 1, "the host's own limit stands")
        queue.change { $0.setLimit(nil, of: host, into: &$1) }
        #expect(queue.drain(5).isEmpty)
        queue.change { $0.setHostLimit(nil, into: &$1) }
        #expect(queue.state.waiting == 0)
    }

    @Test("when too many wait, the next is rejected and leaves no trace")
    func boundedAdmission() throws {
        var state = QueueState<Int>(limit: 1, maxWaiting: 1)
        let host = state.host(for: HostKey(host: "a"))
        var granted: [Int] = []
        let first = state.admit(0, host: host, run: 1)
        #expect(first == .granted)
        guard case .queued(let ticket) = state.admit(1, host: host, run: 2) else { throw Unexpected() }
        let third = state.admit(2, host: host, run: 3)
        #expect(third == .rejected)
        #expect(state.waiting == 1)
        let cancelled = state.cancel(ticket, into: &granted)
        #expect(cancelled == 1)
        guard case .queued = state.admit(3, host: host, run: 3) else { throw Unexpected() }
        state.release(host: host, into: &granted)
        #expect(granted == [3])
    }

    #if DEBUG && (os(Linux) || os(macOS))
        @Test("releasing more than was granted fails an assertion")
        func overRelease() async {
            await #expect(processExitsWith: .failure) {
                var queue = QueueState<Int>(limit: 2)
                let host = queue.host(for: HostKey(host: "a"))
                var granted: [Int] = []
                _ = queue.admit(0, host: host, run: 1)
                queue.release(host: host, into: &granted)
                queue.release(host: host, into: &granted)
            }
        }
    #endif

    #if !DEBUG
        @Test("releasing more than was granted changes nothing")
        func overRelease() {
            let queue = QueueHarness(limit: 2)
            queue.admit(1, host: 0)
            queue.admit(1, host: 1)
            let host = queue.host(0)
            for _ in 0..<3 { queue.change { $0.release(host: host, into: &$1) } }
            #expect(queue.state.inFlight == 1)
        }
    #endif

    private struct Unexpected: Error {}
}
