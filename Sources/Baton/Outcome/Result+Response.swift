extension Result<HTTPResponse, BatonError> {
    /// The response, accepted or not.
    var response: HTTPResponse? {
        switch self {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }
}
