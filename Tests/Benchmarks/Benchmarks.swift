import Baton
import Foundation

/// Measures the library beside its peers: same work, same transport, one process, rounds in turn, medians.
@main
enum Benchmarks {
    struct Figure {
        let name: String
        let run: () async -> Bool
        let count: Int
    }

    static func main() async {
        let arguments = CommandLine.arguments
        let isQuick = arguments.contains("--quick")
        if let only = arguments.firstIndex(of: "--only"), only + 1 < arguments.count {
            return await runOnce(arguments[only + 1])
        }
        let rounds = isQuick ? 3 : 7
        let scale = isQuick ? 20_000 : 100_000
        print("\(rounds) rounds, medians in ns per request or step (range); ratio to the unlimited loop or closures")
        for (title, figures) in scenes(scale) { await compare(title, figures, rounds: rounds) }
    }

    static func compare(_ title: String, _ figures: [Figure], rounds: Int) async {
        var times = Array(repeating: [Double](), count: figures.count)
        for round in -1..<rounds {
            for (place, figure) in figures.enumerated() {
                let start = ContinuousClock.now
                let isRight = await figure.run()
                let time = (ContinuousClock.now - start).nanoseconds / Double(figure.count)
                guard isRight else {
                    print("\(figure.name): wrong results")
                    exit(1)
                }
                if round >= 0 { times[place].append(time) }
            }
        }
        print("\n\(title)")
        for (place, figure) in figures.enumerated() {
            let ratios = zip(times[place], times[0]).map { $0 / $1 }
            print(
                "  \(figure.name.padding(toLength: 28, withPad: " ", startingAt: 0))"
                    + String(
                        format: "%9.0f  (%.0f–%.0f)  × %.2f", times[place].median, times[place].min()!,
                        times[place].max()!, ratios.median))
        }
    }

    /// One figure once, for profilers.
    static func runOnce(_ name: String) async {
        for (_, figures) in scenes(100_000) {
            for figure in figures where figure.name == name { _ = await figure.run() }
        }
    }

    static func scenes(_ count: Int) -> [(String, [Figure])] {
        let inline = InlineTransport()
        let queued = QueueTransport()
        let steps = count
        return [
            (
                "batch of \(count), K = 64, inline transport",
                [
                    Figure(name: "loop-inline", run: { await Peers.loop(count, over: inline) }, count: count),
                    Figure(name: "baton-inline", run: { await batch(count, 64, inline) }, count: count),
                    Figure(
                        name: "task-group-inline", run: { await Peers.taskGroup(count, limit: 64, over: inline) },
                        count: count),
                    Figure(
                        name: "operations-inline",
                        run: { await Peers.operationQueue(count / 10, limit: 64, over: inline) }, count: count / 10),
                ]
            ),
            (
                "batch of \(count), K = 64, transport on a queue",
                [
                    Figure(name: "loop-queued", run: { await Peers.loop(count, over: queued) }, count: count),
                    Figure(name: "baton-queued", run: { await batch(count, 64, queued) }, count: count),
                    Figure(
                        name: "task-group-queued", run: { await Peers.taskGroup(count, limit: 64, over: queued) },
                        count: count),
                    Figure(
                        name: "operations-queued",
                        run: { await Peers.operationQueue(count / 10, limit: 64, over: queued) }, count: count / 10),
                ]
            ),
            (
                "batch of \(count), K = 1, transport on a queue",
                [
                    Figure(name: "loop-queued-1", run: { await Peers.loop(count, over: queued) }, count: count),
                    Figure(name: "baton-queued-1", run: { await batch(count, 1, queued) }, count: count),
                    Figure(
                        name: "task-group-queued-1",
                        run: { await Peers.taskGroup(count / 20, limit: 1, over: queued) }, count: count / 20),
                    Figure(
                        name: "operations-queued-1",
                        run: { await Peers.operationQueue(count / 20, limit: 1, over: queued) }, count: count / 20),
                ]
            ),
            (
                "chain of \(steps) steps",
                [
                    Figure(name: "closures", run: { await Chains.closures(steps) }, count: steps),
                    Figure(name: "chain-immediate", run: { await Chains.immediate(steps) }, count: steps),
                    Figure(name: "chain-map", run: { await Chains.map(steps) }, count: steps),
                    Figure(name: "chain-inline", run: { await Chains.requests(steps, inline) }, count: steps),
                    Figure(
                        name: "chain-queued", run: { await Chains.requests(steps / 10, queued) }, count: steps / 10),
                    Figure(
                        name: "continuations-queued", run: { await Chains.continuations(steps / 10, queued) },
                        count: steps / 10),
                ]
            ),
        ]
    }

    static func batch(_ count: Int, _ limit: Int, _ transport: any Transport) async -> Bool {
        let client = Client(baseURL: "http://bench.example", transport: transport)
        let report = try? await client.run(
            Batch(Array(repeating: Ping(), count: count), maxConcurrency: limit))
        return report?.counts.succeeded == count
    }
}

extension [Double] {
    var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}

extension Duration {
    var nanoseconds: Double { Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9 }
}
