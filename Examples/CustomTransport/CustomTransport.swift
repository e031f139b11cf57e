import Baton
import Foundation

/// Requests that are not HTTP: they go to a child process as lines of JSON, and its answers come back as lines.
@main
enum CustomTransport {
    static func main() async throws {
        if CommandLine.arguments.contains("--child") { return Child.serve() }

        let transport = try ChildProcessTransport(
            URL(fileURLWithPath: CommandLine.arguments[0]), arguments: ["--child"])
        defer { transport.shutdown() }
        let client = Client(baseURL: "http://child", transport: transport)

        // Everything above the transport is as over HTTP: typed outputs, chains, batches, limits, retries.
        let report = try await client.run(
            Call("/words", as: [String].self).then { words in
                Batch(words.map { Call("/length/\($0)", as: Int.self) }, maxConcurrency: 3)
            })
        print(report.successes.map(\.value))
        do throws(BatonError) {
            _ = try await client.run(Call("/nothing", as: Int.self))
        } catch {
            print(error)
            exit(report.allSucceeded && error.response?.status == 404 ? 0 : 1)
        }
        exit(1)
    }
}
