public import Foundation

/// A request whose response is read while it comes: an inert value for `Client.stream`.
///
/// ```swift
/// for try await line in client.stream(GetLog().lines) { … }
/// for try await event in client.stream(Chat(prompt).serverSentEvents) { … }
/// ```
/// Only a response with an accepted status is read so; of another one the loop throws, with its body in the error.
public struct ResponseStream<Element: Sendable>: Sendable {
    /// Builds the request, for one connection.
    package let describe: @Sendable (_PlanContext, StreamSink, HTTPFields) throws(BatonError) -> CallDescription
    package let check: @Sendable (HTTPResponseHead) -> BatonError?
    package let makeParser: @Sendable (BodyCoding) -> any StreamParser<Element>

    init(
        _ request: some Request, accept: String? = nil,
        check: @escaping @Sendable (HTTPResponseHead) -> BatonError? = { _ in nil },
        makeParser: @escaping @Sendable (BodyCoding) -> any StreamParser<Element>
    ) {
        self.check = check
        self.makeParser = makeParser
        describe = { context, sink, fields throws(BatonError) in
            try CallDescription(request, in: context).into(sink) { request in
                request.fields.merge(fields)
                if let accept { request.fields[.accept] = accept }
            }
        }
    }
}

extension Request {
    /// The body of the response in pieces, as they come. How it is cut says nothing.
    public var bytes: ResponseStream<Data> {
        ResponseStream(self) { _ in BytesParser() }
    }

    /// The lines of the response, without what ends them (LF, CR LF or CR), as UTF-8 and at most 1 MB long each. The last
    /// one need not be ended.
    public var lines: ResponseStream<String> { lines(maxLength: 1 << 20) }

    /// The lines of the response, of at most `maxLength` bytes each; a longer one fails with `responseTooLarge`.
    public func lines(maxLength: Int) -> ResponseStream<String> {
        ResponseStream(self) { _ in LinesParser(maxLength: maxLength) }
    }

    /// Values that stand in JSON, one in each line of the response (also called NDJSON), decoded by the client's decoder.
    /// Empty lines are passed over. A line that cannot be decoded fails with `decodingFailed` and its number.
    ///
    /// - Parameter maxLength: how many bytes a line may have. Default: 1 MB.
    public func jsonLines<Value: Decodable & Sendable>(
        of type: Value.Type, maxLength: Int = 1 << 20
    ) -> ResponseStream<Value> {
        ResponseStream(self) { coding in JSONLinesParser(type, maxLength: maxLength, coding: coding) }
    }

    /// The events of a response of the type `text/event-stream`. A GET request is sent again whenever its connection has
    /// ended, as browsers do; any other never is.
    public var serverSentEvents: ResponseStream<ServerSentEvent> {
        serverSentEvents(reconnecting: method == .get ? .always : .never)
    }

    /// The events of a response of the type `text/event-stream`; another type fails with `invalidResponse`.
    ///
    /// The request is sent again after the wait that the server asked for with `retry`, 3 s where it did not, and with
    /// the latest identifier in `Last-Event-ID`. A connection that cannot be made is tried as the retry policy says; when
    /// that gives up, so does the loop.
    ///
    /// - Parameters:
    ///   - reconnecting: when the request is sent again.
    ///   - maxLength: how many bytes a line, and the data of an event, may have. Default: 1 MB.
    public func serverSentEvents(
        reconnecting: EventReconnecting, maxLength: Int = 1 << 20
    ) -> ResponseStream<ServerSentEvent> {
        ResponseStream(self, accept: "text/event-stream", check: Self.checkEvents) { _ in
            EventParser(maxLength: maxLength, reconnecting: reconnecting)
        }
    }

    private static func checkEvents(_ head: HTTPResponseHead) -> BatonError? {
        if head.status == 204 { return nil }
        let type = head.fields[.contentType]?.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        if type == "text/event-stream" { return nil }
        return BatonError(
            .invalidResponse, "the response is \(type ?? "of no type") where a stream of events was asked for",
            response: HTTPResponse(head: head)
        ).with(phase: .validate)
    }
}
