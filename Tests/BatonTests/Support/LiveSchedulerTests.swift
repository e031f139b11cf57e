import Baton
import BatonTesting
import Dispatch
import Testing

@testable import Baton

@Suite("The live scheduler")
struct LiveSchedulerTests {
    private let scheduler = LiveScheduler.shared

    @Test("Timers come in the order of their times, and not before them")
    func timers() async {
        let seen = Record<Int>()
        let done = Countdown(5)
        let start = scheduler.now
        for delay in [30, 10, 50, 20, 40] {
            let instant = start.advanced(by: .milliseconds(delay))
            let job = ClosureJob { [scheduler] in
                #expect(scheduler.now >= instant)
                seen.add(delay)
                done()
            }
            _ = scheduler.schedule(job, Signal(kind: 0), at: instant)
        }
        #expect(await done.gate.opens())
        #expect(seen.all == [10, 20, 30, 40, 50])
    }

    @Test("A timer that is taken back does not come, and a later one does")
    func cancelled() async {
        let seen = Record<Int>()
        let done = Gate()
        let now = scheduler.now
        let first = scheduler.schedule(
            ClosureJob { seen.add(1) }, Signal(kind: 0), at: now.advanced(by: .milliseconds(20)))
        let second = ClosureJob {
            seen.add(2)
            done.open()
        }
        _ = scheduler.schedule(second, Signal(kind: 0), at: now.advanced(by: .milliseconds(40)))
        scheduler.cancel(first)
        #expect(await done.opens())
        #expect(seen.all == [2])
    }

    @Test("Work that is posted from within work runs after it, on the same thread, without recursion")
    func ring() async {
        let seen = Record<String>()
        let done = Gate()
        let scheduler = scheduler
        scheduler.post(
            ClosureJob {
                for n in 0..<3 {
                    scheduler.post(
                        ClosureJob {
                            seen.add("inner \(n)")
                            if n == 2 { done.open() }
                        }, Signal(kind: 0))
                }
                seen.add("outer")
            }, Signal(kind: 0))
        #expect(await done.opens())
        #expect(seen.all == ["outer", "inner 0", "inner 1", "inner 2"])
    }

    @Test("What waits on a thread is handed over before a closure blocks there")
    func handOver() async {
        let done = Gate()
        let result = Record<Bool>()
        let scheduler = scheduler
        scheduler.execute(
            ClosureJob {
                let (engineWork, userWork) = (Gate(), Gate())
                scheduler.post(ClosureJob { engineWork.open() }, Signal(kind: 0))
                scheduler.execute(ClosureJob { userWork.open() }, Signal(kind: 0))
                UserCode.call(scheduler) {
                    result.add(engineWork.blocks(within: 10))
                    result.add(userWork.blocks(within: 10))
                    // What comes up inside of the closure does not wait for it either.
                    let (posted, executed) = (Gate(), Gate())
                    scheduler.post(ClosureJob { posted.open() }, Signal(kind: 0))
                    scheduler.execute(ClosureJob { executed.open() }, Signal(kind: 0))
                    result.add(posted.blocks(within: 10))
                    result.add(executed.blocks(within: 10))
                }
                done.open()
            }, Signal(kind: 0))
        #expect(await done.opens(within: 60))
        #expect(result.all == [true, true, true, true])
    }

    @Test("A worker that always finds more to do lets others have a turn")
    func fairness() async {
        let scheduler = scheduler
        let isOver = LockBox(false)
        /// Goes on for ever, always with user work.
        @Sendable func spin() {
            if isOver.withLock({ $0 }) { return }
            scheduler.execute(ClosureJob { spin() }, Signal(kind: 0))
        }
        for _ in 0..<3 { scheduler.execute(ClosureJob { spin() }, Signal(kind: 0)) }
        let others = Countdown(20)
        let rest = LockBox(20)
        for _ in 0..<20 {
            scheduler.execute(
                ClosureJob {
                    // The last one ends it, here and now: the test itself may have to wait for its turn.
                    let isLast = rest.withLock { rest in
                        rest -= 1
                        return rest == 0
                    }
                    if isLast { isOver.withLock { $0 = true } }
                    others()
                }, Signal(kind: 0))
        }
        #expect(await others.gate.opens())
        isOver.withLock { $0 = true }
    }

    @Test("Time does not go back")
    func monotonic() {
        let instants = (0..<1_000).map { _ in scheduler.now }
        #expect(instants == instants.sorted())
    }
}
