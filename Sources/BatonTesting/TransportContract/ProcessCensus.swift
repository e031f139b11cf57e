internal import Foundation

/// How many threads and descriptors of each kind the process has, where the system says so.
struct ProcessCensus {
    private var counts: [String: Int] = [:]

    /// Nil where there is no `/proc`.
    init?() {
        let files = FileManager.default
        guard let threads = try? files.contentsOfDirectory(atPath: "/proc/self/task"),
            let descriptors = try? files.contentsOfDirectory(atPath: "/proc/self/fd")
        else { return nil }
        for thread in threads {
            guard let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8) else {
                continue
            }
            counts["threads called \(name.prefix { $0 != "\n" })", default: 0] += 1
        }
        for descriptor in descriptors {
            guard let target = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)") else {
                continue
            }
            counts["descriptors of kind \(target.prefix { $0 != "[" && $0 != "/" })", default: 0] += 1
        }
    }

    /// What has become so many more, with the number.
    func growth(since before: ProcessCensus, atLeast minimum: Int) -> [String] {
        counts.compactMap { kind, count in
            let growth = count - (before.counts[kind] ?? 0)
            return growth >= minimum ? "\(growth) \(kind)" : nil
        }.sorted()
    }
}
