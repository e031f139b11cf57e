/// A request that is ready to be sent: the immutable original of all of its attempts.
///
/// It is passed from hand to hand all the way, so it is one reference.
@usableFromInline
package final class CallDescription: Sendable {
    package let request: HTTPRequest
    package let output: any Response.Type
    package let options: RequestOptions
    /// What takes the body of an accepted response; nil: memory.
    package let sink: (any ResponseSink)?
    /// Whether a body moves that is not kept in memory, so that the timeout is one of silence.
    package let isMoving: Bool

    package init(
        request: HTTPRequest, output: any Response.Type, options: RequestOptions, sink: (any ResponseSink)? = nil
    ) {
        self.request = request
        self.output = output
        self.options = options
        self.sink = sink
        isMoving = sink != nil || request.body.isStream
    }

    /// The same call without what was seen to by whoever runs it.
    package var withoutFence: CallDescription {
        var options = options
        options.deadline = nil
        options.tag = nil
        return CallDescription(request: request, output: output, options: options, sink: sink)
    }

    /// The same call with another request.
    package func with(_ request: consuming HTTPRequest) -> CallDescription {
        CallDescription(request: request, output: output, options: options, sink: sink)
    }

    /// The same call with the request as interceptors changed it, if they did. Throws what forbids sending it.
    package func changed(to request: consuming HTTPRequest) throws(MessageFault) -> CallDescription {
        if request.isCopy(of: self.request) { return self }
        if let fault = request.fault(beyond: self.request) { throw fault }
        return with(request)
    }
}

extension CallDescription {
    /// The same call with a sink for its body, whose output is the response without it. No cache and no envelope
    /// has to do with what is never there as a whole.
    package func into(_ sink: any ResponseSink, change: (inout HTTPRequest) -> Void = { _ in }) -> CallDescription {
        var (request, options) = (request, options)
        options.cacheMode = .ignore
        options.envelope = .bare
        change(&request)
        return CallDescription(request: request, output: HTTPResponse.self, options: options, sink: sink)
    }
}

/// What a client contributes to every request that is built for it.
public final class _PlanContext: Sendable {
    package let base: HTTPOrigin?
    package let fields: HTTPFields
    /// What is wrong with the fields; nil when nothing is.
    package let fault: MessageFault?
    package let query: CommonQuery
    package let coding: BodyCoding
    /// Random bits for idempotency keys.
    package let random: @Sendable () -> UInt64

    package init(
        base: HTTPOrigin?, fields: HTTPFields, query: QueryParameters = QueryParameters(), coding: BodyCoding,
        random: @escaping @Sendable () -> UInt64 = { .random(in: 0 ... .max) }
    ) {
        self.random = random
        self.base = base
        self.fields = fields
        self.coding = coding
        self.query = CommonQuery(query, style: coding.parameterStyle)
        fault = fields.fault()
    }
}

extension CallDescription {
    /// Builds the request. Whatever may not be sent is refused here, before anything is.
    package convenience init<R: Request>(_ source: R, in context: _PlanContext) throws(BatonError) {
        let method = source.method
        let options = source.options
        if let fault = options.fault { throw BatonError(.invalidConfiguration, fault).with(phase: .encode) }
        var request: HTTPRequest
        var fault: MessageFault?
        do {
            let (origin, target) = try Self.place(source, in: context, options)
            let own = source.fields
            request = HTTPRequest(method: method, origin: origin, target: target, fields: own.over(context.fields))
            // The client's own were looked at once.
            fault = context.fault ?? own.fault()
        } catch {
            throw BatonError(.invalidRequest, "\(error.part) \(error.reason)").with(
                phase: .encode, request: method.rawValue)
        }
        request.requestType = R.self
        let body = source.body
        if !body.isNone || options.idempotency != nil {
            let known = request.fields
            if !body.isNone { try Self.add(body, to: &request, using: options.coding ?? context.coding) }
            options.idempotency?.stamp(&request, number: Numbering.next, random: context.random)
            if fault == nil { fault = request.fields.fault(beyond: known) }
        }
        if let fault = fault ?? request.faultOfOtherThanFields {
            throw BatonError(.invalidRequest, "\(fault.part) \(fault.reason)")
                .with(phase: .encode, request: request.summary)
        }
        self.init(request: consume request, output: R.Output.self, options: options)
    }

