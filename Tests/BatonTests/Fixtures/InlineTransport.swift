import Baton

/// Replies from inside `send`.
struct InlineTransport: Transport {
    private let reply: @Sendable (HTTPRequest) -> Result<HTTPResponse, BatonError>

    init(_ reply: @escaping @Sendable (HTTPRequest) -> HTTPResponse = HTTPResponse.item(for:)) {
        self.reply = { .success(reply($0)) }
    }

    init(results: @escaping @Sendable (HTTPRequest) -> Result<HTTPResponse, BatonError>) {
        reply = results
    }

    func send(_ request: HTTPRequest, to receiver: TransportReceiver) -> any Transmission {
        receiver.end(with: reply(request))
        return FinishedTransmission.shared
    }
}

extension TransportReceiver {
    func end(with result: Result<HTTPResponse, BatonError>) {
        switch result {
        case .success(let response): complete(response)
        case .failure(let error): fail(error)
        }
    }
}
