/// How ``Plan/diagram(_:)`` draws a plan.
public enum DiagramFormat: Sendable, CaseIterable {
    /// An indented tree, for a terminal or a log.
    case text
    /// A flowchart for Mermaid, which many viewers of Markdown draw.
    case mermaid
    /// A graph for Graphviz.
    case dot
}

extension Plan {
    /// What the plan will do, as a tree of lines.
    ///
    /// ```swift
    /// print(SignIn(user: "ada", password: secret).then { session in GetProfile(token: session.token) }.description)
    /// // chain of 2 steps
    /// // ├─ [0] SignIn: POST /sign-in
    /// // └─ [1] then … → GetProfile
    /// ```
    /// Nothing is sent and no closure is called, so what a closure would return stands as `…`. The numbers of steps are
    /// those that errors name (`chain[1]`). Requests show their method and path, and nothing that could be a secret:
    /// no query, field, body or value. Long and deep plans are cut; the lines say by how much.
    public var description: String { diagram() }

    /// What the plan will do, drawn without running it; see ``description``.
    ///
    /// Plans of your own are asked for their `chain`, requests for their method and path.
    ///
    /// - Parameter format: default: a tree of lines.
    public func diagram(_ format: DiagramFormat = .text) -> String {
        let outline = PlanOutline(.plan(self))
        return switch format {
        case .text: outline.text
        case .mermaid: outline.mermaid
        case .dot: outline.dot
        }
    }
}

extension Chain: CustomStringConvertible {}
extension Batch: CustomStringConvertible {}
extension Pages: CustomStringConvertible {}
extension Call: CustomStringConvertible {}
