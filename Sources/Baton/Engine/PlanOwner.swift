/// What a plan that runs reports to: the run, a chain or a batch.
protocol PlanOwner: AnyObject, Sendable {
    /// The plan is over. Called once, with no lock held; it only takes note and posts.
    func planEnded(_ result: Result<any Sendable, BatonError>, lane: Int)
    /// Where the plan in that lane stands: the name of the place, and what that in turn stands in.
    func place(of lane: Int) -> (name: String, owner: (any PlanOwner)?, lane: Int)
    /// Whose place is free while the plan in that lane waits.
    func lender(of lane: Int) -> Lender
    /// What the plan in that lane has done can be undone: whoever fails later has it undone. Called before the plan's
    /// end is told.
    func keep(_ undos: [ChainJob.Undo], lane: Int)
}

extension PlanOwner {
    func lender(of lane: Int) -> Lender { .none }
    func keep(_ undos: [ChainJob.Undo], lane: Int) {}
}

extension PlanOwner {
    /// The place of a lane in the whole plan, outermost first, such as `chain[2].batch[17]`.
    func path(of lane: Int) -> String {
        var names: [String] = []
        var (owner, lane): ((any PlanOwner)?, Int) = (self, lane)
        while let current = owner {
            let place = current.place(of: lane)
            if !place.name.isEmpty { names.append(place.name) }
            // Beyond that nobody reads on, and plans may be nested ten thousand deep.
            if names.count == 32 {
                names.append("…")
                break
            }
            (owner, lane) = (place.owner, place.lane)
        }
        return names.reversed().joined(separator: ".")
    }
}

/// What a call reports to: a chain, a batch, or an interceptor that waits.
protocol CallOwner: AnyObject, Sendable {
    /// The call is over. Called once for each start, with no lock held.
    func callEnded(_ call: CallJob, _ result: Result<HTTPResponse, BatonError>, _ end: CallEnd)
    /// Where the call stands in the plan.
    func callPath(lane: Int) -> String
    /// The same as events carry it.
    func callPlace(lane: Int) -> PlanPlace
    /// Whose place is free while the call waits.
    func lender(of lane: Int) -> Lender
}

/// What a call tells at its end beside the result: what its owner gave it, so that the owner need not look it up, and
/// what came of it.
struct CallEnd {
    var lane: Int
    /// The batch's item; of no meaning to other owners.
    var item: BatchJob.Item
    var output: any Response.Type
    var attempts: Int
}

extension CallOwner {
    func callPlace(lane: Int) -> PlanPlace { PlanPlace(callPath(lane: lane)) }
    func lender(of lane: Int) -> Lender { .none }
}

/// The signals that jobs know.
extension Signal {
    static let start = Signal(kind: 1)
    static let cancel = Signal(kind: 2)
    static let resume = Signal(kind: 3)
}
