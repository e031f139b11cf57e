/// Where a request stands in its plan. The path is put together when somebody reads it.
package struct PlanPlace: Sendable, Hashable {
    /// What stands around, up to the batch.
    package let outer: String
    /// The place in a batch or zip; -1 outside of them.
    private let index: Int32
    private let isGroup: Bool

    package init(_ outer: String = "") {
        self.outer = outer
        index = -1
        isGroup = false
    }

    package init(_ outer: String, index: Int, isGroup: Bool) {
        self.outer = outer
        self.index = Int32(clamping: index)
        self.isGroup = isGroup
    }

    package var path: String {
        guard index >= 0 else { return outer }
        let name = "\(isGroup ? "zip" : "batch")[\(index)]"
        return outer.isEmpty ? name : "\(outer).\(name)"
    }
}
