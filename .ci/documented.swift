// Prints how many public symbols of each kind have a comment, and fails when one has none. What begins with an underscore
// is the library's own machinery; what fulfils a requirement or comes with a type of the system inherits its comment.
//
// Usage: documented <folder of symbol graphs> <module>…
import Foundation

struct Graph: Decodable {
    struct Symbol: Decodable {
        struct Kind: Decodable { let displayName: String }
        struct Identifier: Decodable { let precise: String }
        struct Comment: Decodable {}
        struct Location: Decodable {
            struct Position: Decodable { let line: Int }
            let uri: String
            let position: Position
        }
        let kind: Kind
        let identifier: Identifier
        let pathComponents: [String]
        let docComment: Comment?
        let location: Location?
    }
    struct Relationship: Decodable {
        struct Origin: Decodable {}
        let source: String
        let kind: String
        let sourceOrigin: Origin?
    }
    let symbols: [Symbol]
    let relationships: [Relationship]
}

let folder = URL(fileURLWithPath: CommandLine.arguments[1])
var counts: [String: (documented: Int, all: Int)] = [:]
var missing: [String] = []
for module in CommandLine.arguments.dropFirst(2) {
    let graph = try JSONDecoder().decode(
        Graph.self, from: Data(contentsOf: folder.appendingPathComponent("\(module).symbols.json")))
    let inherits = Set(
        graph.relationships.filter { relationship in
            relationship.sourceOrigin != nil
                || ["defaultImplementationOf", "overrides"].contains(relationship.kind)
        }.map(\.source))
    for symbol in graph.symbols where !symbol.pathComponents.contains(where: { $0.hasPrefix("_") }) {
        let isDocumented = symbol.docComment != nil || inherits.contains(symbol.identifier.precise)
        let row = "\(module) \(symbol.kind.displayName)"
        counts[row, default: (0, 0)].all += 1
        if isDocumented {
            counts[row, default: (0, 0)].documented += 1
        } else {
            let file = symbol.location?.uri.components(separatedBy: "/Sources/").last ?? "?"
            missing.append(
                "\(file):\((symbol.location?.position.line ?? 0) + 1): \(symbol.pathComponents.joined(separator: "."))")
        }
    }
}
for (row, count) in counts.sorted(by: { $0.key < $1.key }) {
    print("\(row.padding(toLength: 40, withPad: " ", startingAt: 0)) \(count.documented) of \(count.all) documented")
}
if !missing.isEmpty {
    let text = (["\(missing.count) public symbols have no comment:"] + missing.sorted()).joined(separator: "\n  ")
    FileHandle.standardError.write(Data((text + "\n").utf8))
    exit(1)
}
