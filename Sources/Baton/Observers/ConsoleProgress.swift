internal import Foundation

/// Shows how far a batch is, for command-line tools: share, count, failures, rate and the time that is left.
///
/// ```swift
/// let run = client.start(batch)
/// await ConsoleProgress("thumbnails").follow(run)
/// let report = try await run.value
/// ```
/// On a terminal it is one line that is written over; elsewhere, as in a file or a log, it is a plain line now and then,
/// without control characters. It goes to standard error, so that what a tool prints stays clean.
public final class ConsoleProgress: Sendable {
    private let state: LockBox<ProgressMeter>
    private let write: @Sendable (String) -> Void

    /// - Parameter label: what stands before the counts, such as `thumbnails`. Default: nothing.
    public convenience init(_ label: String = "") {
        let isTerminal =
            isatty(FileHandle.standardError.fileDescriptor) == 1
            && ProcessInfo.processInfo.environment["TERM"] != "dumb"
        self.init(label, isTerminal: isTerminal) { text in
            try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
        }
    }

    init(_ label: String, isTerminal: Bool, write: @escaping @Sendable (String) -> Void) {
        state = LockBox(ProgressMeter(label: label, isTerminal: isTerminal))
        self.write = write
    }

    /// Shows the counts, unless that was done a moment ago; nil shows nothing.
    public func show(_ progress: BatchProgress?) { show(progress, at: LiveScheduler.shared.now) }

    func show(_ progress: BatchProgress?, at now: Instant) {
        guard let progress else { return }
        if let text = state.withLock({ $0.show(progress, at: now) }) { write(text) }
    }

    /// The last counts, and an end of the line. What is printed afterwards begins at the left.
    public func finish() { finish(at: LiveScheduler.shared.now) }

    func finish(at now: Instant) {
        if let text = state.withLock({ $0.finish(at: now) }) { write(text) }
    }
}

/// What is written when. It decides; who asks, writes.
struct ProgressMeter: Sendable {
    let label: String
    let isTerminal: Bool
    private var last: BatchProgress?
    private var shown: Instant?
    private var shownFraction = 0.0
    /// When the counts began, and counts of the last seconds, from which the rate is.
    private var samples: [(instant: Instant, completed: Int)] = []

    init(label: String, isTerminal: Bool) {
        self.label = label
        self.isTerminal = isTerminal
    }

    mutating func show(_ progress: BatchProgress, at now: Instant) -> String? {
        last = progress
        if let sample = samples.last, sample.instant.duration(to: now) < .milliseconds(100) {
            if samples.count == 1 { return shown == nil ? draw(progress, at: now) : nil }
        } else {
            samples.append((now, progress.completed))
        }
        // Ten seconds, but never fewer than two samples.
        while samples.count > 2, samples[1].instant.duration(to: now) > .seconds(10) { samples.removeFirst() }
        guard let shown else { return draw(progress, at: now) }
        let pause = shown.duration(to: now)
        let isDue =
            isTerminal
            ? pause >= .milliseconds(100)
            : pause >= .seconds(10) || (pause >= .seconds(1) && (progress.fraction ?? 0) >= shownFraction + 0.1)
        return isDue ? draw(progress, at: now) : nil
    }

    mutating func finish(at now: Instant) -> String? {
        guard let last else { return nil }
        let text = draw(last, at: now)
        (self.last, shown, samples) = (nil, nil, [])
        return isTerminal ? text + "\n" : text
    }

    private mutating func draw(_ progress: BatchProgress, at now: Instant) -> String {
        shown = now
        shownFraction = progress.fraction ?? 0
        let line = line(progress, at: now)
        guard isTerminal else { return line + "\n" }
        // A line that is as wide as the terminal would begin another.
        return "\r" + (line.count > 79 ? line.prefix(78) + "…" : line[...]) + "\u{1B}[K"
    }

    private func line(_ progress: BatchProgress, at now: Instant) -> String {
        var parts: [String] = []
        if let total = progress.total {
            parts.append("\(progress.completed.grouped) of \(total.grouped)")
        } else {
            parts.append(progress.completed.grouped)
        }
        if progress.failed > 0 { parts.append("\(progress.failed.grouped) failed") }
        if progress.cancelled > 0 { parts.append("\(progress.cancelled.grouped) cancelled") }
        if let rate = rate(progress, at: now) {
            parts.append(rate >= 10 ? "\(Int(rate.rounded()).grouped)/s" : "\((rate * 10).rounded() / 10)/s")
            if let total = progress.total, progress.completed < total, rate > 0 {
                parts.append("\(Self.words(for: Double(total - progress.completed) / rate)) left")
            }
        }
        let counts = parts.joined(separator: ", ")
        let head = label.isEmpty ? "" : "\(label) "
        guard isTerminal, let fraction = progress.fraction else { return head + counts }
        let full = Int(fraction * 16)
        return head + String(repeating: "█", count: full) + String(repeating: "░", count: 16 - full) + " " + counts
    }

    /// Items in a second; nil as long as nothing can be said.
    private func rate(_ progress: BatchProgress, at now: Instant) -> Double? {
        guard let first = samples.first else { return nil }
        let seconds = first.instant.duration(to: now).inSeconds
        return seconds >= 0.2 && progress.completed > first.completed
            ? Double(progress.completed - first.completed) / seconds : nil
    }

    private static func words(for seconds: Double) -> String {
        let whole = Int(min(seconds.rounded(.up), 1e9))
        if whole < 60 { return "\(whole) s" }
        return whole < 3_600 ? "\(whole / 60) min \(whole % 60) s" : "\(whole / 3_600) h \(whole % 3_600 / 60) min"
    }
}
