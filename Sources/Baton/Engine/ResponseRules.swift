/// How responses are treated, where that is not the usual way.
final class ResponseRules: Sendable {
    /// Nil: the usual statuses.
    let validation: Validation?
    let envelope: Envelope?
    let redirects: Redirects

    /// Nil where everything is as usual, so that the usual way costs nothing.
    convenience init?(_ configuration: Client.Configuration, _ options: RequestOptions = RequestOptions()) {
        let validation = options.validation ?? configuration.validation
        self.init(
            validation.isStandard ? nil : validation, (options.envelope ?? configuration.envelope)?.used,
            options.redirects ?? configuration.redirects)
    }

    private init?(_ validation: Validation?, _ envelope: Envelope?, _ redirects: Redirects) {
        let isUsual = validation == nil && envelope == nil && redirects.limit == 10 && redirects.handler == nil
        if isUsual, redirects.secretFields.isEmpty { return nil }
        self.validation = validation
        self.envelope = envelope
        self.redirects = redirects
    }

    /// Whether user code has to look at the response.
    var asksUserCode: Bool { validation?.check != nil }

    /// What refuses a response at first sight.
    func refusal(of response: HTTPResponse) -> BatonError? {
        let error =
            if let validation { validation.refusal(of: response) } else {
                (200..<300).contains(response.status) ? nil : Validation.unacceptable(response)
            }
        guard let error, let envelope else { return error }
        return envelope.explained(error)
    }

    /// What comes of one that was accepted at first sight. It calls user code.
    func check(_ response: HTTPResponse, _ scheduler: any Scheduler) -> Result<HTTPResponse, BatonError> {
        var json: JSONValue?
        if let error = envelope?.refusal(of: response, json: &json) { return .failure(error) }
        if let check = validation?.check {
            do {
                try UserCode.call(scheduler) { try check(response) }
            } catch {
                let error = BatonError.wrapping(
                    error, as: .validationFailed, "the check of the response threw an error")
                return .failure(error.with(phase: .validate, response: response))
            }
        }
        guard let json else { return .success(response) }
        var response = response
        response.json = json
        return .success(response)
    }
}

extension Settings {
    /// How the responses to a call with those options are treated; nil: as usual.
    func rules(for options: RequestOptions) -> ResponseRules? {
        options.concernsResponses ? ResponseRules(configuration, options) : rules
    }

    /// How the output of such a call is read; nil: by the client's coding.
    func reading(for options: RequestOptions) -> ResponseReading? {
        guard options.concernsReading else { return reading }
        let envelope = (options.envelope ?? configuration.envelope)?.used
        return envelope == nil && options.coding == nil
            ? nil : ResponseReading(coding: options.coding, envelope: envelope)
    }
}
