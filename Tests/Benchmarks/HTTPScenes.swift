import Baton
import BatonTesting
import BenchmarkPeers
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Real HTTP, against a server in the process or one that was named.
enum HTTPScenes {
    static func all(_ options: Options) -> [Scene] {
        guard let server = try? LoopbackServer(recording: .count) else { return [] }
        server.on(.get, "/ping", .status(200))
        let base = options.url ?? server.baseURL
        let count = options.isQuick ? 1_000 : 10_000
        return [1, 8, 64].map { limit in
            Scene(
                title: "HTTP \(limit): \(count) requests, \(limit) at a time",
                figures: [
                    Figure("libcurl loop", count) {
                        withExtendedLifetime(server) {}
                        return bareLoop(count, limit, base + "/ping")
                    },
                    Figure("baton over curl", count) {
                        await run(count, limit, base, DefaultTransports.curl)
                    },
                    Figure("baton over URLSession", count / 5) {
                        await run(count / 5, limit, base, URLSessionTransport())
                    },
                    Figure("URLSession", count / 5) { await session(count / 5, limit, base + "/ping") },
                ])
        } + [processorTime(options, base, server)]
    }

    /// The processor time that a request costs, because on a busy machine time alone says little.
    private static func processorTime(_ options: Options, _ base: String, _ server: LoopbackServer) -> Scene {
        let count = options.isQuick ? 500 : 2_000
        func cost(_ run: @escaping () async -> Bool) -> () async -> Double? {
            {
                withExtendedLifetime(server) {}
                let before = Memory.cpuTime
                return await run() ? (Memory.cpuTime - before) / Double(count) : nil
            }
        }
        return Scene(
            title: "processor time: \(count) requests, 8 at a time, the server's included",
            figures: [
                Figure(value: "URLSession", cost { await session(count, 8, base + "/ping") }),
                Figure(value: "baton over URLSession", cost { await run(count, 8, base, URLSessionTransport()) }),
                Figure(value: "baton over curl", cost { await run(count, 8, base, DefaultTransports.curl) }),
            ])
    }

    private static func run(_ count: Int, _ limit: Int, _ base: String, _ transport: any Transport) async -> Bool {
        let client = Client(baseURL: base, transport: transport)
        let report = try? await client.run(Batch(Array(repeating: Ping(), count: count), maxConcurrency: limit))
        transport.shutdown()
        return report?.counts.succeeded == count
    }

    /// libcurl as one uses it by itself, with the same request on the wire as the client's.
    private static func bareLoop(_ count: Int, _ limit: Int, _ url: String) -> Bool {
        var lines: [UnsafePointer<CChar>?] = Ping.fields.over(.standard).map { line in
            strdup("\(line.name.rawName): \(line.value)").map { UnsafePointer($0) }
        }
        defer { for line in lines { free(UnsafeMutablePointer(mutating: line)) } }
        lines.append(nil)
        return curl_loop_run(url, lines, Int32(count), Int32(limit)) == Int32(count)
    }

    /// URLSession as one uses it by itself: callbacks, and as many connections as requests at a time.
    private static func session(_ count: Int, _ limit: Int, _ text: String) async -> Bool {
        guard let url = URL(string: text) else { return false }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpMaximumConnectionsPerHost = limit
        let session = URLSession(configuration: configuration)
        let state = LockBox((sent: 0, done: 0, right: 0))
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            @Sendable func next() {
                let goesOn = state.withLock { state in
                    defer { state.sent += 1 }
                    return state.sent < count
                }
                guard goesOn else { return }
                session.dataTask(with: url) { _, response, _ in
                    let isLast = state.withLock { state in
                        state.done += 1
                        if (response as? HTTPURLResponse)?.statusCode == 200 { state.right += 1 }
                        return state.done == count
                    }
                    if isLast { continuation.resume() } else { next() }
                }.resume()
            }
            for _ in 0..<limit { next() }
        }
        session.invalidateAndCancel()
        return state.withLock { $0.right } == count
    }
}

/// The transport that the curl figures use; where there is none, URLSession's.
enum DefaultTransports {
    static var curl: any Transport {
        #if os(Linux)
            if let transport = try? CurlTransport() { return transport }
        #endif
        return URLSessionTransport()
    }
}
