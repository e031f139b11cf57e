/// One event of a stream of the type `text/event-stream` (the HTML standard, "Server-sent events").
public struct ServerSentEvent: Sendable, Hashable {
    /// What kind of event it is; `message` where the server does not say.
    public var event: String
    /// Its data; the lines of several `data` fields are joined by a line feed.
    public var data: String
    /// The identifier of the latest event that had one, this one included; empty before any had.
    public var id: String

    /// An event; a `message` without identifier by default.
    public init(event: String = "message", data: String, id: String = "") {
        self.event = event
        self.data = data
        self.id = id
    }
}

/// When a stream of events is asked for again after its connection has ended.
public enum EventReconnecting: Sendable, Hashable {
    /// Never: the end of the response is the end of the stream, and a failure its failure.
    case never
    /// When the connection broke; its regular end is the end of the stream.
    case afterFailure
    /// Also after its regular end, as browsers do, until the server answers 204 or a failure that is final.
    case always
}
