/// The outline as a graph: parts stand in the box of what they are parts of, and arrows go from a chain's step to the
/// next.
extension PlanOutline {
    private struct Box {
        var entry: Entry
        var children: [Int] = []
        var parent: Int?
    }

    /// The entries with their parts, by index.
    private var boxes: [Box] {
        var boxes: [Box] = []
        var open: [Int] = []
        for (index, entry) in entries.enumerated() {
            open.removeLast(max(0, open.count - entry.depth))
            boxes.append(Box(entry: entry, parent: open.last))
            if let parent = open.last { boxes[parent].children.append(index) }
            open.append(index)
        }
        return boxes
    }

    /// Writes the boxes one within the other: `begin` and `end` for those with parts, `leaf` for the others.
    private static func write(
        _ boxes: [Box], begin: (Int, String) -> String, end: (String) -> String, leaf: (Int, String) -> String
    ) -> [String] {
        var lines: [String] = []
        var open: [Int] = []
        for (index, box) in boxes.enumerated() {
            while open.count > box.entry.depth {
                open.removeLast()
                lines.append(end(indent(open.count + 1)))
            }
            if box.children.isEmpty {
                lines.append(leaf(index, indent(open.count + 1)))
            } else {
                lines.append(begin(index, indent(open.count + 1)))
                open.append(index)
            }
        }
        while open.popLast() != nil { lines.append(end(indent(open.count + 1))) }
        return lines
    }

    private static func indent(_ depth: Int) -> String { String(repeating: "    ", count: depth) }

    /// From each step of a chain to the next.
    private static func arrows(_ boxes: [Box]) -> [(from: Int, to: Int)] {
        boxes.filter { $0.entry.shape == .chain }.flatMap { box in
            zip(box.children, box.children.dropFirst()).map { (from: $0, to: $1) }
        }
    }

    private static func title(_ box: Box) -> String {
        (box.entry.number.map { "[\($0)] " } ?? "") + box.entry.label
    }

    // MARK: Mermaid

    var mermaid: String {
        let boxes = boxes
        func text(_ index: Int) -> String {
            var clean = ""
            // What Mermaid would read as markup is written as an entity.
            for scalar in Self.title(boxes[index]).unicodeScalars {
                let isPlain = scalar.properties.isAlphabetic || "0123456789 ,.:/-_→…×".unicodeScalars.contains(scalar)
                if isPlain { clean.unicodeScalars.append(scalar) } else { clean += "#\(scalar.value);" }
            }
            return "\"\(clean)\""
        }
        let lines = Self.write(
            boxes,
            begin: { "\($1)subgraph n\($0)[\(text($0))]" }, end: { "\($0)end" },
            leaf: { index, indent in
                switch boxes[index].entry.shape {
                case .request: "\(indent)n\(index)([\(text(index))])"
                default: "\(indent)n\(index)[\(text(index))]"
                }
            })
        let arrows = Self.arrows(boxes).map { "    n\($0.from) --> n\($0.to)" }
        return (["flowchart TB"] + lines + arrows).joined(separator: "\n")
    }

    // MARK: Graphviz

    var dot: String {
        let boxes = boxes
        func text(_ index: Int) -> String {
            var clean = ""
            for character in Self.title(boxes[index]) {
                if character == "\"" || character == "\\" { clean.append("\\") }
                clean.append(character.isNewline ? " " : character)
            }
            return "\"\(clean)\""
        }
        func first(_ index: Int) -> Int {
            var index = index
            while let child = boxes[index].children.first { index = child }
            return index
        }
        let lines = Self.write(
            boxes,
            begin: { "\($1)subgraph cluster\($0) { label=\(text($0))" }, end: { "\($0)}" },
            leaf: { index, indent in
                let style =
                    switch boxes[index].entry.shape {
                    case .request: ", style=rounded"
                    case .omitted: ", shape=plain"
                    default: ""
                    }
                return "\(indent)n\(index) [label=\(text(index))\(style)]"
            })
        let arrows = Self.arrows(boxes).map { arrow in
            // An arrow that ends at a box goes to what stands first in it, and is cut at the box.
            var ends: [String] = []
            if !boxes[arrow.from].children.isEmpty { ends.append("ltail=cluster\(arrow.from)") }
            if !boxes[arrow.to].children.isEmpty { ends.append("lhead=cluster\(arrow.to)") }
            let style = ends.isEmpty ? "" : " [\(ends.joined(separator: ", "))]"
            return "    n\(first(arrow.from)) -> n\(first(arrow.to))\(style)"
        }
        let head = [
            "digraph plan {", "    compound=true; node [shape=box, fontname=\"sans-serif\"]; fontname=\"sans-serif\"",
        ]
        return (head + lines + arrows + ["}"]).joined(separator: "\n")
    }
}