    private static func place<R: Request>(
        _ source: R, in context: _PlanContext, _ options: RequestOptions
    ) throws(MessageFault) -> (HTTPOrigin, target: String) {
        guard context.query.isEmpty else {
            let (origin, target) = try placeAlone(source, in: context, options)
            return (origin, context.query.added(to: target))
        }
        return try placeAlone(source, in: context, options)
    }

    private static func placeAlone<R: Request>(
        _ source: R, in context: _PlanContext, _ options: RequestOptions
    ) throws(MessageFault) -> (HTTPOrigin, target: String) {
        let path = source.path
        let query = source.query
        // What most paths are needs no second look.
        if query.isEmpty, let base = context.base, let target = base.target(ofPlain: path) { return (base, target) }
        let parameters =
            query.isEmpty
            ? "" : query.encoded(.query, defaultStyle: (options.coding ?? context.coding).parameterStyle)
        if path.utf8.first != UInt8(ascii: "/"), let mark = path.firstRange(of: "://"),
            !path[..<mark.lowerBound].contains("/")
        {
            let (origin, target) = try HTTPOrigin.split(path)
            if let base = context.base, !base.isSameOrigin(as: origin) {
                throw MessageFault(
                    "path", "is a URL of another origin than the client's base URL: use a client for that origin")
            }
            return (origin, parameters.isEmpty ? target : target + (target.contains("?") ? "&" : "?") + parameters)
        }
        guard let base = context.base else {
            throw MessageFault(
                "path", "is relative and the client has no base URL: give the client one, or write the URL out")
        }
        return (base, try base.target(path: path, query: parameters))
    }

    private static func add(
        _ body: HTTPBody, to request: inout HTTPRequest, using coding: BodyCoding
    ) throws(BatonError) {
        do {
            request.body = try body.encoded(with: coding)
        } catch {
            throw BatonError.wrapping(error, as: .encodingFailed, "the body could not be encoded")
                .with(phase: .encode, request: request.summary)
        }
        if let type = body.contentType, !request.fields.contains(.contentType) {
            request.fields.append(type, for: .contentType)
        }
    }
}

extension HTTPRequest {
    /// What forbids sending the request; nil when nothing does.
    package var fault: MessageFault? { fields.fault() ?? faultOfOtherThanFields }

    /// The same for a request that was made of another one in which there was nothing wrong.
    package func fault(beyond known: HTTPRequest) -> MessageFault? {
        fields.fault(beyond: known.fields) ?? faultOfOtherThanFields
    }

    fileprivate var faultOfOtherThanFields: MessageFault? {
        // What most requests are needs no look at its bytes.
        if method == .get && body.isNone { return nil }
        if !method.isToken {
            return MessageFault("method", "is no token (RFC 9110, 5.6.2)")
        }
        if !body.isNone, method == .get || method == .head || method == .trace {
            return MessageFault("body", "may not go with \(method): send parameters in the query, or use POST")
        }
        return nil
    }
}

extension HTTPFields {
    fileprivate func fault(beyond known: HTTPFields = HTTPFields()) -> MessageFault? {
        firstInvalid(beyond: known).map { MessageFault("field \($0.name)", $0.reason) }
    }
}

extension HTTPRequest {
    /// Method and URL without the query, for errors and logs.
    package var summary: String { "\(method) \(origin)\(path)" }
}

extension HTTPRequest {
    /// A request to an absolute URL. Throws `invalidRequest` when the scheme is not http or https, the host is missing,
    /// or the URL holds a user or password. A fragment is not sent.
    public init(
        method: HTTPMethod = .get, url: String, fields: HTTPFields = [:], body: HTTPBody = .none
    ) throws(BatonError) {
        do {
            let (origin, target) = try HTTPOrigin.split(url)
            self.init(method: method, origin: origin, target: target, fields: fields, body: body)
        } catch {
            throw BatonError(.invalidRequest, "\(error.part) \(error.reason)")
        }
    }
}
