import Foundation

/// Figures that are measured side by side; the first one is what the others are compared with.
struct Scene {
    let title: String
    var unit = "ns"
    let figures: [Figure]
}

/// One contestant.
struct Figure {
    let name: String
    /// One sample in the scene's unit; nil when the results were wrong.
    let sample: () async -> Double?

    /// The time of each of so many requests.
    init(_ name: String, _ count: Int, _ run: @escaping () async -> Bool) {
        self.name = name
        sample = {
            let start = ContinuousClock.now
            let isRight = await run()
            return isRight ? (ContinuousClock.now - start).nanoseconds / Double(count) : nil
        }
    }

    /// A value that is no time.
    init(value name: String, _ sample: @escaping () async -> Double?) {
        self.name = name
        self.sample = sample
    }
}

struct FigureResult {
    let name: String
    let samples: [Double]
}

struct SceneResult {
    let title: String
    let unit: String
    let figures: [FigureResult]

    func samples(_ name: String) -> [Double]? { figures.first { $0.name == name }?.samples }

    /// The medians of what each round says about `name`, as a ratio to the first figure.
    func ratio(_ figure: FigureResult) -> Double {
        zip(figure.samples, figures[0].samples).map { $0 / $1 }.median
    }

    var table: String {
        let rows = figures.map { figure in
            "  " + figure.name.padding(toLength: 30, withPad: " ", startingAt: 0)
                + String(
                    format: "%10.0f %@  (%.0f–%.0f)  × %.2f", figure.samples.median, unit,
                    figure.samples.min() ?? 0, figure.samples.max() ?? 0, ratio(figure))
        }
        return (["", title] + rows).joined(separator: "\n")
    }
}

/// The whole run for machines.
struct JSONReport: Encodable {
    struct Row: Encodable {
        let scene, figure, unit: String
        let median, low, high, ratio: Double
    }

    let figures: [Row]
    let goals: [Goal.Verdict]

    init(results: [SceneResult], goals: [Goal.Verdict]) {
        self.goals = goals
        figures = results.flatMap { scene in
            scene.figures.map { figure in
                Row(
                    scene: scene.title, figure: figure.name, unit: scene.unit, median: figure.samples.median,
                    low: figure.samples.min() ?? 0, high: figure.samples.max() ?? 0, ratio: scene.ratio(figure))
            }
        }
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
}

extension [Double] {
    var median: Double {
        let sorted = sorted()
        guard !isEmpty else { return 0 }
        return count % 2 == 1 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2
    }
}

extension Duration {
    var nanoseconds: Double { Double(components.seconds) * 1e9 + Double(components.attoseconds) / 1e9 }
}
