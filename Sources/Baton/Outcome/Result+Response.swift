extension Result<HTTPResponse, BatonError> {
    /// The response, accepted or not.
    var response: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    /// What was measured, of a failure too; nil when nothing was.
    var metrics: TransportMetrics? {
        switch self {
        case .success(let response): response.metrics
        case .failure(let error): error.metrics
        }
    }
}

extension Result where Failure == BatonError {
    /// The error; nil of a success.
    var error: BatonError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
