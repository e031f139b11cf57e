/// A point on a scheduler's monotonic time line, in nanoseconds since an origin of the scheduler's own.
///
/// It is comparable only with instants of the same scheduler, never jumps, and goes on while the device sleeps.
public struct Instant: Comparable, Hashable, Sendable {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The time that lies between this instant and a later one; negative when `other` is earlier.
    public func duration(to other: Instant) -> Duration {
        .nanoseconds(other.nanoseconds - nanoseconds)
    }

    /// The instant `duration` after this one; it saturates at the end of the time line.
    public func advanced(by duration: Duration) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return overflow ? (duration < .zero ? .distantPast : .distantFuture) : Instant(nanoseconds: sum)
    }

    /// The same for a duration of so many nanoseconds, at least none.
    package func advanced(byNanoseconds duration: Int64) -> Instant {
        let (sum, overflow) = nanoseconds.addingReportingOverflow(duration)
        return overflow ? .distantFuture : Instant(nanoseconds: sum)
    }

    public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

    package static let distantFuture = Instant(nanoseconds: .max)
    package static let distantPast = Instant(nanoseconds: .min)
}

extension Duration {
    /// The duration in whole nanoseconds, held at the ends of the range that 64 bits can say (about 292 years).
    package var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, overflowed) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflowed ? (seconds < 0 ? .min : .max) : sum
    }

    /// The duration in seconds, for people and for arithmetic with fractions.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
