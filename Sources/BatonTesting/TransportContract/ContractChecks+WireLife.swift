internal import Baton
internal import Foundation

/// Connections, threads and descriptors.
extension ContractCheck {
    static let wireLife = [
        ContractCheck(onTheWire: "Connections are kept for the next exchange") { bench, server in
            server.on(.get, "/k", .text("x"))
            server.on(.post, "/k", .text("x"))
            for round in 0..<20 {
                let isPost = round % 2 == 1
                let record = try await bench.exchange(isPost ? .post : .get, "/k", body: isPost ? .text("b") : .none)
                bench.expectWhole(record, "exchange \(round)")
            }
            let count = server.activity.connections
            bench.expect(count == 1, "20 exchanges, one after the other, took \(count) connections")
        },
        ContractCheck(onTheWire: "Exchanges at the same time share connections as they come free") { bench, server in
            server.on(.get, "/k", .text("x"))
            for _ in 0..<10 {
                let started = try (0..<10).map { _ in try bench.start(.get, "/k") }
                for item in started { bench.expectWhole(await item.0.ended(), "an exchange") }
            }
            let count = server.activity.connections
            bench.expect(count < 100, "100 exchanges took \(count) connections")
        },
        ContractCheck(onTheWire: "Shutting down closes every connection") { bench, server in
            server.on(.get, "/k", .text("x"))
            server.on(.get, "/c", .stall)
            for _ in 0..<3 { _ = try await bench.exchange(.get, "/k") }
            let open = try (0..<3).map { _ in try bench.start(.get, "/c") }
            await server.waitForRequests(6)
            bench.transport.shutdown()
            await server.wait { $0.openConnections == 0 }
            for item in open { await item.0.ended() }
        },
        ContractCheck(onTheWire: "A transport that was shut down leaves no thread and no descriptor") { bench, server in
            server.on(.get, "/k", .text("x"))
            let (rounds, context) = (24, AttemptContext(run: 0, call: 0, attempt: 0, scheduler: LiveScheduler.shared))
            var left: [String] = []
            // What others in the process have comes and goes; what a transport leaves behind, it leaves each time.
            for _ in 0..<3 {
                guard let before = ProcessCensus() else { return }
                for _ in 0..<rounds {
                    let (transport, ownServer) = try bench.makeBench()
                    _ = try await transport.exchange(.get, server.baseURL + "/k")
                    transport.shutdown()
                    ownServer.stop()
                }
                for _ in 0..<50 {
                    left = ProcessCensus()?.growth(since: before, atLeast: rounds / 2) ?? []
                    if left.isEmpty { return }
                    try await context.sleep(for: .milliseconds(20))
                }
            }
            bench.report("\(rounds) transports left behind \(left.joined(separator: " and "))")
        },
    ]
}
