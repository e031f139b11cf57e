import Baton
import Testing

@Suite("Sliding counts")
struct SlidingCountsTests {
    @Test(
        "Sums are those of the slots that the window covers, whatever came when",
        arguments: 1...20 as ClosedRange<UInt64>)
    func model(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var counts = SlidingCounts(window: .seconds(10))
        var events: [(slot: Int, first: Int, second: Int)] = []
        var time = random.unit() * 100 - 50
        for _ in 0..<Scale.count(2_000, everyday: 300) {
            time += random.chance(2) ? 20 * random.unit() : 0.3 * random.unit()
            let slot = Int(time.rounded(.down))
            let event = (slot, first: random.below(3), second: random.below(3))
            counts.add(first: event.first, second: event.second, at: at(time))
            events.append(event)
            let size = random.chance(50) ? 10 : 11
            let live = events.suffix(200).filter { $0.slot > slot - size }
            let sum = counts.sum(ofSlots: size, at: at(time))
            #expect(sum.first == live.reduce(0) { $0 + $1.first })
            #expect(sum.second == live.reduce(0) { $0 + $1.second })
        }
    }

    @Test("An instant before one that was seen counts as that one")
    func backwards() {
        var counts = SlidingCounts(window: .seconds(10))
        counts.add(first: 1, at: at(100))
        counts.add(first: 1, at: at(3))
        #expect(counts.sum(at: at(3)).first == 2)
        #expect(counts.sum(at: at(109.9)).first == 2)
        #expect(counts.sum(at: at(110)).first == 0)
    }

    @Test("The ends of the time line are instants like any other")
    func extremes() {
        var counts = SlidingCounts(window: .seconds(10))
        counts.add(first: 1, at: .distantPast)
        #expect(counts.sum(at: .distantPast).first == 1)
        counts.add(second: 1, at: .distantFuture)
        let sum = counts.sum(at: .distantFuture)
        #expect(sum.first == 0 && sum.second == 1)
    }
}
