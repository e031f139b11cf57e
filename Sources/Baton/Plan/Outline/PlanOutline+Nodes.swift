/// A plan of the library's own that says how it is shown.
protocol Outlined {
    /// Another node that stands for it, or a label with parts.
    var outline: OutlineForm { get }
}

enum OutlineForm {
    case node(_PlanNode)
    case described(String, [_PlanNode])
}

extension Chain: Outlined {
    var outline: OutlineForm { .node(node) }
}

extension Batch: Outlined {
    var outline: OutlineForm { .node(chain.node) }
}

extension Optional: Outlined where Wrapped: Plan {
    var outline: OutlineForm {
        switch self {
        case .some(let plan): .node(.plan(plan))
        case .none: .described("nothing to do", [])
        }
    }
}

extension RepeatedPlan: Outlined {
    var outline: OutlineForm {
        let limit = limit.map { ", at most \($0.grouped) times" } ?? ""
        return .described("repeated every \(interval.briefly)\(limit), until …", [.plan(plan)])
    }
}

/// Pages as the engine reads them; a plan of its own, so that they can be shown as what they are.
struct PagesWalk<P: Plan>: Plan, Outlined {
    let pages: Pages<P>

    var chain: Chain<[P.Output]> { pages.walk }

    var outline: OutlineForm {
        var label = "pages, next …"
        if pages.maxPages < .max { label += ", at most \(pages.maxPages.grouped)" }
        if let items = pages.maxItems { label += ", until \(items.grouped) items" }
        return .described(label, [.plan(pages.first)])
    }
}

extension Pages: Outlined {
    var outline: OutlineForm { .node(chain.node) }
}

extension PlanOutline {
    /// What a node is, and what is within. Nodes that only stand for others are looked through.
    mutating func describe(_ node: _PlanNode) -> Described {
        var node = node
        // A plan that stands for itself would be followed for ever.
        for _ in 0..<1_000 {
            switch node.content {
            case .value(let value): return Described(label: "value: \(Self.name(of: type(of: value)))", shape: .leaf)
            case .failure(let error): return Described(label: "failure: \(error.code)", shape: .leaf)
            case .call(let call): return Described(label: call.request.summary, shape: .request)
            case .plan(let plan):
                if let outlined = plan as? any Outlined {
                    switch outlined.outline {
                    case .node(let other): node = other
                    case .described(let label, let parts):
                        return Described(
                            label: label, shape: parts.isEmpty ? .leaf : .frame,
                            parts: parts.map { .node($0, number: nil) })
                    }
                } else {
                    return Self.describe(plan)
                }
            case .steps(let steps, let count):
                let steps = steps.snapshot
                guard count == 1, case .start(let only)? = steps.first else {
                    return Self.describe(steps.prefix(count))
                }
                node = only
            case .batch(let batch): return Self.describe(batch)
            case .scoped(let part):
                return Described(
                    label: Self.words(for: part.options), shape: .frame, parts: [.node(part.node, number: nil)])
            case .shared(let part):
                guard shared.insert(ObjectIdentifier(part)).inserted else {
                    return Described(label: "shared, as above", shape: .leaf)
                }
                return Described(label: "shared, run once", shape: .frame, parts: [.node(part.node, number: nil)])
            }
        }
        return Described(label: "…", shape: .omitted)
    }

    private static func describe(_ plan: any Plan) -> Described {
        let name = name(of: type(of: plan))
        if let request = plan as? any Request {
            let line = "\(request.method) \(place(request.path))"
            let isCall = name.hasPrefix("Call<")
            return Described(
                label: isCall ? "\(line) → \(name.dropFirst(5).dropLast())" : "\(name): \(line)", shape: .request)
        }
        return Described(label: name, shape: .frame, parts: [.node(node(of: plan), number: nil)])
    }

    private static func node<P: Plan>(of plan: P) -> _PlanNode { plan.chain.node }

