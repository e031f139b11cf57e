/// What a plan consists of, as a flat list in the order of reading, without running any of it.
///
/// It is made in a loop, so neither the length nor the depth of a plan grows the stack, and it is cut where nobody
/// would read on.
struct PlanOutline {
    struct Entry {
        var depth: Int
        /// The number of a chain's step, as errors name it.
        var number: Int?
        var label: String
        var shape: Shape
    }

    enum Shape {
        /// Parts in order.
        case chain
        /// Parts beside each other.
        case group
        /// One part, of which the label says something.
        case frame
        /// Something with no parts.
        case leaf
        case request
        case omitted
    }

    /// What stands at a place: a node, or words about it.
    enum Part {
        case node(_PlanNode, number: Int?)
        case words(String, number: Int?)
        case omitted(String)
    }

    /// A label and what is within.
    struct Described {
        var label: String
        var shape: Shape
        var parts: [Part] = []
    }

    /// How many parts of one thing are shown, how deep, and how many lines in all.
    static let maxParts = 24
    static let maxDepth = 24
    static let maxEntries = 1_000
    /// How many of those that are left out may still be counted.
    private var budget = 20_000

    private(set) var entries: [Entry] = []
    /// Shared parts that are shown already.
    var shared: Set<ObjectIdentifier> = []

    init(_ node: _PlanNode) {
        var stack: [(Part, depth: Int)] = [(.node(node, number: nil), 0)]
        while let (part, depth) = stack.popLast() {
            if entries.count >= Self.maxEntries {
                add(0, nil, "… and more", .omitted)
                return
            }
            switch part {
            case .omitted(let text): add(depth, nil, text, .omitted)
            case .words(let text, let number): add(depth, number, text, .leaf)
            case .node(let node, let number):
                let described = describe(node)
                add(depth, number, described.label, described.shape)
                if described.parts.isEmpty { continue }
                if depth + 1 < Self.maxDepth {
                    for part in described.parts.reversed() { stack.append((part, depth + 1)) }
                } else {
                    add(depth + 1, nil, omission(described.parts), .omitted)
                }
            }
        }
    }

    private mutating func add(_ depth: Int, _ number: Int?, _ label: String, _ shape: Shape) {
        entries.append(Entry(depth: depth, number: number, label: label, shape: shape))
    }

    /// How many nodes stand below, as far as they may be counted.
    private mutating func omission(_ parts: [Part]) -> String {
        var stack = parts
        var count = 0
        while budget > 0, let part = stack.popLast() {
            count += 1
            budget -= 1
            if case .node(let node, _) = part { stack += describe(node).parts }
        }
        return stack.isEmpty ? "… \(count.grouped) more within" : "… more within"
    }

    /// The parts with those in the middle left out where there are too many.
    static func cut(_ count: Int, _ noun: String, _ part: (Int) -> Part) -> [Part] {
        guard count > maxParts else { return (0..<count).map(part) }
        let tail = 4
        let head = maxParts - tail
        return (0..<head).map(part) + [.omitted("… \((count - head - tail).grouped) more \(noun)")]
            + ((count - tail)..<count).map(part)
    }
}

extension PlanOutline {
    /// The entries as lines with branches.
    var text: String {
        // Whether more follows at a depth is known from behind.
        var follows: [Bool] = []
        var lines: [String] = []
        for entry in entries.reversed() {
            while follows.count <= entry.depth { follows.append(false) }
            var line = ""
            for level in 1..<max(1, entry.depth) { line += follows[level] ? "│  " : "   " }
            if entry.depth > 0 { line += follows[entry.depth] ? "├─ " : "└─ " }
            if let number = entry.number { line += "[\(number)] " }
            lines.append(line + entry.label)
            follows[entry.depth] = true
            for level in (entry.depth + 1)..<max(entry.depth + 1, follows.count) { follows[level] = false }
        }
        return lines.reversed().joined(separator: "\n")
    }
}

extension Int {
    /// With a comma before every three digits.
    var grouped: String {
        var text = ""
        for (index, digit) in String(magnitude).reversed().enumerated() {
            if index > 0, index % 3 == 0 { text = "," + text }
            text = "\(digit)" + text
        }
        return (self < 0 ? "-" : "") + text
    }
}
