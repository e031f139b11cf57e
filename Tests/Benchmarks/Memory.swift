import Baton
import BenchmarkPeers
import Foundation

/// What things take up.
enum Memory {
    /// Reads a batch as a stream from a sequence that is never whole in memory.
    static func stream(_ count: Int, over transport: any Transport) async -> Bool {
        let client = Client(baseURL: "http://bench.example", transport: transport)
        var sum = 0
        do {
            for try await (_, outcome) in client.stream(Batch(Pings(count: count), maxConcurrency: 64)) {
                if outcome.value != nil { sum += 1 }
            }
        } catch {
            return false
        }
        return sum == count
    }

    /// What a batch takes up for items that it has not begun, beyond the slots of their results.
    static func perLazyItem() async -> Double? {
        let count = 1_000_000
        let client = Client(baseURL: "http://bench.example", transport: SilentTransport())
        let before = allocated_bytes()
        let run = client.start(Batch(Pings(count: count), maxConcurrency: 64))
        while client.counts.inFlight < 64 { await Task.yield() }
        let used = Double(allocated_bytes() - before)
        run.cancel()
        _ = try? await run.value
        return max(0, used) / Double(count)
    }

    /// What a request takes up that was given to `start` and waits for its slot, beyond the request itself.
    static func perQueuedSingle() async -> Double? {
        let count = 50_000
        let before = allocated_bytes()
        let requests = (0..<count).map { _ in Bare.request() }
        let own = Double(allocated_bytes() - before)
        return await perQueuedSingle(count).map { $0 - withExtendedLifetime(requests) { own / Double(count) } }
    }

    private static func perQueuedSingle(_ count: Int) async -> Double? {
        let client = Client(baseURL: "http://bench.example", transport: SilentTransport())
        let before = allocated_bytes()
        let runs = (0..<count).map { _ in client.start(Ping()) }
        while client.counts.waiting + client.counts.inFlight < count { await Task.yield() }
        let used = Double(allocated_bytes() - before)
        for run in runs { run.cancel() }
        for run in runs { _ = try? await run.value }
        return used / Double(count)
    }

    /// The resident memory after so many items were streamed, in a process that does nothing else.
    static func ofStreaming(_ count: Int) -> Double? {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["--stream", "\(count)"]
        let pipe = Pipe()
        process.standardOutput = pipe
        guard (try? process.run()) != nil else { return nil }
        return Double(
            String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                .trimmingCharacters(in: .whitespacesAndNewlines))
    }

    static var residentMegabytes: Double? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
            let pages = text.split(separator: " ").dropFirst().first.flatMap({ Double($0) })
        else { return 0 }
        return pages * 4_096 / 1_048_576
    }

    static var threads: Double? {
        Double((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.count ?? 0)
    }

    /// The CPU time that the process has used, in nanoseconds.
    static var cpuTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }
}

/// Requests that come into being as they are asked for.
struct Pings: Sequence, Sendable {
    let count: Int
    func makeIterator() -> AnyIterator<Ping> {
        var next = 0
        return AnyIterator {
            guard next < count else { return nil }
            next += 1
            return Ping()
        }
    }
}
