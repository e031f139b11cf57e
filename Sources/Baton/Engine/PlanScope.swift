/// What the plans around a step say about how it is run.
final class PlanScope: Sendable {
    let options: RequestOptions
    /// When it must be over.
    let deadline: Instant?
    /// Whether it undoes what a failed run did: it is sent although the run was cancelled.
    let isUndo: Bool

    init(options: RequestOptions, deadline: Instant?, isUndo: Bool) {
        self.options = options
        self.deadline = deadline
        self.isUndo = isUndo
    }

    /// The scope of a part with options of its own.
    static func nested(in outer: PlanScope?, _ options: RequestOptions, now: Instant) -> PlanScope {
        let own = options.deadline.map { now.advanced(by: $0) }
        let deadline = [own, outer?.deadline].compactMap { $0 }.min()
        return PlanScope(
            options: options.over(outer?.options), deadline: deadline, isUndo: outer?.isUndo ?? false)
    }
}
