import Dispatch
import Foundation

/// Measures the library beside its peers: same work, same transport, one process, rounds in turn, medians.
@main
enum Benchmarks {
    /// The main thread waits, rather than serve the main queue: what Dispatch does with it then, valgrind does not survive.
    static func main() {
        let isDone = DispatchSemaphore(value: 0)
        Task.detached {
            await run()
            isDone.signal()
        }
        isDone.wait()
    }

    private static func run() async {
        let options: Options
        do {
            options = try Options(Array(CommandLine.arguments.dropFirst()))
        } catch {
            FileHandle.standardError.write(Data("baton-benchmarks: \(error)\n".utf8))
            exit(2)
        }
        if options.wantsHelp { return print(Options.help) }
        if let count = options.stream {
            let isRight = await Memory.stream(count, over: InlineTransport())
            return print(isRight ? Memory.residentMegabytes ?? 0 : -1)
        }
        if let name = options.only { return await runOnce(name, options) }

        var results: [SceneResult] = []
        for scene in Scenes.all(options) where options.filter.map(scene.title.contains) ?? true {
            let result = await measure(scene, rounds: options.rounds)
            if !options.json { print(result.table) }
            results.append(result)
        }
        let verdicts = Goal.all.compactMap { $0.verdict(in: results) }
        if options.json {
            print(JSONReport(results: results, goals: verdicts).text)
        } else if !verdicts.isEmpty {
            print("\nGoals (medians of the ratios or values of each round)")
            for verdict in verdicts { print("  " + verdict.line) }
        }
        let far = verdicts.filter(\.isFarOff)
        if !far.isEmpty {
            FileHandle.standardError.write(
                Data("baton-benchmarks: far off what is on record: \(far.map(\.name).joined(separator: "; "))\n".utf8))
            exit(1)
        }
    }

    /// Runs the figures of a scene in turn, once to warm up and then in rounds.
    static func measure(_ scene: Scene, rounds: Int) async -> SceneResult {
        var samples = Array(repeating: [Double](), count: scene.figures.count)
        for round in -1..<rounds {
            for (place, figure) in scene.figures.enumerated() {
                guard let value = await figure.sample() else {
                    print("\(scene.title): \(figure.name): wrong results")
                    exit(1)
                }
                if round >= 0 { samples[place].append(value) }
            }
        }
        return SceneResult(
            title: scene.title, unit: scene.unit,
            figures: zip(scene.figures, samples).map { FigureResult(name: $0.name, samples: $1) })
    }

    /// One figure once, for profilers.
    static func runOnce(_ name: String, _ options: Options) async {
        for scene in Scenes.all(options) where options.filter.map(scene.title.contains) ?? true {
            for figure in scene.figures where figure.name == name { _ = await figure.sample() }
        }
    }
}

/// What was asked for on the command line.
struct Options {
    var isQuick = false
    var json = false
    var wantsHelp = false
    var filter: String?
    var only: String?
    var url: String?
    /// Only streams so many items and prints the resident memory in MB; used for a process of its own.
    var stream: Int?

    var rounds: Int { isQuick ? 3 : 7 }
    /// How many requests a scene sends.
    var scale: Int { isQuick ? 20_000 : 100_000 }

    static let help = """
        Usage: baton-benchmarks [--quick] [--json] [--filter TEXT] [--only FIGURE] [--url URL]

          --quick        fewer requests and rounds: shows that it works; for comparing, leave it out
          --json         one JSON object in place of tables
          --filter TEXT  only scenes whose title contains the text
          --only FIGURE  one figure, once, for profilers
          --url URL      the HTTP scenes use this server in place of one in the process
        """

    init(_ arguments: [String]) throws(Fault) {
        var rest = arguments[...]
        while let option = rest.popFirst() {
            switch option {
            case "--quick": isQuick = true
            case "--json": json = true
            case "--help": wantsHelp = true
            case "--filter": filter = try Self.value(of: option, &rest)
            case "--only": only = try Self.value(of: option, &rest)
            case "--stream": stream = Int(try Self.value(of: option, &rest))
            case "--url": url = try Self.value(of: option, &rest)
            default: throw Fault(description: "unknown option \(option); --help lists them")
            }
        }
    }

    private static func value(of option: String, _ rest: inout ArraySlice<String>) throws(Fault) -> String {
        guard let value = rest.popFirst() else { throw Fault(description: "\(option) needs a value") }
        return value
    }

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }
}
