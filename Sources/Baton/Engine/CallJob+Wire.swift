/// What the engine adds to an exchange beside what interceptors see: limits, and what depends on the exchange alone.
extension CallJob {
    /// The most bytes of a response that are kept in memory.
    func largestBody(_ state: State) -> Int {
        let own = state.options.isEmpty ? nil : state.options.maxResponseBytes
        return own ?? settings.configuration.maxResponseBytes
    }

    /// Whether the head says that the body will be larger. That of a HEAD request has none.
    func announcesTooMuch(_ head: HTTPResponseHead, _ state: State) -> Bool {
        guard let call = state.call, call.sink == nil, call.request.method != .head, let length = head.contentLength
        else { return false }
        return length > largestBody(state)
    }

    static func tooLarge(_ limit: Int) -> BatonError {
        BatonError(.responseTooLarge, "the response is larger than \(limit) bytes: download it to a file")
            .with(phase: .receive)
    }

    /// The request as it goes to the transport.
    func dressed(_ call: CallDescription, _ state: State) -> CallDescription {
        call
    }
}
