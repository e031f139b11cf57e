/// Hops: further exchanges of one attempt, each with a slot of its own.
extension CallJob {
    static let secrets = Redaction()

    /// Follows a redirect, unless something speaks against it.
    func redirect(_ response: HTTPResponse, _ rules: ResponseRules?, _ token: UInt64) {
        let sent: (HTTPRequest, hops: Int)? = state.withLock { state in
            guard state.token == token, state.phase == .preparing, let request = state.call?.request else { return nil }
            return (request, state.hops)
        }
        guard case (let request, let hops)? = sent else { return }
        let redirects = rules?.redirects ?? settings.configuration.redirects
        do throws(BatonError) {
            guard let next = try hop(after: response, to: request, number: hops + 1, redirects) else {
                return exchangeIsOver(refused(response, rules), token)
            }
            guard hops < redirects.limit else {
                throw BatonError(
                    .tooManyRedirects, "the request was redirected more than \(redirects.limit) times",
                    response: response)
            }
            follow(next, token)
        } catch {
            exchangeIsOver(.failure(error.with(phase: .receive, response: response)), token)
        }
    }

    /// What is sent next; nil when the redirect is the response.
    private func hop(
        after response: HTTPResponse, to request: HTTPRequest, number: Int, _ redirects: Redirects
    ) throws(BatonError) -> HTTPRequest? {
        let next = try RedirectRules.next(after: response, to: request) { name in
            Self.secrets.isSecret(name.rawName) || redirects.secretFields.contains(name)
        }
        guard let next else { return nil }
        let redirect = Redirect(response: response, from: request, request: next, number: number)
        guard let handler = redirects.handler else {
            guard !redirect.isDowngrade else {
                throw BatonError(
                    .redirectRefused, "a redirect from https to http is followed only where a handler says so",
                    response: response)
            }
            return next
        }
        do {
            let chosen = try UserCode.call(scheduler) { try handler(redirect) }
            if let fault = chosen?.fault { throw fault }
            return chosen
        } catch {
            throw BatonError.wrapping(error, as: .redirectRefused, "the redirect's handler threw an error")
        }
    }

    /// A redirect that is not followed is a response like others.
    private func refused(_ response: HTTPResponse, _ rules: ResponseRules?) -> Result<HTTPResponse, BatonError> {
        let error = rules.map { $0.refusal(of: response) } ?? Validation.unacceptable(response)
        if let error { return .failure(error) }
        return rules?.check(response, scheduler) ?? .success(response)
    }

    private func follow(_ next: HTTPRequest, _ token: UInt64) {
        let tells: Bool? = state.withLock { state in
            guard state.token == token, state.phase == .preparing else { return nil }
            state.hops += 1
            return note(&state, at: scheduler.now) { .redirected($0, to: next) }
        }
        guard let tells else { return }
        if tells { run.events?.deliver() }
        enqueueHop(next, token)
    }

    /// The attempt's time is over while a hop waits for its slot, or for its place in a batch.
    func leaveLine(_ state: inout State) {
        staysAway(&state)
        state.token &+= 1
        state.phase = .preparing
        state.ticket = nil
        state.isOpen = false
    }
}

extension Result<HTTPResponse, BatonError> {
    /// The response with the URL that answered, where the transport does not say it.
    func answered(by request: HTTPRequest?) -> Self {
        guard let request, case .success(var response) = self, response.url == nil else { return self }
        response.url = request.urlString
        return .success(response)
    }
}

extension BatonError {
    /// The error with a message that holds no secret: transports may be anybody's.
    func told(by redaction: Redaction) -> BatonError {
        let text = redaction.text(message)
        guard text != message else { return self }
        var error = self
        error.storage.message = text
        return error
    }
}
