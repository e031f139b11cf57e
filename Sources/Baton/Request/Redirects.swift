/// What is done about redirects: 301, 302, 303, 307 and 308 with a Location.
///
/// ```swift
/// client.redirects = .unfollowed
/// client.redirects = Redirects(limit: 3) { redirect in
///     redirect.request.origin.host.hasSuffix(".example.com") ? redirect.request : nil
/// }
/// ```
/// A hop belongs to its attempt: interceptors do not run again for it, the attempt's timeout covers it, and a retry begins
/// at the first URL. A hop to another host waits for that host's slot.
///
/// - POST becomes GET, without its body, after 301 and 302; every method but HEAD does after 303. Everything else keeps its
///   method and sends its body again; one that can be sent once fails with `notReplayable`.
/// - When the origin changes (scheme, host or port, so from http to https on one host too), fields that are secrets are
///   dropped and stay away: Authorization, Cookie, Proxy-Authorization, and whatever ``Redaction`` takes for a secret by
///   its name, such as X-Api-Key.
/// - A relative Location is resolved as RFC 3986, 5.2 has it; a fragment is not sent.
/// - From https to http is refused with `redirectRefused`, unless there is a handler and it returns the request. So is a
///   Location that is no URL, of another scheme, or with a user or password in it.
/// - One hop more than the limit fails with `tooManyRedirects`. A redirect without a Location is a response like others.
public struct Redirects: Sendable {
    /// Returns what is sent next: the redirect's request as it is, or changed; nil makes the redirect's response the
    /// attempt's response, which the validation then judges. What it throws fails the attempt. It runs on a worker thread.
    public typealias Handler = @Sendable (Redirect) throws -> HTTPRequest?

    /// How many hops are followed in one attempt. Default: 10; 0 follows none, and the redirect is the response.
    public var limit: Int
    /// Fields that are dropped with the secrets when the origin changes. Default: none.
    public var secretFields: [HTTPFieldName]
    /// Decides about each hop. Default: nil, all are followed.
    public var handler: Handler?

    /// Redirects; see the properties for what each value means.
    public init(limit: Int = 10, secretFields: [HTTPFieldName] = [], handler: Handler? = nil) {
        self.limit = limit
        self.secretFields = secretFields
        self.handler = handler
    }

    /// None is followed: the redirect is the response, which the validation refuses unless it accepts its status.
    public static let unfollowed = Redirects(limit: 0)

    package var fault: String? {
        limit < 0 ? "the limit of redirects is \(limit): it must be 0 or more" : nil
    }
}

/// One redirect, about to be followed.
public struct Redirect: Sendable {
    /// The response that redirects.
    public let response: HTTPResponse
    /// What was sent.
    public let from: HTTPRequest
    /// What is sent next, without the secrets that may not go there.
    public let request: HTTPRequest
    /// 1 for the first hop of an attempt.
    public let number: Int

    package init(response: HTTPResponse, from: HTTPRequest, request: HTTPRequest, number: Int) {
        self.response = response
        self.from = from
        self.request = request
        self.number = number
    }

    /// Whether it leads from https to http.
    public var isDowngrade: Bool { from.origin.scheme == "https" && request.origin.scheme == "http" }
}
