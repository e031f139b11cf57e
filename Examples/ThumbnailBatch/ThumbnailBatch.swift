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
        let killAfter = arguments.first { $0.hasPrefix("--kill-after=") }.flatMap { Int($0.dropFirst(13)) }
        let album = try Album()
        defer { album.stop() }

        // A download gives a file its name when it is whole, so what has its name need not be asked for.
        @Sendable func file(_ number: Int) -> URL { folder.appendingPathComponent("\(number).jpg") }
        let missing = (1...count).filter { !FileManager.default.fileExists(atPath: file($0).path) }
        print("\(count - missing.count) of \(count) are there already")

        let client = Client(baseURL: album.baseURL) { $0.maxConcurrencyPerHost = 8 }
        let run = client.start(
            Batch(missing.map { GetThumbnail(number: $0).download(to: file($0)) }, maxConcurrency: 32))
        if let killAfter {
            // Ends the process without a goodbye, as if it were killed.
            Task { for await progress in run.progress where progress.batch?.completed ?? 0 >= killAfter { _exit(9) } }
        }
        await ConsoleProgress("thumbnails").follow(run)
        let report = try await run.value

        let resumed = report.successes.filter { $0.value.resumedFrom > 0 }
        print("\(report.successes.count) downloaded, \(report.failures.count) failed")
        print("\(resumed.count) broke off and went on in the middle")
        exit(report.allSucceeded ? 0 : 1)
    }
}

struct GetThumbnail: Request {
    typealias Output = Data
    let number: Int
    var path: String { "/thumbnails/\(number)" }
}
