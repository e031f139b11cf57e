/// What becomes of a response: it is followed, looked at, or taken.
extension CallJob {
    /// What is known at first sight.
    enum Judgement {
        case over(Result<HTTPResponse, BatonError>)
        /// There is more to it: a redirect, or a body to look at.
        case open(HTTPResponse)

        /// As hosts and breakers see it.
        var result: Result<HTTPResponse, BatonError> {
            switch self {
            case .over(let result): result
            case .open(let response): .success(response)
            }
        }
    }

    /// Judges the response at first sight: the innermost layer, so that interceptors and retries see what it refuses.
    func judge(_ reply: Result<HTTPResponse, BatonError>, _ rules: ResponseRules?) -> Judgement {
        guard case .success(let response) = reply else { return .over(reply) }
        guard let rules else {
            if (200..<300).contains(response.status) { return .over(reply) }
            if RedirectRules.leadsOn(response.head) { return .open(response) }
            return .over(.failure(Validation.unacceptable(response)))
        }
        if rules.redirects.limit > 0, RedirectRules.leadsOn(response.head) { return .open(response) }
        if let error = rules.refusal(of: response) { return .over(.failure(error)) }
        return rules.envelope == nil && !rules.asksUserCode ? .over(reply) : .open(response)
    }

    /// Goes on with a response that is not over, once its slot has gone back: here, or on a worker where it takes user
    /// code or long.
    func look(into response: HTTPResponse, _ rules: ResponseRules?, _ token: UInt64) {
        let isRedirect = RedirectRules.isRedirect(response.status) && (rules?.redirects.limit ?? 1) > 0
        let takesWorker =
            isRedirect
            ? rules?.redirects.handler != nil
            : rules?.asksUserCode ?? false || !Result.success(response).isSmall
        let isCurrent = state.withLock { state in
            guard state.token == token, state.phase == .preparing else { return false }
            state.isOpen = true
            if takesWorker { state.reply = .success(response) }
            return true
        }
        guard isCurrent else { return }
        guard takesWorker else {
            return isRedirect ? redirect(response, rules, token) : inspect(response, rules, token)
        }
        scheduler.execute(self, Signal(kind: Self.look, token: token, value: isRedirect ? 1 : 0))
    }

    /// The same, on a worker.
    func lookNow(_ token: UInt64, isRedirect: Bool) {
        let found: (HTTPResponse, ResponseRules?)? = state.withLock { state in
            guard state.token == token, state.phase == .preparing, case .success(let response)? = state.reply else {
                return nil
            }
            state.reply = nil
            return (response, settings.rules(for: state.options))
        }
        guard let (response, rules) = found else { return }
        if isRedirect { redirect(response, rules, token) } else { inspect(response, rules, token) }
    }

    /// Looks at the body.
    private func inspect(_ response: HTTPResponse, _ rules: ResponseRules?, _ token: UInt64) {
        exchangeIsOver(rules?.check(response, scheduler) ?? .success(response), token)
    }

    /// The attempt's exchange has its result.
    func exchangeIsOver(_ result: Result<HTTPResponse, BatonError>, _ token: UInt64) {
        let tells: Bool? = state.withLock { state in
            guard state.token == token, state.phase == .preparing else { return nil }
            state.isOpen = false
            return noteEnd(result, &state)
        }
        guard let tells else { return }
        if tells { run.events?.deliver() }
        conclude(result, token)
    }
}
