import Baton
import BatonTesting
import Foundation

/// Downloads 500 thumbnails into a folder. Ended in the middle, it goes on where it was.
@main
enum ThumbnailBatch {
    static let count = 500

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        let folder = URL(fileURLWithPath: arguments.first { !$0.hasPrefix("-") } ?? "thumbnails", isDirectory: true)
        // Ends the process, as if it were killed, after so many.
        let killAfter = arguments.first { $0.hasPrefix("--kill-after=") }.flatMap { Int($0.dropFirst(13)) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

        let server = try LoopbackServer(recording: .count)
        defer { server.stop() }
        server.on(.get, "/thumbnails/*") { request in
            .data(Data(repeating: UInt8(request.path.utf8.count), count: 2_000)).delayed(by: .milliseconds(10))
        }

        let there = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
        let missing = (1...count).filter { !there.contains("\($0).jpg") }
        print("\(count - missing.count) of \(count) are there already")

        let client = Client(baseURL: server.baseURL) { $0.maxConcurrencyPerHost = 8 }
        let plans = missing.map { number in
            Call("/thumbnails/\(number)", as: Data.self).map { data in
                // Written beside and then moved: a file that is there is whole.
                try data.write(to: folder.appendingPathComponent("\(number).jpg"), options: .atomic)
            }
        }
        let run = client.start(
            Batch(plans, maxConcurrency: 32).onEach { index, _ in
                if let killAfter, index >= killAfter { _exit(9) }
            })
        await ConsoleProgress("thumbnails").follow(run)
        let report = try await run.value
        print("\(report.successes.count) downloaded, \(report.failures.count) failed")
        exit(report.allSucceeded ? 0 : 1)
    }
}
