/// How a redirect is followed (RFC 9110, 15.4): pure decisions, the same for every transport.
package enum RedirectRules {
    /// Whether a response with that status says where else to ask.
    package static func isRedirect(_ status: Int) -> Bool {
        status == 301 || status == 302 || status == 303 || status == 307 || status == 308
    }

    /// Whether a response is a redirect that names a place.
    package static func leadsOn(_ head: HTTPResponseHead) -> Bool {
        isRedirect(head.status) && head.fields.contains(.location)
    }

    /// The request that follows from a redirect.
    ///
    /// - Parameter isSecret: whether a field may not go to another origin.
    /// - Returns: nil where the response does not say where to go.
    /// - Throws: `redirectRefused` for a Location that cannot be followed; `notReplayable` where the body would have to
    ///   be sent a second time and cannot be.
    package static func next(
        after response: HTTPResponse, to request: HTTPRequest, isSecret: (HTTPFieldName) -> Bool
    ) throws(BatonError) -> HTTPRequest? {
        guard isRedirect(response.status), let location = response.fields[.location],
            !Substring(location).trimmingBlanks.isEmpty
        else { return nil }
        var next = request
        do {
            (next.origin, next.target) = try URLReference.resolve(location, from: request)
        } catch {
            throw BatonError(
                .redirectRefused, "the redirect's \(error.part) \(error.reason)", response: response)
        }
        if becomesGet(request.method, after: response.status) {
            next.method = .get
            dropBody(of: &next)
        } else if !request.body.isReplayable {
            throw BatonError(
                .notReplayable, "the redirect wants the body at another place, and it can be sent once only",
                response: response)
        }
        if !next.origin.isSameOrigin(as: request.origin) {
            next.fields = HTTPFields(next.fields.filter { $0.name != "Host" && !isSecret($0.name) })
        }
        return next
    }

    private static func becomesGet(_ method: HTTPMethod, after status: Int) -> Bool {
        switch status {
        case 301, 302: method == .post
        case 303: method != .head && method != .get
        default: false
        }
    }

    /// What says something of a body goes with it.
    private static func dropBody(of request: inout HTTPRequest) {
        request.body = .none
        request.fields = HTTPFields(
            request.fields.filter { line in
                !line.name.rawName.lowercased().hasPrefix("content-") && line.name != .transferEncoding
                    && line.name != "Expect" && line.name != "Digest" && line.name != "Trailer"
                    && line.name != .idempotencyKey
            })
    }
}
