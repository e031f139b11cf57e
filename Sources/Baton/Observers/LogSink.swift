internal import Foundation

/// How much a message matters, and how much a logger says.
public enum LogLevel: Int, Sendable, Comparable, CaseIterable {
    /// What failed for good.
    case error
    /// What will be tried again, and what went wrong on the way.
    case warning
    /// One line for each attempt.
    case info
    /// Fields, requests as cURL lines, waits for slots, and what caches do.
    case debug
    /// Bodies, as far as a preview goes.
    case trace

    public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rawValue < b.rawValue }
}

/// Where messages go.
///
/// ```swift
/// let sink = LogSink { level, message in Logger(label: "net").log(level: .init(level), "\(message)") }
/// ```
public struct LogSink: Sendable {
    private let write: @Sendable (LogLevel, String) -> Void

    /// `write` is called once for each message, which may have several lines; from worker threads, also at the same time.
    public init(_ write: @escaping @Sendable (LogLevel, String) -> Void) { self.write = write }

    /// Hands over one message.
    public func callAsFunction(_ level: LogLevel, _ message: String) { write(level, message) }

    /// Standard error, one write for each message, so that messages of several threads do not run into each other.
    public static let standardError = LogSink { level, message in
        try? FileHandle.standardError.write(contentsOf: Data("\(level) \(message)\n".utf8))
    }
}
