internal import Foundation

/// Which threads and descriptors the process has, where the system says so.
struct ProcessCensus {
    /// Kind and identity of each.
    private var members: [String: Set<String>] = [:]

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
            members["threads called \(name.prefix { $0 != "\n" })", default: []].insert(thread)
        }
        for descriptor in descriptors {
            guard let target = try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)") else {
                continue
            }
            // Sockets and pipes have a number of their own; of others, only the descriptor's number tells them apart.
            let kind = target.prefix { $0 != "[" && $0 != "/" }
            let isNumbered = kind == "socket:" || kind == "pipe:"
            members["descriptors of kind \(kind)", default: []].insert(isNumbered ? target : descriptor)
        }
    }

    /// Of what there are so many that were not there before, with the number.
    func growth(since before: ProcessCensus, atLeast minimum: Int) -> [String] {
        members.compactMap { kind, members in
            let new = members.subtracting(before.members[kind] ?? []).count
            return new >= minimum ? "\(new) \(kind)" : nil
        }.sorted()
    }
}
