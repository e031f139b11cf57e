/// Leaves a host alone for as long as it asked for, with all requests, not only the one that was told.
///
/// ```swift
/// ServerPacing()                                  // pauses of up to 60 s, then 1, 2, 4 … at once, each for 250 ms
/// ServerPacing(longestPause: .seconds(10))
/// ```
/// A response of 429 or 503 with a `Retry-After` in either form pauses its host (RFC 9110, 10.2.3; RFC 6585, 4). When
/// the pause is over, requests do not all leave at once: the host gets a limit that starts low and doubles until it
/// no longer matters. Other hosts flow. Deadlines run on, and requests that wait can be cancelled.
public struct ServerPacing: Sendable, Hashable {
    /// The longest pause. Default 60 s; a host that asks for more is left alone for this long.
    public var longestPause: Duration
    /// How far a pause is prolonged at random, so that clients do not come back together. Default 0.1: up to 10 %.
    public var jitter: Double
    /// How many requests may be under way at once right after a pause. Default 1.
    public var firstLimit: Int
    /// How long each limit holds before it doubles. Default 250 ms.
    public var step: Duration
    /// From this limit on the host is on its own again. Default 64.
    public var lastLimit: Int

    /// Pacing; see the properties for what each value means.
    public init(
        longestPause: Duration = .seconds(60), jitter: Double = 0.1, firstLimit: Int = 1,
        step: Duration = .milliseconds(250), lastLimit: Int = 64
    ) {
        self.longestPause = longestPause
        self.jitter = jitter
        self.firstLimit = firstLimit
        self.step = step
        self.lastLimit = lastLimit
    }

    /// Whether the response may ask for a pause.
    package static func concerns(_ response: HTTPResponse?) -> Bool {
        response?.status == 429 || response?.status == 503
    }

    /// What is wrong with the values; nil when nothing is.
    package var fault: String? {
        if longestPause < .zero { return "server pacing's longest pause is negative" }
        if !(jitter >= 0 && jitter <= 1) { return "server pacing's jitter is \(jitter): it must be 0 to 1" }
        if firstLimit < 1 { return "server pacing's first limit is \(firstLimit): it must be at least 1" }
        if lastLimit < firstLimit {
            return "server pacing's last limit \(lastLimit) is below its first limit \(firstLimit)"
        }
        if step < .zero { return "server pacing's step is negative" }
        return nil
    }
}
