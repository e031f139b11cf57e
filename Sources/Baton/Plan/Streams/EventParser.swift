internal import Foundation

/// Reads a stream of events as the HTML standard says ("Interpreting an event stream").
struct EventParser: StreamParser {
    private var lines: LineSplitter
    private let maxLength: Int
    private let reconnecting: EventReconnecting
    private var isAtStart = true
    private var data = ""
    private var hasData = false
    private var event = ""
    private var id = ""
    /// What the server asks for, or what browsers wait in its place.
    private var retry = Duration.seconds(3)
    private var isComplete = false

    init(maxLength: Int, reconnecting: EventReconnecting) {
        lines = LineSplitter(maxLength: maxLength)
        self.maxLength = maxLength
        self.reconnecting = reconnecting
    }

    mutating func parse(_ bytes: Data) throws(BatonError) -> [ServerSentEvent] {
        var events: [ServerSentEvent] = []
        for line in try lines.split(bytes) {
            if let event = read(line) { events.append(event) }
            if data.utf8.count > maxLength {
                throw BatonError(.responseTooLarge, "an event of the response is longer than \(maxLength) bytes")
                    .with(phase: .decode)
            }
        }
        return events
    }

    /// An event that no empty line has ended is no event.
    mutating func finish() -> [ServerSentEvent] {
        isComplete = true
        return []
    }

    mutating func reconnection(after head: HTTPResponseHead?) -> StreamReconnection? {
        defer { reset() }
        // A server ends the stream for good with 204.
        guard head?.status != 204, reconnecting == .always || (reconnecting == .afterFailure && !isComplete) else {
            return nil
        }
        return StreamReconnection(wait: retry, fields: id.isEmpty ? [:] : ["Last-Event-ID": id])
    }

    private mutating func reset() {
        lines = LineSplitter(maxLength: maxLength)
        (data, hasData, event, isAtStart, isComplete) = ("", false, "", true, false)
    }

    private mutating func read(_ bytes: [UInt8]) -> ServerSentEvent? {
        var line = bytes[...]
        if isAtStart {
            isAtStart = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        }
        guard let first = line.first else { return dispatch() }
        if first == UInt8(ascii: ":") { return nil }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        let name = String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self)
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        set(name, value)
        return nil
    }

    private mutating func set(_ name: String, _ value: ArraySlice<UInt8>) {
        switch name {
        case "data":
            if hasData { data += "\n" }
            hasData = true
            data += String(decoding: value, as: UTF8.self)
        case "event": event = String(decoding: value, as: UTF8.self)
        case "id" where !value.contains(0): id = String(decoding: value, as: UTF8.self)
        case "retry" where !value.isEmpty && value.allSatisfy(\.isDigit):
            // Longer than a day is meant as never; the loop can be left.
            let milliseconds = Int64(String(decoding: value, as: UTF8.self)) ?? .max
            retry = .milliseconds(min(milliseconds, 86_400_000))
        default: break
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer { (data, hasData, event) = ("", false, "") }
        guard hasData else { return nil }
        return ServerSentEvent(event: event.isEmpty ? "message" : event, data: data, id: id)
    }
}
