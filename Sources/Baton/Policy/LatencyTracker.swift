/// The latest times that a host took to answer, for percentiles over them.
///
/// The memory is fixed: 128 samples in the order in which they came, and the same ones in order of size. Adding one
/// moves at most a kilobyte; a percentile is one look-up.
package struct LatencyTracker: Sendable {
    /// How many samples are kept; a further one replaces the oldest.
    package static let capacity = 128
    /// Below so many samples there is no percentile.
    package static let minimum = 20

    /// In nanoseconds, in the order in which they came, from `next` on the oldest.
    private var ring: [Int64] = []
    private var next = 0
    private var sorted: [Int64] = []

    package init() {}

    package var count: Int { ring.count }

    /// A request succeeded after `duration`. Failed and cancelled ones are not noted.
    package mutating func note(_ duration: Duration) {
        let sample = max(0, duration.clampedNanoseconds)
        if ring.count < Self.capacity {
            ring.append(sample)
        } else {
            sorted.remove(at: place(of: ring[next]))
            ring[next] = sample
            next = (next + 1) % Self.capacity
        }
        sorted.insert(sample, at: place(of: sample))
    }

    /// The smallest sample that at least `share` of the samples do not exceed (the nearest-rank percentile); nil
    /// while there are too few.
    package func percentile(_ share: Double) -> Duration? {
        guard sorted.count >= Self.minimum else { return nil }
        let rank = (share * Double(sorted.count) - 1e-9).rounded(.up)
        return .nanoseconds(sorted[Int(min(max(rank, 1), Double(sorted.count))) - 1])
    }

    /// Where the first sample stands that is not smaller.
    private func place(of sample: Int64) -> Int {
        var low = 0
        var high = sorted.count
        while low < high {
            let middle = (low + high) / 2
            if sorted[middle] < sample { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
