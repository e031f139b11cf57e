/// Finds out how many requests a host takes at once: more while it copes, fewer when it is overloaded.
///
/// ```swift
/// AdaptiveConcurrency()                          // starts at 8 requests at once, from 1 to 64
/// AdaptiveConcurrency(initial: 4, maximum: 16)
/// ```
/// It is additive increase and multiplicative decrease, as TCP does it: one more for each round trip's worth of
/// successes, provided that the present limit is in use; a tenth fewer when a request is dropped, once for all those
/// that were on their way when the limit was cut. The limits that are configured elsewhere hold as well, so it only
/// ever lowers them.
public struct AdaptiveConcurrency: Sendable, Hashable {
    /// The limit to begin with. Default 8.
    public var initial: Int
    /// The limit never falls below this. Default 1, and at least 1.
    public var minimum: Int
    /// The limit never rises above this, nor above the host's configured limit. Default 64.
    public var maximum: Int
    /// What a drop multiplies the limit by. Default 0.9; above 0, below 1. It lowers the limit by at least 1.
    public var decrease: Double

    /// A limit that finds itself within these bounds; see the properties for what each means.
    public init(initial: Int = 8, minimum: Int = 1, maximum: Int = 64, decrease: Double = 0.9) {
        self.initial = initial
        self.minimum = minimum
        self.maximum = maximum
        self.decrease = decrease
    }

    /// What is wrong with the values; nil when nothing is.
    package var fault: String? {
        if minimum < 1 { return "an adaptive limit's minimum is \(minimum): it must be at least 1" }
        if maximum < minimum { return "an adaptive limit's maximum \(maximum) is below its minimum \(minimum)" }
        if !(minimum...maximum).contains(initial) {
            return "an adaptive limit's initial value \(initial) is not within \(minimum) and \(maximum)"
        }
        if !(decrease > 0 && decrease < 1) {
            return "an adaptive limit's decrease is \(decrease): it must be above 0 and below 1"
        }
        return nil
    }
}

/// The adaptive limit of one host.
package struct AdaptiveConcurrencyState: Sendable {
    /// What the end of an attempt says about the host's load.
    package enum Sample: Sendable, Equatable {
        /// It was served.
        case success
        /// The host is overloaded: a timeout, a failed connection, a 429 or a 503.
        case dropped
        /// It says nothing: a cancelled request, or one that failed fast for another reason.
        case ignored

        package init(_ result: Result<HTTPResponse, BatonError>) {
            let status: Int
            switch result {
            case .success(let response): status = response.status
            case .failure(let error):
                if error.code == .timedOut || error.code == .cannotConnect || error.code == .connectionLost {
                    self = .dropped
                    return
                }
                status = error.isCancelled ? 0 : error.response?.status ?? 0
            }
            switch status {
            case 429, 503: self = .dropped
            case 200..<400: self = .success
            default: self = .ignored
            }
        }
    }

    package private(set) var limit: Int
    private let configuration: AdaptiveConcurrency
    private var ceiling: Int
    /// Successes with the limit in use since it last changed; as many as the limit are a round trip's worth.
    private var successes = 0
    private var lastCut: Instant?

    /// - Parameter ceiling: the limit that is configured for the host; nil when there is none.
    package init(_ configuration: AdaptiveConcurrency, ceiling: Int? = nil) {
        self.configuration = configuration
        self.ceiling = max(1, min(configuration.maximum, ceiling ?? .max))
        limit = max(1, min(configuration.initial, self.ceiling))
    }

    /// An attempt is over.
    ///
    /// - Parameters:
    ///   - began: when it went to the transport. A drop that began before the limit was last cut is part of the same
    ///     overload and does not cut it again; nil, the default: it counts.
    ///   - inFlight: how many attempts the host had under way with this one included.
    /// - Returns: the new limit where it changed.
    package mutating func sample(
        _ sample: Sample, began: Instant? = nil, inFlight: Int, at now: Instant
    ) -> Int? {
        switch sample {
        case .ignored: return nil
        case .success:
            guard 2 * inFlight >= limit, limit < ceiling else { return nil }
            successes += 1
            guard successes >= limit else { return nil }
            return set(limit + 1)
        case .dropped:
            if let began, let lastCut, began < lastCut { return nil }
            lastCut = now
            successes = 0
            return set(max(configuration.minimum, Int(Double(limit) * configuration.decrease)))
        }
    }

    /// The limit that is configured for the host changed; nil for none. The new limit where it changed.
    package mutating func setCeiling(_ ceiling: Int?) -> Int? {
        self.ceiling = max(1, min(configuration.maximum, ceiling ?? .max))
        return set(limit)
    }

    private mutating func set(_ value: Int) -> Int? {
        let bounded = max(1, min(value, ceiling))
        guard bounded != limit else { return nil }
        limit = bounded
        successes = 0
        return limit
    }
}
