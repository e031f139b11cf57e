import Baton
import Dispatch
import Testing

@testable import Baton

@Suite("The worker pool")
struct WorkerPoolTests {
    /// A job out of a closure.
    private final class Task: Job {
        private let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        func run(_ signal: Signal) { body() }
    }

    private static func work(_ body: @escaping @Sendable () -> Void) -> Work {
        Work(Task(body), Signal(kind: 0))
    }

    @Test("Work that comes all at once is done though the first of it blocks until the last is done")
    func blocksOnLast() async {
        let pool = WorkerPool(size: 2)
        let last = Gate()
        let done = Countdown(9)
        var works = (0..<8).map { _ in
            Self.work {
                last.blocks(within: 5)
                done()
            }
        }
        works.append(
            Self.work {
                last.open()
                done()
            })
        pool.submit(works)
        #expect(await last.gate(opensWithin: 4))
        #expect(await done.gate.opens())
    }

    @Test("Work that comes piece by piece is done though the first of it blocks until the last is done")
    func blocksOnLastOfMany() async {
        let pool = WorkerPool(size: 2)
        let last = Gate()
        let done = Countdown(31)
        for _ in 0..<30 {
            pool.submit(
                Self.work {
                    last.blocks(within: 5)
                    done()
                })
        }
        pool.submit(
            Self.work {
                last.open()
                done()
            })
        #expect(await last.gate(opensWithin: 4))
        #expect(await done.gate.opens())
    }

    @Test("Work that never blocks needs no more threads than the pool's size")
    func threads() async {
        let pool = WorkerPool(size: 2)
        let current = LockBox((now: 0, most: 0))
        let done = Countdown(2_000)
        for _ in 0..<2_000 {
            pool.submit(
                Self.work {
                    current.withLock { state in
                        state.now += 1
                        state.most = max(state.most, state.now)
                    }
                    current.withLock { $0.now -= 1 }
                    done()
                })
        }
        #expect(await done.gate.opens())
        #expect(current.withLock { $0.most } <= 3)
    }
}

extension Gate {
    fileprivate func gate(opensWithin seconds: Int) async -> Bool { await opens(within: seconds) }
}
