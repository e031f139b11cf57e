import Foundation

/// What a figure should be at most, or at least, beside another one of the same round.
struct Goal {
    let name: String
    let scene: String
    let value: @Sendable (SceneResult) -> Double?
    let bound: Bound
    /// What the figure was when it was last looked into, where that misses the goal; then it may not get much worse.
    var onRecord: Double?

    enum Bound {
        case atMost(Double)
        case atLeast(Double)
    }

    struct Verdict: Encodable {
        let name: String
        let value: Double
        let goal: String
        let isMet: Bool
        let isFarOff: Bool

        var line: String {
            "\(isMet ? "met   " : "missed") \(name): " + String(format: "%.2f", value) + " (goal: \(goal))"
        }
    }

    /// Nil where the scene was not run.
    func verdict(in results: [SceneResult]) -> Verdict? {
        guard let scene = results.first(where: { $0.title.hasPrefix(scene) }), let value = value(scene) else {
            return nil
        }
        switch bound {
        case .atMost(let limit):
            return Verdict(
                name: name, value: value, goal: "at most \(limit)", isMet: value <= limit,
                isFarOff: value > 2 * max(limit, onRecord ?? 0))
        case .atLeast(let limit):
            return Verdict(
                name: name, value: value, goal: "at least \(limit)", isMet: value >= limit,
                isFarOff: value < min(limit, onRecord ?? limit) / 2)
        }
    }

    /// The median over the rounds of one figure beside another.
    static func ratio(_ figure: String, to other: String) -> @Sendable (SceneResult) -> Double? {
        { scene in
            guard let above = scene.samples(figure), let below = scene.samples(other) else { return nil }
            return zip(above, below).map { $0 / $1 }.median
        }
    }

    /// The median over the rounds of what one figure adds to another, for each of so many.
    static func added(
        by figure: String, to other: String, each count: Double = 1, inUnitsOf unit: String? = nil
    ) -> @Sendable (SceneResult) -> Double? {
        { scene in
            guard let above = scene.samples(figure), let below = scene.samples(other) else { return nil }
            let units = unit.flatMap(scene.samples) ?? Array(repeating: 1, count: above.count)
            return zip(zip(above, below), units).map { ($0.0 - $0.1) / count / $1 }.median
        }
    }

    static func value(_ figure: String) -> @Sendable (SceneResult) -> Double? {
        { $0.samples(figure)?.median }
    }

    static let all = [
        Goal(
            name: "K = 64 over a queue beside the unlimited loop", scene: "queue:",
            value: ratio("baton", to: "loop"), bound: .atMost(0.85), onRecord: 4),
        Goal(
            name: "operation queue beside baton", scene: "queue:", value: ratio("operation queue", to: "baton"),
            bound: .atLeast(5), onRecord: 1),
        Goal(
            name: "task group beside baton", scene: "queue:", value: ratio("task group", to: "baton"),
            bound: .atLeast(2.5), onRecord: 0.7),
        Goal(
            name: "one by one, operation queue beside baton", scene: "one by one:",
            value: ratio("operation queue", to: "baton"), bound: .atLeast(25), onRecord: 6),
        Goal(
            name: "one by one, task group beside baton", scene: "one by one:",
            value: ratio("task group", to: "baton"), bound: .atLeast(25), onRecord: 6),
        Goal(
            name: "inline beside the unlimited loop", scene: "inline:", value: ratio("baton", to: "loop"),
            bound: .atMost(1.8), onRecord: 5),
        Goal(
            name: "an observer, ns an event", scene: "layers:",
            value: added(by: "inline, observer", to: "inline, nothing", each: 2), bound: .atMost(60), onRecord: 2_000),
        Goal(
            name: "a field-stamping interceptor, ns", scene: "layers:",
            value: added(by: "inline, adapter", to: "inline, nothing"), bound: .atMost(150), onRecord: 2_000),
        Goal(
            name: "an async interceptor in task groups' requests", scene: "layers:",
            value: added(by: "queue, async interceptor", to: "queue, nothing", inUnitsOf: "queue, task group"),
            bound: .atMost(1), onRecord: 3),
        Goal(
            name: "a then to an immediate plan beside awaited closures", scene: "steps:",
            value: ratio("then, immediate", to: "closures"), bound: .atMost(2.2), onRecord: 3.5),
        Goal(
            name: "continuations beside a chain over a queue", scene: "chain over a queue:",
            value: ratio("continuations", to: "chain"), bound: .atLeast(20), onRecord: 2),
        Goal(
            name: "twice the backlog beside once", scene: "backlog:",
            value: { scene in zip(scene.figures[1].samples, scene.figures[0].samples).map { $0 / $1 }.median },
            bound: .atMost(2.2)),
        Goal(
            name: "cancelling 100,000 items, µs", scene: "cancel:", value: value("until everybody knows"),
            bound: .atMost(1_000), onRecord: 1_500),
        Goal(
            name: "bytes per waiting item", scene: "memory:", value: value("bytes per waiting item of a lazy batch"),
            bound: .atMost(1)),
        Goal(
            name: "bytes per queued single request", scene: "memory:",
            value: value("bytes per queued single request"), bound: .atMost(640), onRecord: 2_050),
        Goal(
            name: "MB resident after streaming", scene: "memory:",
            value: value("MB resident after streaming"), bound: .atMost(60)),
        Goal(
            name: "libcurl loop beside baton over curl, C = 64", scene: "HTTP 64:",
            value: ratio("libcurl loop", to: "baton over curl"), bound: .atLeast(0.85), onRecord: 0.6),
        Goal(
            name: "URLSession beside baton over curl, C = 64", scene: "HTTP 64:",
            value: ratio("URLSession", to: "baton over curl"), bound: .atLeast(15), onRecord: 5),
        Goal(
            name: "processor time added to URLSession, ns", scene: "processor time:",
            value: added(by: "baton over URLSession", to: "URLSession"), bound: .atMost(5_000),
            // The difference of two figures that are a hundred times as large: what is on record is their noise.
            onRecord: 100_000),
    ]
}
