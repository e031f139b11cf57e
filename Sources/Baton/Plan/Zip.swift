/// Runs independent plans at the same time and yields all of their outputs.
///
/// ```swift
/// zip(GetProfile(t), GetCart(t), GetNews())     // Chain<(Profile, Cart, News)>
/// ```
/// The first failure is the failure of the whole, and cancels the rest. To wait for all of them whatever they do, give
/// it plans that are `collected()`. With no plan it yields an empty tuple at once.
public func zip<each P: Plan>(_ plan: repeat each P) -> Chain<(repeat (each P).Output)> {
    var nodes: [_PlanNode] = []
    repeat nodes.append(.plan(each plan))
    let parts = nodes
    let group = Chain<Report<any Sendable>>(node: _PlanNode(content: .batch(.group(parts))))
    return group.map { report in
        var index = 0
        func next<Output: Sendable>(_ type: Output.Type) throws -> Output {
            defer { index += 1 }
            guard let value = report[index].value, let output = Erased.value(value, as: Output.self) else {
                throw BatonError(.deriveFailed, "part \(index) yielded no \(Output.self)")
            }
            return output
        }
        return (repeat try next((each P).Output.self))
    }
}

extension BatchDescription {
    /// A batch of unlike plans: all at once, and the first failure is the failure of the whole.
    static func group(_ nodes: [_PlanNode]) -> BatchDescription {
        var group = BatchDescription(
            maxConcurrency: max(1, nodes.count),
            preview: .init(item: Any.self, count: nodes.count) { Array(nodes.prefix($0)) },
            makeInput: .init { NodesInput(nodes) },
            makeResults: { BatchResults<any Sendable>(start: $0) })
        group.policy = .failFast
        group.isGroup = true
        return group
    }
}

/// Plans whose nodes are there already.
private final class NodesInput: BatchInput {
    private let nodes: [_PlanNode]

    init(_ nodes: [_PlanNode]) {
        self.nodes = nodes
    }

    var count: Int? { nodes.count }
    var runsUserCode: Bool { false }

    func next(_ index: Int, in context: _PlanContext) throws(BatonError) -> _PlanNode? {
        index < nodes.count ? nodes[index] : nil
    }
}
