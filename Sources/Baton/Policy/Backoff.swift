/// How long to wait before the next attempt.
public struct Backoff: Sendable, Hashable {
    /// How waits are spread, so that clients that failed together do not come back together.
    public enum Jitter: Sendable, Hashable {
        /// Anything from zero to the computed wait.
        case full
        /// Half of the computed wait, and anything up to the other half.
        case equal
        /// Exactly the computed wait.
        case none
    }

    /// The wait before the second attempt, before jitter.
    public var base: Duration
    /// What each further wait is multiplied by.
    public var factor: Double
    /// The longest wait. It is applied before jitter, so that waits at the cap differ too.
    public var cap: Duration
    /// How waits are spread, so that clients do not come back together.
    public var jitter: Jitter

    /// Waits that grow: `base · factorⁿ`, at most `cap`. Defaults: 100 ms, doubling, at most 20 s, full jitter.
    public static func exponential(
        base: Duration = .milliseconds(100), factor: Double = 2, cap: Duration = .seconds(20), jitter: Jitter = .full
    ) -> Backoff {
        Backoff(base: base, factor: factor, cap: cap, jitter: jitter)
    }

    /// The same wait each time.
    public static func constant(_ wait: Duration, jitter: Jitter = .none) -> Backoff {
        Backoff(base: wait, factor: 1, cap: wait, jitter: jitter)
    }

    /// No wait at all.
    public static let none = Backoff.constant(.zero)

    /// The wait after `attempt` attempts, from 64 random bits. It is finite and within zero and the cap for every
    /// attempt there can be.
    package func wait(after attempt: Int, random: UInt64) -> Duration {
        let growth = pow(factor, attempt - 1)
        let seconds = min(base.inSeconds * growth, cap.inSeconds)
        let computed = seconds.isFinite ? max(0, seconds) : cap.inSeconds
        let share = Double(random >> 11) / Double(1 << 53)
        switch jitter {
        case .none: return nanoseconds(computed)
        case .full: return nanoseconds(computed * share)
        case .equal: return nanoseconds(computed * (0.5 + share / 2))
        }
    }

    /// Held at about 292 years, so that no cap is too large to be said.
    private func nanoseconds(_ seconds: Double) -> Duration {
        .nanoseconds(Int64(exactly: (seconds * 1e9).rounded(.down)) ?? .max)
    }

    /// What is wrong with the values; nil when nothing is.
    package var fault: String? {
        if base < .zero { return "a backoff's base is negative" }
        if cap < .zero { return "a backoff's cap is negative" }
        if !(factor >= 0 && factor.isFinite) {
            return "a backoff's factor is \(factor): it must be finite and not negative"
        }
        return nil
    }

    private func pow(_ base: Double, _ exponent: Int) -> Double {
        if base == 1 || exponent <= 0 { return 1 }
        var result = 1.0
        var square = base
        var rest = exponent
        while rest > 0 {
            if rest & 1 == 1 { result *= square }
            square *= square
            rest >>= 1
        }
        return result.isNaN ? .infinity : result
    }
}
