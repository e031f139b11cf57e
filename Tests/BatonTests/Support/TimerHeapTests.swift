import Baton
import BatonTesting
import Testing

@Suite("The timer heap")
struct TimerHeapTests {
    private final class Mark: Job {
        let number: Int
        init(_ number: Int) { self.number = number }
        func run(_ signal: Signal) {}
    }

    @Test("It agrees with a sorted list, whatever is set, taken back and due", arguments: UInt64(0)..<20)
    func model(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var heap = TimerHeap()
        var list: [(instant: Int64, order: Int, handle: TimerHandle)] = []
        var old: [TimerHandle] = []
        var now: Int64 = 0
        for order in 0..<300 {
            switch generator.next() % 4 {
            case 0, 1:
                let instant = now + Int64(generator.next() % 50)
                let handle = heap.insert(Work(Mark(order), Signal(kind: 0)), at: Instant(nanoseconds: instant))
                list.append((instant, order, handle))
            case 2 where !list.isEmpty:
                let place = Int(generator.next() % UInt64(list.count))
                let entry = list.remove(at: place)
                #expect((heap.remove(entry.handle)?.job as? Mark)?.number == entry.order)
                old.append(entry.handle)
            default:
                now += Int64(generator.next() % 20)
                while let work = heap.popDue(at: Instant(nanoseconds: now)) {
                    let place = try #require(
                        list.indices.min { (list[$0].instant, list[$0].order) < (list[$1].instant, list[$1].order) })
                    #expect((work.job as? Mark)?.number == list[place].order)
                    #expect(list[place].instant <= now)
                    old.append(list.remove(at: place).handle)
                }
            }
            #expect(heap.count == list.count)
            #expect(heap.earliest?.nanoseconds == list.map(\.instant).min())
        }
        // What is gone cannot be taken back, whoever has its slot now.
        for handle in old { #expect(heap.remove(handle) == nil || list.contains { $0.handle == handle }) }
        #expect(heap.count == list.count)
    }

    @Test("A timer that was taken back keeps nothing alive")
    func releases() {
        let gate = Gate()
        final class Holder: Job {
            let canary: Canary
            init(_ canary: Canary) { self.canary = canary }
            func run(_ signal: Signal) {}
        }
        var heap = TimerHeap()
        let handle = heap.insert(Work(Holder(Canary(gate)), Signal(kind: 0)), at: Instant(nanoseconds: 5))
        #expect(!gate.isOpen)
        _ = heap.remove(handle)
        #expect(gate.isOpen)
    }
}
