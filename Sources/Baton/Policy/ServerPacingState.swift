package import Foundation

/// The pace of one host.
package struct ServerPacingState: Sendable {
    /// What holds for a host at a moment.
    package enum Pace: Sendable, Equatable {
        /// Nothing is held back.
        case free
        /// Nothing leaves until then.
        case paused(until: Instant)
        /// At most so many may be under way; ask again then.
        case limited(to: Int, until: Instant)
    }

    private let configuration: ServerPacing
    /// When the latest pause ends or ended; nil when there was none, or it does not matter any more.
    private var pauseEnd: Instant?

    package init(_ configuration: ServerPacing) {
        self.configuration = configuration
    }

    /// Takes note of a response.
    ///
    /// - Parameters:
    ///   - date: the wall clock, for a `Retry-After` that is a date where the response has no Date of its own.
    ///   - random: 64 random bits, drawn only where the host is paused.
    /// - Returns: the end of the pause where the response began or prolonged one. A pause is never shortened.
    package mutating func note(
        _ response: HTTPResponseHead, at now: Instant, date: Date, random: () -> UInt64
    ) -> Instant? {
        guard response.status == 429 || response.status == 503,
            let seconds = RetryAfter.seconds(in: response.fields, now: date), seconds > 0
        else { return nil }
        let asked = min(Duration.seconds(seconds), configuration.longestPause)
        let end = now.advanced(by: asked)
        if let pauseEnd, pauseEnd >= end { return nil }
        let share = Double(random() >> 11) / Double(1 << 53)
        let spread = end.advanced(by: asked * (share * configuration.jitter))
        pauseEnd = spread
        return spread
    }

    /// What holds now. After a pause the limit doubles with each step, until it reaches the last one.
    package mutating func pace(at now: Instant) -> Pace {
        guard let pauseEnd else { return .free }
        if now < pauseEnd { return .paused(until: pauseEnd) }
        var limit = configuration.firstLimit
        var stepEnd = pauseEnd
        while limit < configuration.lastLimit {
            stepEnd = stepEnd.advanced(by: configuration.step)
            if now < stepEnd { return .limited(to: limit, until: stepEnd) }
            limit = limit > configuration.lastLimit / 2 ? configuration.lastLimit : limit * 2
        }
        self.pauseEnd = nil
        return .free
    }
}