    private static func describe(_ steps: ArraySlice<ChainStep>) -> Described {
        // A step has the number that errors give it: changes belong to the step before.
        var numbers: [Int] = []
        var number = 0
        for step in steps {
            switch step {
            case .then, .thenAsync: number += 1
            default: break
            }
            numbers.append(number)
        }
        let parts = cut(steps.count, "steps") { index -> Part in
            let number = numbers[index]
            return switch steps[index] {
            case .start(let node): .node(node, number: number)
            case .map(let map): .words("map … → \(name(of: map.output))", number: nil)
            case .then(let then): .words("then … → \(name(of: then.next))", number: number)
            case .thenAsync(let then): .words("then async … → \(name(of: then.next))", number: number)
            case .recover: .words("recover …", number: nil)
            case .undo(_, let deadline): .words("undo …, within \(deadline.briefly)", number: nil)
            case .wait(let wait): .words("wait \(wait.briefly)", number: nil)
            }
        }
        let count = number + 1
        return Described(
            label: "chain of \(count.grouped) \(count == 1 ? "step" : "steps")", shape: .chain, parts: parts)
    }

    private static func describe(_ batch: BatchDescription) -> Described {
        let count = batch.preview.count
        if batch.isGroup {
            let nodes = batch.preview.first?(count ?? 0) ?? []
            return Described(
                label: "zip of \(nodes.count.grouped)", shape: .group,
                parts: cut(nodes.count, "parts") { .node(nodes[$0], number: $0) })
        }
        var label = "batch of "
        if let count { label += "\(count.grouped) × " }
        label += "\(name(of: batch.preview.item)), at most \(batch.maxConcurrency.grouped) at once"
        if batch.reconnect != nil { label += ", reconnect …" }
        if batch.repeats > 0 { label += ", failed items again" }
        if batch.policy != .collectAll { label += ", \(batch.policy)" }
        if batch.isRedriven { label += ", what a report left undone" }
        var parts = (batch.preview.first?(3) ?? []).enumerated().map { Part.node($1, number: $0) }
        if let count, !parts.isEmpty, count > parts.count {
            parts.append(.omitted("… \((count - parts.count).grouped) more items"))
        }
        return Described(label: label, shape: .group, parts: parts)
    }

    // MARK: Words

    private static func words(for options: RequestOptions) -> String {
        var words: [String] = []
        if let timeout = options.timeout { words.append("timeout \(timeout.briefly)") }
        if let deadline = options.deadline { words.append("deadline \(deadline.briefly)") }
        if let retry = options.retry {
            words.append(retry.attempts == 1 ? "no retries" : "retry, \(retry.attempts.grouped) attempts")
        }
        if let priority = options.priority { words.append("priority \(priority)") }
        if let tag = options.tag { words.append("tag \"\(tag)\"") }
        if options.hedging != nil { words.append("hedging") }
        if options.coalescing != nil { words.append("coalescing") }
        if options.interceptors != nil { words.append("interceptors of its own") }
        if let place = options.presentation?.place { words.append("shown in \(place)") }
        return words.isEmpty ? "options" : words.joined(separator: ", ")
    }

    /// A path without what could be a secret: no query, no fragment, no user.
    private static func place(_ path: String) -> String {
        let path = path.prefix { $0 != "?" && $0 != "#" }
        guard let mark = path.firstRange(of: "://") else { return String(path) }
        let authority = path[mark.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else { return String(path) }
        return String(path[..<mark.upperBound] + path[path.index(after: at)...])
    }

    private static func name(of type: Any.Type) -> String {
        let name = String(describing: type)
        return name.count > 60 ? "\(name.prefix(59))…" : name
    }
}

extension Duration {
    /// In the unit that fits, such as `2 s` or `1.5 ms`.
    var briefly: String {
        let seconds = inSeconds
        let (value, unit) =
            abs(seconds) >= 1 || seconds == 0
            ? (seconds, "s") : abs(seconds) >= 1e-3 ? (seconds * 1e3, "ms") : (seconds * 1e6, "µs")
        let hundredths = (value * 100).rounded() / 100
        return hundredths == hundredths.rounded() && abs(hundredths) < 1e15
            ? "\(Int(hundredths)) \(unit)" : "\(hundredths) \(unit)"
    }
}
