internal import Foundation

/// What the engine adds to an exchange beside what interceptors see: limits, and what depends on the exchange alone.
extension CallJob {
    /// The most bytes of a response that are kept in memory.
    func largestBody(_ state: inout State) -> Int {
        let own = state.options.isEmpty ? nil : state.options.maxResponseBytes
        return own ?? settings.configuration.maxResponseBytes
    }

    /// Whether the head says that the body will be larger. That of a HEAD request has none.
    func announcesTooMuch(_ head: HTTPResponseHead, _ state: inout State) -> Bool {
        guard let call = state.call, call.sink == nil, call.request.method != .head, let length = head.contentLength
        else { return false }
        return length > largestBody(&state)
    }

    static func tooLarge(_ limit: Int) -> BatonError {
        BatonError(.responseTooLarge, "the response is larger than \(limit) bytes: download it to a file")
            .with(phase: .receive)
    }

    /// The request with what depends on this attempt alone. The call's lock is held.
    func dressed(_ call: consuming CallDescription, _ state: inout State) -> CallDescription {
        guard settings.dresses || !state.options.isEmpty else { return call }
        let field = settings.configuration.attemptField
        let avoided = state.options.avoidedNetworks ?? settings.configuration.avoidedNetworks
        guard field != nil || !avoided.isEmpty else { return call }
        var request = call.request
        if let field { request.fields[field] = String(max(1, state.attempt)) }
        request.avoidedNetworks = avoided
        return call.with(request)
    }

    /// The request with the cookies that go with it, behind those that it has itself. Outside the call's lock.
    func withCookies(_ request: HTTPRequest) -> HTTPRequest {
        guard let jar = settings.configuration.cookies, let cookies = jar.field(for: request, at: scheduler.date) else {
            return request
        }
        var request = request
        request.fields[.cookie] = request.fields[.cookie].map { "\($0); \(cookies)" } ?? cookies
        return request
    }

    /// Takes over the cookies of a response, whatever its status.
    func keepCookies(_ reply: Result<HTTPResponse, BatonError>, _ request: HTTPRequest) {
        guard let jar = settings.configuration.cookies, case .success(let response) = reply else { return }
        jar.store(response, to: request, at: scheduler.date)
    }
}
