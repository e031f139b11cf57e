extension BatonError {
    /// The error with the record of its attempts, unless it has one.
    package func with(records: [AttemptRecord]) -> BatonError {
        guard !records.isEmpty, self.records.isEmpty else { return self }
        var copy = self
        copy.storage.records = records
        return copy
    }

    /// The error with what the engine knows about it; what is already set stays.
    package func with(
        path: @autoclosure () -> String = "", phase: Phase? = nil, attempts: Int = 0, request: String? = nil,
        response: HTTPResponse? = nil
    ) -> BatonError {
        var copy = self
        var storage = storage
        if storage.path.isEmpty { storage.path = path() }
        if storage.phase == nil { storage.phase = phase }
        if storage.attempts == 0 { storage.attempts = attempts }
        if storage.request == nil { storage.request = request }
        if storage.response == nil { storage.response = response }
        copy.storage = storage
        return copy
    }

    /// Any error as a `BatonError`: itself if it is one, a cancellation as `cancelled`, else wrapped under `code`.
    package static func wrapping(_ error: any Error, as code: Code, _ message: String) -> BatonError {
        switch error {
        case let error as BatonError: error
        case is CancellationError: BatonError(.cancelled, "the task was cancelled", underlying: error)
        case let fault as MessageFault: BatonError(.invalidRequest, "\(fault.part) \(fault.reason)")
        default: BatonError(code, message, underlying: error)
        }
    }

    /// The error with what caused it; what is already set stays.
    package func with(underlying: any Error) -> BatonError {
        var copy = self
        if copy.storage.underlying == nil { copy.storage.underlying = underlying }
        return copy
    }

    /// The error with what was measured of its exchange; what is already set stays.
    package func with(metrics: TransportMetrics) -> BatonError {
        guard storage.metrics == nil else { return self }
        var copy = self
        copy.storage.metrics = Measured(metrics)
        return copy
    }

    /// The error with another response than it had.
    package func replacing(_ response: HTTPResponse) -> BatonError {
        var copy = self
        copy.storage.response = response
        return copy
    }
}
