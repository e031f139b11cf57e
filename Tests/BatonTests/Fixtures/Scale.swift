import Foundation

/// How much a test does: less in everyday runs, all of it with BATON_FULL=1.
enum Scale {
    static let isFull = ProcessInfo.processInfo.environment["BATON_FULL"] == "1"

    static func count(_ full: Int, everyday: Int) -> Int { isFull ? full : everyday }
}

/// The threads of this process.
enum Threads {
    /// How many there are; nil where the system does not say.
    static var count: Int? {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.count
    }

    /// Runs `body` on a thread with a stack of 512 KB, such as Dispatch's on Apple systems.
    static func onSmallStack(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            let thread = Thread {
                body()
                continuation.resume()
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
    }
}
